//! A thumbnail that is made when it is first asked for.

use std::sync::RwLock;

use crate::work::compute;

const SCALE_ROUNDS: u32 = 300;

pub struct Thumbnail {
    /// Zero until made.
    pixels: RwLock<u32>,
}

impl Thumbnail {
    pub fn new() -> Thumbnail {
        Thumbnail { pixels: RwLock::new(0) }
    }

    /// Its pixels, and whether this call made them.
    #[cfg(not(fixed))]
    pub fn get(&self, picture: u32) -> (u32, bool) {
        match self.look() {
            0 => (self.make(picture), true),
            pixels => (pixels, false),
        }
    }

    /// Its pixels, and whether this call made them.
    #[cfg(fixed)]
    pub fn get(&self, picture: u32) -> (u32, bool) {
        match self.look() {
            0 => self.make_if_missing(picture),
            pixels => (pixels, false),
        }
    }

    #[inline(never)]
    fn look(&self) -> u32 {
        let pixels = self.pixels.read().unwrap();
        *pixels // truth:A1
    }

    #[cfg(not(fixed))]
    #[inline(never)]
    fn make(&self, picture: u32) -> u32 {
        let made = compute(picture, SCALE_ROUNDS);
        let mut pixels = self.pixels.write().unwrap();
        *pixels = made; // truth:A2
        made
    }

    #[cfg(fixed)]
    #[inline(never)]
    fn make_if_missing(&self, picture: u32) -> (u32, bool) {
        let made = compute(picture, SCALE_ROUNDS);
        let mut pixels = self.pixels.write().unwrap();
        if *pixels != 0 {
            return (*pixels, false);
        }
        *pixels = made;
        (made, true)
    }
}

//! Two viewers page through an album, one from its beginning and one from its end, and pay for every thumbnail that is
//! made for them. The read lock under which a thumbnail was missing is gone before the write lock is taken, so both
//! viewers can make the same one.

#[path = "../../../background.rs"]
mod background;
mod thumbnail;
#[path = "../../../work.rs"]
mod work;

use std::process::ExitCode;
use std::thread;

use thumbnail::Thumbnail;
use work::compute;

const PICTURES: u32 = 128;
const DRAW_ROUNDS: u32 = 5000;

/// What a viewer has seen.
#[derive(Default)]
struct Viewer {
    screen: u32,
    made: u32,
}

impl Viewer {
    fn show(&mut self, thumbnail: &Thumbnail, picture: u32) {
        let (pixels, made) = thumbnail.get(picture);
        self.made += u32::from(made);
        self.screen ^= compute(pixels, DRAW_ROUNDS);
    }
}

fn view<'a>(album: impl Iterator<Item = (&'a Thumbnail, u32)>) -> Viewer {
    let mut viewer = Viewer::default();
    for (thumbnail, picture) in album {
        background::step(picture);
        viewer.show(thumbnail, picture);
    }
    viewer
}

fn main() -> ExitCode {
    let album: Vec<Thumbnail> = (0..PICTURES).map(|_| Thumbnail::new()).collect();
    let (first, second) = thread::scope(|scope| {
        let first = scope.spawn(|| view(album.iter().zip(0..)));
        let second = scope.spawn(|| view(album.iter().rev().zip((0..PICTURES).rev())));
        (first.join().unwrap(), second.join().unwrap())
    });
    let made = first.made + second.made;
    println!("{made} made for {PICTURES} pictures, screens {:08x}", first.screen ^ second.screen);
    if made == PICTURES { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

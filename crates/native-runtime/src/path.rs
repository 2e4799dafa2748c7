//! Paths and other text in fixed buffers, without the target's heap.

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char};
use core::fmt;

const PATH_BYTES: usize = libc::PATH_MAX as usize;

/// A path that is set once, at start, since the target may change its environment and where it works.
pub struct PathBuffer(UnsafeCell<[u8; PATH_BYTES]>);

// SAFETY: written once before any other thread can read it.
unsafe impl Sync for PathBuffer {}

impl PathBuffer {
    pub const fn new() -> PathBuffer {
        PathBuffer(UnsafeCell::new([0; PATH_BYTES]))
    }

    /// False, with `errno`, if there is no such path.
    pub unsafe fn set(&self, path: &CStr) -> bool {
        !libc::realpath(path.as_ptr(), self.0.get().cast()).is_null()
    }

    /// Empty until it is set.
    pub unsafe fn get(&self) -> &'static str {
        let path = CStr::from_ptr((*self.0.get()).as_ptr().cast());
        core::str::from_utf8_unchecked(path.to_bytes())
    }
}

/// Text in a fixed buffer; what does not fit is left out.
pub struct Text {
    bytes: [u8; PATH_BYTES],
    length: usize,
}

impl Text {
    pub fn new() -> Text {
        Text { bytes: [0; PATH_BYTES], length: 0 }
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    pub fn as_c_string(&self) -> *const c_char {
        self.bytes.as_ptr().cast()
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for &byte in text.as_bytes() {
            // The last byte stays zero, so that the text can be passed to C.
            if self.length < self.bytes.len() - 1 {
                self.bytes[self.length] = byte;
                self.length += 1;
            }
        }
        Ok(())
    }
}

/// A constant text with the zero that C wants at its end.
macro_rules! concat_zero {
    ($name:ident) => {{
        const BYTES: [u8; $name.len() + 1] = {
            let mut bytes = [0; $name.len() + 1];
            let mut at = 0;
            while at < $name.len() {
                bytes[at] = $name.as_bytes()[at];
                at += 1;
            }
            bytes
        };
        BYTES
    }};
}
pub(crate) use concat_zero;

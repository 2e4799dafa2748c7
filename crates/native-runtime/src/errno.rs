//! The target's `errno`: it may look at it after any of our hooks.

/// Puts `errno` back when dropped.
pub struct Kept(i32);

pub fn keep() -> Kept {
    Kept(get())
}

pub fn get() -> i32 {
    // SAFETY: always valid.
    unsafe { *libc::__errno_location() }
}

pub fn set(value: i32) {
    // SAFETY: always valid.
    unsafe { *libc::__errno_location() = value };
}

impl Drop for Kept {
    fn drop(&mut self) {
        set(self.0);
    }
}

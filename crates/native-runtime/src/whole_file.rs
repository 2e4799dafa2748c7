//! Files that the runner wrote for the recorder, as a whole.

use core::ffi::c_char;

/// The bytes of a file, for good; none if it cannot be mapped.
pub unsafe fn map(path: *const c_char) -> Option<(*mut u8, usize)> {
    let file = libc::open(path, libc::O_RDONLY | libc::O_CLOEXEC);
    if file < 0 {
        return None;
    }
    let bytes = libc::lseek(file, 0, libc::SEEK_END).max(0) as usize;
    let content = libc::mmap(core::ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_PRIVATE, file, 0);
    libc::close(file);
    (content != libc::MAP_FAILED).then_some((content.cast(), bytes))
}

//! Where `longjmp` goes back to on the shadow call stack.

use crate::tls::{self, Frame};
use crate::{log, thread};

/// Jump buffers one thread remembers; the oldest is forgotten first.
const MARKS: usize = 16;

#[derive(Clone, Copy)]
struct Mark {
    buffer: usize,
    top: *mut Frame,
}

pub struct Marks {
    marks: [Mark; MARKS],
    oldest: usize,
}

/// `setjmp` is about to fill this buffer.
pub unsafe fn mark(buffer: usize) {
    let tls = tls::current();
    let Some(thread) = (*tls).thread.as_mut() else { return };
    let Marks { marks, oldest } = &mut thread.jumps;
    let place = marks.iter().position(|mark| mark.buffer == buffer).unwrap_or_else(|| {
        *oldest = (*oldest + 1) % MARKS;
        *oldest
    });
    marks[place] = Mark { buffer, top: (*tls).top };
}

/// `longjmp` is about to use this buffer.
pub unsafe fn jump(buffer: usize) {
    let tls = tls::current();
    let Some(thread) = (*tls).thread.as_mut() else { return };
    if thread::is_inside() {
        // Out of a signal handler that interrupted the recorder: its locks may stay held for ever.
        log::fault(recording::fault::INTERNAL, recording::fault::JUMPED_OUT);
    }
    let mark = thread.jumps.marks.iter().find(|mark| mark.buffer == buffer);
    if let Some(mark) = mark.filter(|mark| mark.top <= (*tls).top) {
        (*tls).top = mark.top;
        (*tls).frame = *mark.top;
        thread.too_deep = 0;
    }
}

//! What a thread has for itself.

use std::sync::atomic::Ordering;

use crate::collections::torn::Torn;
use crate::control::Seat;
use crate::memory::TORN;
use crate::memory::desk::{Desk, Frame};
use crate::places::Action;
use crate::process::{Process, read};
use crate::recorder::{ROOT, Recorder};

/// A call that the current method is about to make.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Position of the instruction.
    pub position: u16,
    /// See [`crate::places::Action::Call`].
    pub receiver: u16,
}

/// A call of the library that will have accessed an atomic variable when it is done.
#[derive(Clone, Copy, Debug)]
struct Approached {
    /// The call.
    call: Call,
    /// The method that was called.
    method: u32,
    /// In how many methods under test the thread was.
    depth: usize,
}

/// What a thread has for itself.
pub struct Thread {
    /// Its id in the recording.
    pub id: u32,
    /// The number of its object.
    pub tag: i64,
    /// Its part in the scheduling.
    pub seat: Seat,
    /// Methods that it is in, and the last call that the current one has announced.
    pub desk: &'static Desk,
    /// Calls of the library under way whose access is told when they are done.
    approached: Vec<Approached>,
    /// The call under way that others may get into.
    torn: Option<Torn>,
    /// Places where they could have done so far.
    inside: u64,
    /// It waits for this object to be notified, whose monitor it had entered so many times.
    pub waits_for: Option<(u64, u32)>,
    /// It waits for the end of this thread: the number of its object, and its own.
    pub joins: Option<(i64, u32)>,
}

impl Thread {
    /// One that is about to run code under test.
    pub fn new(id: u32, tag: i64, seat: Seat, desk: &'static Desk) -> Thread {
        Thread {
            id,
            tag,
            seat,
            desk,
            approached: Vec::new(),
            torn: None,
            inside: 0,
            waits_for: None,
            joins: None,
        }
    }

    /// The current context.
    pub fn context(&self) -> u32 {
        self.desk.context()
    }

    /// The last call that the current method has announced.
    pub fn call(&self, process: &Process) -> Option<Call> {
        let site = process.site(self.desk.call()?)?;
        match site.action {
            Action::Call { receiver } => Some(Call { position: site.position, receiver }),
            _ => None,
        }
    }

    /// A method begins, which has this site and holds this lock or zero.
    pub fn enter(&mut self, process: &Process, site: i32, lock: u64) {
        let Some(method) = process.site(site).map(|place| place.method) else { return };
        let (parent, call) = (self.context(), self.desk.call());
        let position = call.and_then(|call| process.site(call)).map(|place| place.position);
        let places = read(&process.places);
        let repeated = self.deep_repetition(site);
        let entered = process.record(|recorder| {
            let entered = repeated.or_else(|| recorder.enter(&places, parent, position, method));
            let context = entered.unwrap_or(parent);
            (context, recorder.leaf(context, 0))
        });
        let (context, leaf) = entered.unwrap_or((parent, 0));
        let frame = Frame { context, leaf, site, call: call.map_or(0, |call| call as u32 + 1), lock };
        self.desk.push(frame);
        if entered.is_some() && lock == 0 {
            self.desk.remember(parent, &frame);
        }
    }

    /// So deep down, a method that calls itself, or is called by those that it calls, stays in the context that it has: who
    /// reads a recording has to do with each context's whole call stack.
    fn deep_repetition(&self, site: i32) -> Option<u32> {
        const DEEP: usize = 256;
        let is_deep = self.desk.depth() >= DEEP;
        let mut last = self.desk.frames().take(if is_deep { DEEP } else { 0 });
        last.find(|frame| frame.site == site).map(|frame| frame.context)
    }

    /// Remembers a call until its method is done. What was remembered here before was left by an exception.
    pub fn approach(&mut self, call: Call, method: u32) {
        let depth = self.desk.depth();
        self.approached.retain(|other| other.depth < depth);
        self.approached.push(Approached { call, method, depth });
    }

    /// The remembered call of a method that is done.
    pub fn approached(&mut self, method: u32) -> Option<Call> {
        let depth = self.desk.depth();
        let is_done = |other: &Approached| other.method == method && other.depth == depth;
        let position = self.approached.iter().rposition(is_done)?;
        let call = self.approached[position].call;
        self.approached.truncate(position);
        Some(call)
    }

    /// A call begins that others may get into, or none of the kind.
    pub fn begin_torn(&mut self, torn: Option<Torn>) {
        // One that is still there was left by an exception.
        self.end_torn();
        TORN.fetch_add(u32::from(torn.is_some()), Ordering::Relaxed);
        self.torn = torn;
    }

    /// It is over.
    pub fn end_torn(&mut self) -> Option<Torn> {
        let torn = self.torn.take();
        if torn.is_some() {
            TORN.fetch_sub(1, Ordering::Relaxed);
        }
        torn
    }

    /// The call of this object under way that others may get into.
    pub fn torn(&mut self, tag: i64) -> Option<&mut Torn> {
        let depth = self.desk.depth();
        self.torn.as_mut().filter(|torn| (torn.tag, torn.depth) == (tag, depth))
    }

    /// The library is about to write to this object. Is this where others get into its call?
    pub fn is_torn_here(&mut self, process: &Process, tag: i64) -> Option<Torn> {
        if self.torn(tag)?.is_written {
            return None;
        }
        self.inside += 1;
        if process.scheduler.chance(&self.seat, self.inside).below(2) != 0 {
            return None;
        }
        let torn = self.torn(tag)?;
        torn.is_written = true;
        Some(*torn)
    }

    /// The leaf at which an object was made: where its constructor was called, or that of a class derived from its own.
    pub fn birthplace(&self, process: &Process, recorder: &Recorder, position: u16) -> u32 {
        let places = read(&process.places);
        let is_constructor = |frame: &Frame| {
            let site = places.sites.get(frame.site as usize);
            site.is_some_and(|site| places.methods[site.method as usize].name == "<init>")
        };
        let mut at = Some(position);
        for frame in self.desk.frames() {
            if !is_constructor(&frame) {
                return at.map_or(0, |at| recorder.leaf(frame.context, at));
            }
            let call = frame.call.checked_sub(1);
            at = call.and_then(|call| places.sites.get(call as usize)).map(|site| site.position);
        }
        0
    }

    /// The leaf of the call that the current method has announced, or of its start.
    pub fn call_leaf(&self, process: &Process, recorder: &Recorder) -> u32 {
        match self.context() {
            ROOT => 0,
            context => recorder.leaf(context, self.call(process).map_or(0, |call| call.position)),
        }
    }
}

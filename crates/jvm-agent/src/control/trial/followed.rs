//! How often an interleaving comes about, whether or not anybody was held back for that occurrence of it.

use recording::Interleaving;
use rustc_hash::FxHashMap;

use super::super::{Operation, What};
use super::instance::{Instance, is_pair};

/// Occurrences that are followed at the same time; the oldest is forgotten.
const MOST: usize = 64;

#[derive(Default)]
pub struct Followed {
    begun: Vec<Instance>,
    /// Of two steps: who has done the second to what; none for several threads.
    seconds: FxHashMap<What, Option<u32>>,
    /// Those that came to their end.
    pub completed: u64,
}

impl Followed {
    /// The thread did this.
    pub fn step(&mut self, interleaving: &Interleaving, thread: u32, operation: Operation) {
        if operation.marks.steps == 0 && !operation.is_access {
            return;
        }
        let is_second = is_pair(interleaving) && operation.is_step(1);
        for what in [operation.what, operation.also].into_iter().flatten().filter(|_| is_second) {
            let by = self.seconds.entry(what).or_insert(Some(thread));
            *by = by.filter(|&by| by == thread);
        }
        let mut completed = 0;
        self.begun.retain_mut(|instance| match instance.next_step(interleaving, thread, operation) {
            Some(step) => {
                let is_complete = instance.advance(interleaving, step, thread, operation);
                completed += u64::from(is_complete);
                !is_complete
            }
            None => !instance.is_broken_by(thread, operation),
        });
        self.completed += completed;
        if let Some(step) = Instance::default().next_step(interleaving, thread, operation) {
            let mut instance = Instance::default();
            instance.advance(interleaving, step, thread, operation);
            if self.begun.len() == MOST {
                self.begun.remove(0);
            }
            self.begun.push(instance);
        }
    }

    /// Would this join in what others have begun, or of two steps do the first before anybody else has done the second?
    pub fn is_joined_by(&self, interleaving: &Interleaving, thread: u32, operation: Operation) -> bool {
        if is_pair(interleaving) {
            let by = operation.what.and_then(|what| self.seconds.get(&what));
            let comes_first = operation.is_step(0) && by.is_none_or(|&by| by == Some(thread));
            let comes_next =
                |instance: &Instance| instance.next_step(interleaving, thread, operation).is_some();
            return comes_first || self.begun.iter().any(comes_next);
        }
        let mut others = self.begun.iter().filter(|instance| instance.role_of(thread).is_none());
        others.any(|instance| instance.is_joined_by(interleaving, operation))
    }

    /// The thread is gone.
    pub fn left(&mut self, interleaving: &Interleaving, thread: u32) {
        self.begun.retain(|instance| !instance.is_left_open_by(interleaving, thread));
    }
}

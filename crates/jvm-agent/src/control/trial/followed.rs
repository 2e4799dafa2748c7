//! How often an interleaving comes about, whether or not anybody was held back for that occurrence of it.

use recording::Interleaving;

use super::super::Operation;
use super::instance::Instance;

/// Occurrences that are followed at the same time; the oldest is forgotten.
const MOST: usize = 64;

#[derive(Default)]
pub struct Followed {
    begun: Vec<Instance>,
    /// Those that came to their end.
    pub completed: u64,
}

impl Followed {
    /// The thread did this.
    pub fn step(&mut self, interleaving: &Interleaving, thread: u32, operation: Operation) {
        if operation.marks.steps == 0 && !operation.is_access {
            return;
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

    /// The thread is gone.
    pub fn left(&mut self, interleaving: &Interleaving, thread: u32) {
        self.begun.retain(|instance| !instance.is_left_open_by(interleaving, thread));
    }
}

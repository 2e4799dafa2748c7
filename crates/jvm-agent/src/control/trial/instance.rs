//! An occurrence of an interleaving: what was done of it, by whom and to what.

use recording::{Interleaving, MOST_ROLES};

use super::super::{Operation, Variable};

/// The number of a step's thread, from zero.
pub fn role(interleaving: &Interleaving, step: usize) -> usize {
    usize::from(interleaving.steps()[step].thread - 1)
}

/// The steps of one thread, in its order.
pub fn steps_of(interleaving: &Interleaving, of: usize) -> impl DoubleEndedIterator<Item = usize> + '_ {
    (0..interleaving.steps().len()).filter(move |&step| role(interleaving, step) == of)
}

/// Is it about the order of two steps?
pub fn is_pair(interleaving: &Interleaving) -> bool {
    interleaving.steps().len() == 2
}

/// None as long as nothing is done.
#[derive(Clone, Copy, Default)]
pub struct Instance {
    /// A bit for each step that was done.
    pub done: u16,
    /// Threads by role, and variables, where they are known.
    pub threads: [Option<u32>; MOST_ROLES],
    pub variables: [Option<Variable>; MOST_ROLES],
    pub begun_at: u64,
}

impl Instance {
    pub fn role_of(&self, thread: u32) -> Option<usize> {
        self.threads.iter().position(|&known| known == Some(thread))
    }

    /// What is next for a thread.
    pub fn next_of(&self, interleaving: &Interleaving, role: usize) -> Option<usize> {
        steps_of(interleaving, role).find(|&step| self.done & 1 << step == 0)
    }

    /// May this step be done now?
    pub fn is_ready(&self, interleaving: &Interleaving, step: usize) -> bool {
        interleaving.before(step) & !self.done == 0
            && self.next_of(interleaving, role(interleaving, step)) == Some(step)
    }

    /// The step that this operation of this thread would be, if it is the step's turn.
    pub fn next_step(&self, interleaving: &Interleaving, thread: u32, operation: Operation) -> Option<usize> {
        (0..interleaving.steps().len()).find(|&step| {
            let is_thread = match self.threads[role(interleaving, step)] {
                Some(known) => known == thread,
                None => self.role_of(thread).is_none(),
            };
            let is_variable = match self.variables[usize::from(interleaving.steps()[step].variable)] {
                Some(known) => known.common(operation).is_some(),
                None => !self.is_about(operation),
            };
            operation.is_step(step) && self.is_ready(interleaving, step) && is_thread && is_variable
        })
    }

    /// Another access of one of its threads to one of its variables: it will not come about this way.
    pub fn is_broken_by(&self, thread: u32, operation: Operation) -> bool {
        self.role_of(thread).is_some() && operation.is_access && self.is_about(operation)
    }

    /// Is it done to one of its variables?
    pub fn is_about(&self, operation: Operation) -> bool {
        self.variables.iter().flatten().any(|variable| variable.common(operation).is_some())
    }

    /// Is this any of its steps, done to its variable, whoever does it?
    pub fn is_joined_by(&self, interleaving: &Interleaving, operation: Operation) -> bool {
        (0..interleaving.steps().len()).any(|step| {
            let variable = self.variables[usize::from(interleaving.steps()[step].variable)];
            operation.is_step(step) && variable.is_none_or(|known| known.common(operation).is_some())
        })
    }

    /// This step was done. True if it was the last.
    pub fn advance(
        &mut self,
        interleaving: &Interleaving,
        step: usize,
        thread: u32,
        operation: Operation,
    ) -> bool {
        self.threads[role(interleaving, step)] = Some(thread);
        let variable = &mut self.variables[usize::from(interleaving.steps()[step].variable)];
        *variable = variable.map_or_else(|| Variable::of(operation), |known| known.common(operation));
        self.done |= 1 << step;
        self.done.count_ones() as usize == interleaving.steps().len()
    }

    /// The thread is gone. Is there something that it has not done?
    pub fn is_left_open_by(&self, interleaving: &Interleaving, thread: u32) -> bool {
        self.role_of(thread).is_some_and(|role| self.next_of(interleaving, role).is_some())
    }
}

//! Where a replay went another way than the run it follows, and why.

use recording::{Recording, Switch, ThreadEvent};
use runner::Schedules;

use super::places::Places;
use super::test::Test;

/// A replay beside its run.
pub struct Comparison {
    /// Switches up to which nothing differs, in all processes.
    pub followed: u64,
    /// The first difference.
    pub divergence: Option<Divergence>,
}

/// The first switch that is not the same.
pub struct Divergence {
    /// Its process, in the order of start.
    process: usize,
    /// Its number, from 1.
    number: usize,
    expected: ThreadEvent,
    /// None if the replay was over by then.
    actual: Option<ThreadEvent>,
}

/// A thread that got the token.
struct Step {
    switch: Switch,
    place: String,
}

/// Compares a replay with the run it follows. Places in the code are not compared between different builds.
pub fn compare(expected: &Schedules, actual: &Schedules, is_rebuilt: bool) -> Comparison {
    let mut comparison = Comparison { followed: 0, divergence: None };
    for (number, process) in expected.processes().iter().enumerate() {
        let switches: Vec<&ThreadEvent> = process.switch_events().collect();
        let other = actual.processes().get(number);
        let others: Vec<&ThreadEvent> = other.map_or_else(Vec::new, |other| other.switch_events().collect());
        let agree = |(one, two): &(&&ThreadEvent, &&ThreadEvent)| {
            other.is_some_and(|other| are_same((process, one), (other, two), is_rebuilt))
        };
        let same = switches.iter().zip(&others).take_while(agree).count();
        comparison.followed += same as u64;
        if let (Some(&&expected), None) = (switches.get(same), &comparison.divergence) {
            let actual = others.get(same).map(|&&event| event);
            comparison.divergence = Some(Divergence { process: number, number: same + 1, expected, actual });
        }
    }
    comparison
}

fn switch(event: &ThreadEvent) -> Switch {
    Switch {
        to: event.thread,
        from: event.event.other,
        stop: event.event.object,
        flags: event.event.flags.into(),
    }
}

fn are_same(one: (&Recording, &ThreadEvent), two: (&Recording, &ThreadEvent), is_rebuilt: bool) -> bool {
    let key = |event: &ThreadEvent| (event.thread, event.event.other, event.event.object);
    key(one.1) == key(two.1) && (is_rebuilt || site(one.0, one.1) == site(two.0, two.1))
}

/// The place in the module's file.
fn site(recording: &Recording, event: &ThreadEvent) -> Option<(usize, u64)> {
    let (_, address) = recording.resolve_leaf(event.event.leaf)?;
    let module = recording.module_of_code(address)?;
    Some((module, address.wrapping_sub(recording.modules[module].bias)))
}

impl Divergence {
    /// In words, with the likely reason.
    pub fn told(&self, test: &Test, run: &Schedules, replay: &Schedules) -> String {
        let mut places = Places::default();
        let mut step = |schedules: &Schedules, event: &ThreadEvent| Step {
            switch: switch(event),
            place: places.leaf(&schedules.processes()[self.process], event.event.leaf),
        };
        let (number, expected) = (self.number, step(run, &self.expected));
        let actual = self.actual.as_ref().map(|event| step(replay, event));
        let should = format!(
            "at switch {number}, thread {} should have gone on in {}",
            expected.switch.to, expected.place
        );
        let did = match &actual {
            None => "the replay was over before".to_owned(),
            Some(actual) if actual.switch.to == expected.switch.to && actual.place != expected.place => {
                format!("it was in {}", actual.place)
            }
            Some(actual) if actual.switch.to == expected.switch.to => {
                format!("thread {} had come to another point before", actual.switch.from)
            }
            Some(actual) => format!("could not: thread {} went on in {}", actual.switch.to, actual.place),
        };
        format!("  {should}, but {did}\n  why  {}\n", reason(test, &expected, actual.as_ref()))
    }
}

/// What the first difference has to do with.
fn reason(test: &Test, expected: &Step, actual: Option<&Step>) -> String {
    let either =
        |is: fn(&Switch) -> bool| is(&expected.switch) || actual.is_some_and(|step| is(&step.switch));
    if let Some(path) = test.rebuilt() {
        format!("{} is not the build that was recorded", path.display())
    } else if test.has_other_command() {
        "the command is not the one that was recorded".to_owned()
    } else if either(Switch::is_by_time) {
        "a wait with a time limit ended in another way: the test depends on time".to_owned()
    } else if either(Switch::is_taken_away) {
        "a thread was blocked where unsnarl does not see it, as in a system call: how long depends on the system"
            .to_owned()
    } else {
        "what the test does depends on more than its schedule: time, input, files or random numbers"
            .to_owned()
    }
}

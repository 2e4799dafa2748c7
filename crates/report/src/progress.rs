//! What is seen while the runs go on: a bar on a terminal, now and then a line elsewhere. Both are told plain numbers
//! and look at no clock.

use std::io::Write;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::visible::visible;
use crate::wording::{plural, span};

/// How far a session is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Runs done, in whichever way they ended.
    pub done: u64,
    /// Runs that passed.
    pub passed: u64,
    /// Runs that failed, hung ones included.
    pub failed: u64,
    /// Those of the failed runs that hung.
    pub hung: u64,
    /// Runs spoilt by unsnarl's own trouble.
    pub damaged: u64,
    /// The way of running the test that has made it fail most often, where there are several.
    pub most_by: Option<&'static str>,
    /// The time since the first run started.
    pub elapsed: Duration,
    /// When the session will be over.
    pub limits: Limits,
}

/// What ends a session: whichever of these is reached first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// So many runs.
    pub runs: Option<u64>,
    /// So many failing runs.
    pub failures: Option<u64>,
    /// So much time.
    pub time: Option<Duration>,
}

impl Progress {
    /// The share of the way to the nearest limit, from 0 to 1; `None` without limits.
    pub fn share(&self) -> Option<f64> {
        let elapsed = self.elapsed.as_secs_f64();
        let shares = [
            self.limits.runs.map(|runs| self.done as f64 / runs as f64),
            self.limits.failures.map(|failures| self.failed as f64 / failures as f64),
            self.limits.time.map(|time| elapsed / time.as_secs_f64()),
        ];
        // A limit of zero is reached from the start; 0/0 would otherwise say nothing.
        let reached = |share: f64| if share.is_nan() { 1.0 } else { share.min(1.0) };
        shares.into_iter().flatten().map(reached).reduce(f64::max)
    }

    /// The time left if things go on like this; `None` as long as nothing tells.
    pub fn time_left(&self) -> Option<Duration> {
        let share = self.share().filter(|share| *share > 0.0)?;
        Duration::try_from_secs_f64(self.elapsed.as_secs_f64() * (1.0 - share) / share).ok()
    }

    fn counts(&self) -> Vec<String> {
        let mut counts = vec![
            self.limits.runs.map_or_else(
                || plural(self.done, "run"),
                |runs| format!("{} of {}", self.done, plural(runs, "run")),
            ),
            format!("{} passed", self.passed),
            self.limits.failures.map_or_else(
                || format!("{} failed", self.failed),
                |failures| format!("{} of {failures} failed", self.failed),
            ),
        ];
        if let Some(way) = self.most_by {
            counts.push(format!("most often by {way}"));
        }
        if self.hung > 0 {
            counts.push(format!("{} hung", self.hung));
        }
        if self.damaged > 0 {
            counts.push(format!("{} damaged", self.damaged));
        }
        counts
    }

    fn time(&self) -> String {
        match self.time_left() {
            // What is under way is waited for.
            Some(left) if left < Duration::from_secs(1) => "almost done".to_owned(),
            Some(left) => format!("about {} left", span(left.as_secs_f64())),
            None => span(self.elapsed.as_secs_f64()),
        }
    }
}

/// Someone who shows how far a session is.
pub trait Reporter {
    /// Takes note of the newest numbers; may be called as often as there are any.
    fn update(&mut self, progress: &Progress);
    /// Shows the last numbers, or clears the screen for the report that follows.
    fn finish(&mut self, progress: &Progress);
}

/// The bar is drawn by thousandths, since a share is all that the three kinds of limit have in common.
const BAR_STEPS: u64 = 1000;

/// A bar on a terminal. It is gone in the end: the report's first line says it all.
pub struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// A bar on the standard error stream.
    pub fn on_stderr() -> Self {
        Bar::on(ProgressDrawTarget::stderr())
    }

    fn on(target: ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(Some(BAR_STEPS), target);
        let style = ProgressStyle::with_template("{bar:16}  {wide_msg}")
            .expect("the template is constant")
            .progress_chars("━╸─");
        bar.set_style(style);
        Bar { bar }
    }
}

impl Reporter for Bar {
    fn update(&mut self, progress: &Progress) {
        let mut message = progress.counts();
        message.push(progress.time());
        self.bar.set_message(message.join("  "));
        self.bar.set_position((progress.share().unwrap_or(0.0) * BAR_STEPS as f64) as u64);
    }

    fn finish(&mut self, _: &Progress) {
        self.bar.finish_and_clear();
    }
}

/// A line now and then, for logs.
pub struct Lines<W> {
    out: W,
    session: String,
    every: Duration,
    next: Duration,
}

impl<W: Write> Lines<W> {
    /// Writes a line to `out` whenever so much time has passed, and one in the end.
    pub fn new(out: W, session: &str, every: Duration) -> Self {
        Lines { out, session: visible(session).into_owned(), every, next: every }
    }

    fn write(&mut self, parts: &[String]) {
        // A log that cannot be written is no reason to end a session.
        let _ = writeln!(self.out, "{}: {}", self.session, parts.join(", ")).and_then(|()| self.out.flush());
    }
}

impl<W: Write> Reporter for Lines<W> {
    fn update(&mut self, progress: &Progress) {
        if progress.elapsed >= self.next {
            self.next = progress.elapsed.saturating_add(self.every);
            let mut parts = progress.counts();
            parts.push(progress.time());
            self.write(&parts);
        }
    }

    fn finish(&mut self, progress: &Progress) {
        let mut parts = progress.counts();
        parts.push(format!("{} in all", span(progress.elapsed.as_secs_f64())));
        self.write(&parts);
    }
}

#[cfg(test)]
mod tests {
    use indicatif::InMemoryTerm;

    use super::*;

    fn progress(done: u64, failed: u64, seconds: u64, limits: Limits) -> Progress {
        let elapsed = Duration::from_secs(seconds);
        Progress { done, passed: done - failed, failed, elapsed, limits, ..Progress::default() }
    }

    fn limits(runs: u64, failures: u64, seconds: u64) -> Limits {
        let given = |limit: u64| (limit > 0).then_some(limit);
        Limits { runs: given(runs), failures: given(failures), time: given(seconds).map(Duration::from_secs) }
    }

    #[track_caller]
    fn check_left(progress: Progress, share: Option<f64>, seconds: Option<u64>) {
        assert_eq!(progress.share(), share);
        assert_eq!(progress.time_left(), seconds.map(Duration::from_secs));
    }

    #[test]
    fn the_nearest_limit_tells_the_time_left() {
        check_left(progress(50, 0, 10, limits(200, 0, 0)), Some(0.25), Some(30));
        check_left(progress(50, 5, 10, limits(200, 10, 0)), Some(0.5), Some(10));
        check_left(progress(50, 5, 10, limits(200, 0, 11)), Some(10.0 / 11.0), Some(1));
        check_left(progress(300, 5, 10, limits(200, 0, 0)), Some(1.0), Some(0));
    }

    #[test]
    fn nothing_is_promised_without_grounds() {
        check_left(progress(50, 5, 10, limits(0, 0, 0)), None, None);
        check_left(progress(50, 0, 10, limits(0, 10, 0)), Some(0.0), None);
        check_left(progress(0, 0, 0, limits(100, 10, 60)), Some(0.0), None);
        check_left(progress(0, 0, 0, Limits { runs: Some(0), ..Limits::default() }), Some(1.0), Some(0));
    }

    #[test]
    fn lines_come_now_and_then_and_in_the_end() {
        let mut log = Vec::new();
        let mut lines = Lines::new(&mut log, "queue\u{1b}test", Duration::from_secs(10));
        for seconds in [1, 9, 10, 11, 19, 27, 30] {
            lines.update(&progress(4 * seconds, seconds / 10, seconds, limits(200, 0, 0)));
        }
        let last = progress(140, 3, 35, limits(200, 3, 0));
        lines.finish(&Progress { hung: 1, damaged: 2, ..last });
        insta::assert_snapshot!(String::from_utf8(log).unwrap(), @r"
        queue\u{1b}test: 40 of 200 runs, 39 passed, 1 failed, about 40 s left
        queue\u{1b}test: 108 of 200 runs, 106 passed, 2 failed, about 23 s left
        queue\u{1b}test: 140 of 200 runs, 137 passed, 3 of 3 failed, 1 hung, 2 damaged, 35 s in all
        ");
    }

    #[test]
    fn the_bar_shows_counts_and_is_gone_in_the_end() {
        let terminal = InMemoryTerm::new(4, 80);
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        let mut bar = Bar::on(target);
        let half = progress(50, 5, 10, limits(100, 25, 0));
        bar.update(&half);
        bar.bar.force_draw();
        insta::assert_snapshot!(terminal.contents(), @"━━━━━━━━╸───────  50 of 100 runs  45 passed  5 of 25 failed  about 10 s left");
        bar.finish(&half);
        assert_eq!(terminal.contents(), "");
    }
}

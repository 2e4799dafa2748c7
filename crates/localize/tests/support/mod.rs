//! Traces as short text, and findings as short text to expect beside them.
//!
//! One line is one run: `F: W1(x)@a R2(x)@b gap(x) U1(x)@c`. It begins with the outcome (`P`, `F`, `H`) and goes
//! on with accesses: kind, thread, location, site. Sites have one name in all runs, locations in their run.
//!
//! One line is one finding: `1/2 0.50 f=1 p=1 P5 W1(x)@1 W2(x)@4 R1(x)@3`: rank, size of the tie, score, counts,
//! row of the table, and the accesses of the example in time order. There, threads and variables are the roles
//! of the row, since a pattern knows no others.

#![allow(dead_code, reason = "every test file uses its own part of the kit")]

pub mod naive;

use std::num::NonZeroUsize;

use localize::*;

/// Runs, and the names of their sites.
pub struct Session {
    pub runs: Vec<Run>,
    pub sites: Vec<String>,
}

/// Asserts that `technique` finds exactly `expected` in `traces`.
#[track_caller]
pub fn check(technique: Technique, options: &Options, traces: &str, expected: &str) {
    let session = parse(traces);
    let findings = localize(technique, &session.runs, options);
    let actual: Vec<String> = findings.iter().map(|finding| session.show(finding)).collect();
    let expected: Vec<&str> = lines(expected).collect();
    assert_eq!(actual.join("\n"), expected.join("\n"), "\nactual:\n{}\n", actual.join("\n"));
}

/// Options that differ from the defaults in the size of the window.
pub fn window(size: usize) -> Options {
    Options { window: NonZeroUsize::new(size).unwrap(), ..Options::default() }
}

pub fn parse(traces: &str) -> Session {
    let mut session = Session { runs: Vec::new(), sites: Vec::new() };
    for line in lines(traces) {
        let (outcome, words) = line.split_once(':').expect("an outcome, a colon, accesses");
        let outcome = match outcome {
            "P" => Outcome::Pass,
            "F" => Outcome::Fail,
            "H" => Outcome::Hang,
            other => panic!("no outcome: {other}"),
        };
        let id = RunId(session.runs.len() as u32 + 1);
        let mut run = Run { id, outcome, accesses: Vec::new(), gaps: Vec::new() };
        let mut locations = Vec::new();
        for word in words.split_whitespace() {
            let (action, rest) = word.split_once('(').expect("a location in parentheses");
            let (location, site) = rest.split_once(')').expect("a closing parenthesis");
            let location = LocationId(intern(&mut locations, location));
            if action == "gap" {
                run.gaps.push(Gap { location, before: run.accesses.len() });
                continue;
            }
            let site = site.strip_prefix('@').expect("a site after @");
            let kind = match &action[..1] {
                "R" => AccessKind::Read,
                "W" => AccessKind::Write,
                "U" => AccessKind::Update,
                other => panic!("no kind: {other}"),
            };
            let thread = ThreadId(action[1..].parse().expect("a thread number"));
            run.accesses.push(access(kind, thread, location, SiteId(intern(&mut session.sites, site))));
        }
        session.runs.push(run);
    }
    session
}

/// An access with nothing but what patterns are made of.
pub fn access(kind: AccessKind, thread: ThreadId, location: LocationId, site: SiteId) -> Access {
    let (stack, locks) = (StackId(0), LocksetId(0));
    Access { thread, location, site, stack, kind, uncertain: false, value: None, locks }
}

impl Session {
    fn show(&self, finding: &Finding) -> String {
        let example = &finding.example;
        let run = self.runs.iter().find(|run| run.id == example.run).expect("an example in a run");
        let mut line = format!(
            "{}/{} {:.2} f={} p={} {:?}",
            finding.rank, finding.tied, finding.score, finding.failed, finding.passed, example.id
        );
        for (step, &index) in example.id.steps().iter().zip(&example.accesses) {
            let kind = if step.kind == AccessKind::Read { 'R' } else { 'W' };
            let site = &self.sites[run.accesses[index].site.0 as usize];
            line += &format!(" {kind}{}({})@{site}", step.thread, step.variable);
        }
        line
    }
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

fn intern(names: &mut Vec<String>, name: &str) -> u32 {
    let known = names.iter().position(|known| known == name);
    known.unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    }) as u32
}

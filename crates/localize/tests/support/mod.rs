//! Traces as short text, and findings as short text to expect beside them.
//!
//! One line is one run: `F: W1(x)@a R2(x)@b gap(x) U1(x)@c`. It begins with the outcome (`P`, `F`, `H`) and
//! goes on with accesses: kind, thread, location, site. Sites have one name in all runs, locations in their
//! run. An access in a loop has its place at the end: `W1(x)@a[7.0]` is in the first iteration of the loop 7. What is read or
//! written comes last of all, if it is known: `R1(x)@a=3`.
//! `local@a`, `remote@a` and `both@a` are observations at a site.
//!
//! One line is one finding: `1/2 0.50 f=1 p=1 P5 W1(x)@1 W2(x)@4 R1(x)@3`: rank, size of the tie, score,
//! counts, shape, and the accesses of the example in time order. There, threads and variables are the roles
//! of the shape, since a pattern knows no others. What the technique says besides comes last (see
//! `show_detail`).

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
    session.check(&localize(technique, &session.runs, options), expected);
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
        let mut run = Run::new(id, outcome);
        let mut locations = Vec::new();
        for word in words.split_whitespace() {
            if let Some((seen, site)) = word.split_once('@').filter(|(seen, _)| !seen.contains('(')) {
                let site = SiteId(intern(&mut session.sites, site));
                let (local, remote) = (seen != "remote", seen != "local");
                run.observations.push(Observation { site, local, remote });
                continue;
            }
            let (action, rest) = word.split_once('(').expect("a location in parentheses");
            let (location, site) = rest.split_once(')').expect("a closing parenthesis");
            let location = LocationId(intern(&mut locations, location));
            if action == "gap" {
                run.gaps.push(Gap { location, before: run.accesses.len() });
                continue;
            }
            let site = site.strip_prefix('@').expect("a site after @");
            let (site, value) =
                site.split_once('=').map_or((site, None), |(site, value)| (site, value.parse().ok()));
            let (site, place) =
                site.split_once('[').map_or((site, None), |(site, place)| (site, Some(place)));
            let kind = match &action[..1] {
                "R" => AccessKind::Read,
                "W" => AccessKind::Write,
                "U" => AccessKind::Update,
                other => panic!("no kind: {other}"),
            };
            let thread = ThreadId(action[1..].parse().expect("a thread number"));
            let site = SiteId(intern(&mut session.sites, site));
            let iteration = place.map(loop_position);
            run.accesses.push(Access { iteration, value, ..access(kind, thread, location, site) });
        }
        session.runs.push(run);
    }
    session
}

/// An access with nothing but what patterns are made of.
pub fn access(kind: AccessKind, thread: ThreadId, location: LocationId, site: SiteId) -> Access {
    let (stack, locks) = (StackId(0), Some(LocksetId(0)));
    Access {
        thread,
        location,
        site,
        stack,
        kind,
        uncertain: false,
        value: None,
        before: None,
        locks,
        iteration: None,
        atomic: false,
        frees: false,
    }
}

fn loop_position(place: &str) -> LoopPosition {
    let numbers = place.strip_suffix(']').and_then(|numbers| numbers.split_once('.'));
    let (entry, iteration) = numbers.expect("a loop, a dot, an iteration, a closing bracket");
    LoopPosition { entry: entry.parse().unwrap(), iteration: iteration.parse().unwrap() }
}

/// The runs of some traces, and the verdict on them.
pub fn verdict_on(traces: &str) -> (Session, Vec<Finding>) {
    let session = parse(traces);
    let findings = localize(Technique::Verdict, &session.runs, &Options::default());
    (session, findings)
}

/// Why a finding of the verdict ranks where it does.
pub fn reasons(finding: &Finding) -> Vec<Reason> {
    match &finding.detail {
        Detail::Verdict(reasoning) => reasoning.reasons.clone(),
        other => panic!("no verdict: {other:?}"),
    }
}

/// So many runs alike.
pub fn runs_like(outcome: &str, trace: &str, times: usize) -> String {
    format!("{outcome}: {trace}\n").repeat(times)
}

impl Session {
    /// Asserts that `findings` are `expected`.
    #[track_caller]
    pub fn check(&self, findings: &[Finding], expected: &str) {
        let actual: Vec<String> = findings.iter().map(|finding| self.show(finding)).collect();
        let expected: Vec<&str> = lines(expected).collect();
        assert_eq!(actual.join("\n"), expected.join("\n"), "\nactual:\n{}\n", actual.join("\n"));
    }

    fn show(&self, finding: &Finding) -> String {
        let example = &finding.example;
        let run = self.runs.iter().find(|run| run.id == example.run).expect("an example in a run");
        let mut line = format!(
            "{}/{} {:.2} f={} p={} {:?}",
            finding.rank, finding.tied, finding.score, finding.failed, finding.passed, example.id
        );
        for (step, &index) in example.id.steps().zip(&example.accesses) {
            let kind = if step.kind == AccessKind::Read { 'R' } else { 'W' };
            let site = self.site(run.accesses[index].site);
            line += &format!(" {kind}{}({})@{site}", step.thread, step.variable);
        }
        line + &self.show_detail(&finding.detail)
    }

    /// `{LW -> RR LW}` are contexts; `[a:50 b:100 -> c:100 -> ]` are the nodes of prefix, body and suffix
    /// with their confidence in percent; `I`, `II`, `III-site`, `III-thread` and `III-loop` are Locon's
    /// procedures.
    fn show_detail(&self, detail: &Detail) -> String {
        match detail {
            Detail::Accesses => String::new(),
            Detail::Communication([source, sink]) => format!(" {{{source} -> {sink}}}"),
            // What it is worth is for other tests: the rank says the rest.
            Detail::Verdict(_) => String::new(),
            Detail::Previous(Previous::Local) => " local".to_owned(),
            Detail::Previous(Previous::Remote) => " remote".to_owned(),
            Detail::Locon(Procedure::OnlyInFailing) => " I".to_owned(),
            Detail::Locon(Procedure::MissingFromFailing) => " II".to_owned(),
            Detail::Locon(Procedure::NeverTogether(level)) => {
                format!(" III-{level:?}").to_lowercase().replace("iii", "III")
            }
            Detail::Reconstruction(around) => {
                let regions = [&around.prefix, &around.body, &around.suffix].map(|region| {
                    let node = |neighbour: &Neighbour| {
                        format!("{}:{:.0}", self.site(neighbour.node.site), 100.0 * neighbour.confidence)
                    };
                    region.iter().map(node).collect::<Vec<_>>().join(" ")
                });
                format!(" [{}]", regions.join(" -> "))
            }
        }
    }

    pub fn site(&self, id: SiteId) -> &str {
        &self.sites[id.0 as usize]
    }

    /// Pattern and sites of a finding, as its example has them.
    pub fn in_short(&self, finding: &Finding) -> String {
        let run = self.runs.iter().find(|run| run.id == finding.example.run).expect("the example's run");
        let sites = finding.example.accesses.iter().map(|&access| self.site(run.accesses[access].site));
        format!("{:?} {}", finding.example.id, sites.collect::<Vec<_>>().join(" "))
    }
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

pub fn intern(names: &mut Vec<String>, name: &str) -> u32 {
    let known = names.iter().position(|known| known == name);
    known.unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    }) as u32
}

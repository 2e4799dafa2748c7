//! Every technique on sessions with hardly anything in them.

mod support;

use localize::{Collector, Options, Scan, Technique, localize};

#[track_caller]
fn number_of_findings(technique: Technique, traces: &str) -> usize {
    let session = support::parse(traces);
    let findings = localize(technique, &session.runs, &Options::default());
    assert!(findings.iter().all(|finding| !finding.score.is_nan()));
    findings.len()
}

#[test]
fn without_runs_or_handovers_nothing_is_found() {
    for technique in Technique::all() {
        for traces in
            ["", "F:", "P:", "P:\nF:", "F: W1(x)@a W2(y)@b", "P: R1(x)@a R2(x)@b\nF: R3(x)@c R2(x)@d"]
        {
            // That two reads follow each other is an observation of CCI.
            let expected = if technique == Technique::Cci && traces.contains("R2(x)") { 2 } else { 0 };
            assert_eq!(number_of_findings(technique, traces), expected, "{technique}: {traces}");
        }
    }
}

/// There is nothing to compare a failing run with, so all it shows is suspect.
#[test]
fn with_failing_runs_only_everything_is_suspect() {
    let trace = "W1(x)@a W2(x)@b R1(x)@c";
    for technique in Technique::all() {
        let expected = match technique {
            Technique::Avio | Technique::Defuse => 1,
            // If all runs fail, nothing explains why some do.
            Technique::Verdict => 0,
            Technique::Unicorn | Technique::Griffin => 3,
            _ => 2,
        };
        assert_eq!(number_of_findings(technique, &format!("F: {trace}")), expected, "{technique}");
        assert_eq!(
            number_of_findings(technique, &format!("F: {trace}\nH: {trace}")),
            expected,
            "{technique}"
        );
    }
}

/// Some tell what they counted; nothing of it is suspicious.
#[test]
fn with_passing_runs_only_nothing_is_suspicious() {
    let session = support::parse("P: W1(x)@a W2(x)@b R1(x)@c\nP: W1(x)@a R2(x)@b");
    for technique in Technique::all() {
        let findings = localize(technique, &session.runs, &Options::default());
        let counts =
            matches!(technique, Technique::Falcon | Technique::Unicorn | Technique::Griffin | Technique::Cci);
        assert_eq!(!findings.is_empty(), counts, "{technique}");
        assert!(findings.iter().all(|finding| finding.score == 0.0 && finding.failed == 0));
    }
}

/// Findings can be asked for at any time, and runs can be looked at elsewhere.
#[test]
fn a_collector_grows_run_by_run() {
    let session = support::parse(
        "
        P: W1(x)@a R2(x)@c
        F: W1(x)@a R2(x)@b W1(y)@a R2(y)@c
        P: R2(x)@b W1(x)@a
        H: W1(x)@a R2(x)@c W1(y)@a R2(y)@b W1(z)@a R2(z)@d
        ",
    );
    let options = Options::default();
    for technique in Technique::all() {
        let mut collector = Collector::new(technique, &options);
        for (nth, run) in session.runs.iter().enumerate() {
            collector.add(&technique.reduce(run, &options));
            assert_eq!(collector.findings(), localize(technique, &session.runs[..=nth], &options));
        }
    }
}

#[test]
#[should_panic(expected = "locon does not know what another technique keeps of a run")]
fn techniques_do_not_mix() {
    let session = support::parse("F: W1(x)@a R2(x)@b");
    let options = Options::default();
    Collector::new(Technique::Locon, &options).add(&Technique::Avio.reduce(&session.runs[0], &options));
}

/// One run in fifty fails, and shows what no other does.
#[test]
fn a_thousand_runs() {
    let lines: Vec<String> = (0..1000)
        .map(|nth| match nth % 50 {
            0 => "F: R1(x)@check W2(x)@clear R1(x)@use".to_owned(),
            other => format!("P: R1(x)@check R1(x)@use W2(x)@clear W1(y)@{other} R2(y)@read"),
        })
        .collect();
    let session = support::parse(&lines.join("\n"));
    for technique in [Technique::Verdict, Technique::Falcon, Technique::Unicorn, Technique::Avio] {
        let findings = localize(technique, &session.runs, &Options::default());
        let first = &findings[0];
        assert_eq!((first.rank, first.failed, first.passed), (1, 20, 0), "{technique}");
        assert_eq!(first.failing_runs.len(), 20, "{technique}");
    }
}

/// What several techniques look at together is what each of them would have found alone.
#[test]
fn a_scan_can_be_shared() {
    let session = support::parse(
        "F: W1(x)@a W2(x)@b R1(x)@c W2(y)@d R1(y)@e\nP: W1(x)@a R1(x)@c W2(x)@b R1(y)@e W2(y)@d",
    );
    let options = Options::default();
    let mut together: Vec<Collector> =
        Technique::all().map(|technique| Collector::new(technique, &options)).collect();
    for run in &session.runs {
        let scan = Scan::new(run, &options);
        for (technique, collector) in Technique::all().zip(&mut together) {
            collector.add(&technique.reduce_scanned(&scan));
        }
    }
    for (technique, collector) in Technique::all().zip(&together) {
        assert_eq!(collector.findings(), localize(technique, &session.runs, &options), "{technique}");
    }
}

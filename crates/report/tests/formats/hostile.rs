//! Text that tries to be more than text, and reports made of it.

use report::{Confirmation, Excerpt, FailureGroup, Finding, Hang, HangKind, Kind, Report, Trial, Verdict};

use crate::samples::{Known, access, confirmed, finding, frame, report};
use report::AccessKind::{Read, Write};

pub const TEXTS: [&str; 8] = [
    "</script><script>window.owned = 1</script>",
    "<img src=x onerror='window.owned = 1'>",
    "\" onfocus=\"window.owned = 1\" autofocus x=\"",
    "' onclick='window.owned = 1",
    "<!-- --></style></title></textarea>]]>",
    "&lt;b&gt; &#60;i&#62; javascript:alert(1)",
    "\u{0}\u{8}\u{1b}[2J\r\n\u{7f}\u{9b}31m\u{202e}\u{2066}\u{2028}\u{feff}\u{fffe}\u{ffff}",
    "`x` | [a](http://x.invalid) **b** @someone #1 \\",
];

/// A report that has the text wherever it can have text.
pub fn made_of(text: &str) -> Report {
    let accesses = vec![
        access(1, Read, text, text, 1)
            .source(text)
            .value(text)
            .locked_by(text)
            .called_from(&[frame(text, text, 2)]),
        access(2, Write, text, text, 3).source(text),
        access(1, Read, text, text, 5).stripped(text, text).called_from(&[]),
    ];
    let mut finding = Finding {
        pattern: text.into(),
        pattern_id: Some(text.into()),
        suspicious_functions: vec![text.into()],
        evidence: vec![text.into()],
        why: vec![text.into()],
        advice: text.into(),
        ..confirmed(finding(Kind::AtomicityViolation, "RWR", accesses))
    };
    finding.confirmation = Some(Confirmation {
        enforced: Trial { runs: 0, failed: 9 },
        forbidden: Trial { runs: u64::MAX, failed: u64::MAX },
        verdict: Verdict::Inconclusive,
        delayed: Some(Trial { runs: 1, failed: 1 }),
        came_about: None,
        p_value: Some(f64::NAN),
        turned: None,
        explained_by: None,
        followed: None,
        narrowed: false,
        apart: None,
    });
    for access in &mut finding.accesses {
        access.file = access.file.as_ref().map(|_| text.to_owned());
    }
    let mut report = report(vec![finding]);
    report.session.name = text.into();
    report.session.command = vec![text.into()];
    report.session.started = text.into();
    report.session.unsnarl_version = text.into();
    report.technique = text.into();
    report.warnings = vec![text.into()];
    report.failures = vec![
        FailureGroup { description: text.into(), runs: 1 },
        FailureGroup { description: text.into(), runs: 2 },
    ];
    report.hangs = [HangKind::Deadlock, HangKind::Waiting, HangKind::PotentialDeadlock, HangKind::Waiting]
        .map(|kind| Hang { kind, runs: 2, passed: 1, threads: vec![text.into(); 2], advice: text.into() })
        .into();
    report.excerpts = vec![Excerpt { file: text.into(), first: 1, lines: vec![text.into(); 7] }];
    report
}

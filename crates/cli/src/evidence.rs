//! What a technique knows about a finding besides its accesses, as sentences.

use localize::{Code, Detail, Finding, Neighbour, Procedure, Reason, Reconstruction};

use crate::names::Names;

/// What is concluded from what failing runs lack.
const BY_ABSENCE: Reason = Reason::Procedure(Procedure::MissingFromFailing);
const OTHER_WAY_ROUND: &str = "passing runs have these accesses the other way round, and no failing run does: shown is a passing run, \
                               in the order that is suspected";

/// Neighbours named per region; the rest is counted.
const MOST_NEIGHBOURS: usize = 6;

/// The sentences for one finding.
pub fn sentences(finding: &Finding, code: &Code, names: &mut Names) -> Vec<String> {
    match &finding.detail {
        Detail::Verdict(reasoning) if reasoning.reasons.contains(&Reason::Fault) => vec![
            "passing runs use that memory as well: it looks as before until it is handed out again"
                .to_owned(),
        ],
        Detail::Verdict(reasoning) if reasoning.reasons.contains(&BY_ABSENCE) => {
            vec![OTHER_WAY_ROUND.to_owned()]
        }
        Detail::Accesses | Detail::Verdict(_) => Vec::new(),
        Detail::Communication([source, sink]) => vec![format!(
            "what the threads had communicated before, latest first: `{source}` at the source, `{sink}` at the sink \
             (local and remote reads and writes)"
        )],
        Detail::Reconstruction(around) => reconstruction(around, code, names),
        Detail::Previous(previous) => {
            let site = finding.pattern.sites().first().map(|&site| names.site(site, code));
            vec![format!("at {}: {previous}", site.unwrap_or_else(|| "an unknown place".to_owned()))]
        }
        Detail::Locon(Procedure::MissingFromFailing) => vec![OTHER_WAY_ROUND.to_owned()],
        Detail::Locon(procedure) => vec![format!("{procedure}")],
    }
}

fn reconstruction(around: &Reconstruction, code: &Code, names: &mut Names) -> Vec<String> {
    let mut sentences = vec![format!(
        "{:.1} times as frequent in failing runs; contexts vary by {:.2}, neighbours agree by {:.2}",
        around.frequency_ratio, around.context_variation, around.consistency
    )];
    let regions = [("before", &around.prefix), ("in between", &around.body), ("after", &around.suffix)];
    for (when, neighbours) in regions {
        if !neighbours.is_empty() {
            sentences.push(format!("{when}: {}", region(neighbours, code, names)));
        }
    }
    sentences
}

fn region(neighbours: &[Neighbour], code: &Code, names: &mut Names) -> String {
    let mut parts: Vec<String> = neighbours
        .iter()
        .take(MOST_NEIGHBOURS)
        .map(|near| format!("{} ({:.0} %)", names.site(near.node.site, code), near.confidence * 100.0))
        .collect();
    if let Some(more) = neighbours.len().checked_sub(MOST_NEIGHBOURS).filter(|&more| more > 0) {
        parts.push(format!("and {more} more"));
    }
    parts.join(", ")
}

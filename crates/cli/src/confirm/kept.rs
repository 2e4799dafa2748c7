//! What was tried out before, beside the session's runs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use recording::Interleaving;
use report::Confirmation;
use runner::Session;

use crate::analysis::Analysis;

/// By the text form of the interleaving.
type Kept = BTreeMap<String, Confirmation>;

fn file(session: &Session) -> PathBuf {
    session.folder().join("confirmations.json")
}

fn kept(session: &Session) -> Kept {
    let text = std::fs::read(file(session)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Keeps what came of trying out an interleaving.
pub fn keep(
    session: &Session,
    interleaving: Interleaving,
    confirmation: &Confirmation,
) -> anyhow::Result<()> {
    let mut all = kept(session);
    all.insert(interleaving.to_string(), confirmation.clone());
    let path = file(session);
    std::fs::write(&path, serde_json::to_vec_pretty(&all)?).map_err(runner::Error::writing(&path))?;
    Ok(())
}

/// Puts what was tried out before into a report.
pub fn recall(session: &Session, analysis: &mut Analysis) {
    let all = kept(session);
    for (finding, interleaving) in analysis.report.findings.iter_mut().zip(&analysis.interleavings) {
        finding.confirmation = interleaving.and_then(|one| all.get(&one.to_string()).cloned());
    }
}

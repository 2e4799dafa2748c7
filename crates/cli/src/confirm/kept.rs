//! What was tried out before, beside the session's runs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use recording::Interleaving;
use report::{Confirmation, NeededOrders};
use runner::Session;
use serde::{Deserialize, Serialize};

use super::settling::settle;
use crate::analysis::Analysis;

/// By the text form of the interleaving.
type Kept = BTreeMap<String, Tried>;

/// What came of trying an interleaving out.
#[derive(Clone, Serialize, Deserialize)]
pub struct Tried {
    #[serde(flatten)]
    pub confirmation: Confirmation,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<NeededOrders>,
    /// The text form of the interleaving that explains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// The text form of all that was forced, if its own steps were not enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<String>,
}

fn file(session: &Session) -> PathBuf {
    session.folder().join("confirmations.json")
}

fn kept(session: &Session) -> Kept {
    let text = std::fs::read(file(session)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Keeps what came of trying out an interleaving.
pub fn keep(session: &Session, interleaving: Interleaving, tried: Tried) -> anyhow::Result<()> {
    let mut all = kept(session);
    all.insert(interleaving.to_string(), tried);
    let path = file(session);
    std::fs::write(&path, serde_json::to_vec_pretty(&all)?).map_err(runner::Error::writing(&path))?;
    Ok(())
}

/// Puts what was tried out before into a report, and the findings into the order that follows from it.
pub fn recall(session: &Session, analysis: &mut Analysis) {
    fill_in(session, analysis);
    settle(analysis);
}

/// Puts what was tried out before into a report whose findings are in the order of the runs alone.
pub fn fill_in(session: &Session, analysis: &mut Analysis) {
    let all = kept(session);
    let texts: Vec<Option<String>> = analysis
        .interleavings
        .iter()
        .map(|forcible| forcible.as_ref().map(|one| one.interleaving.to_string()))
        .collect();
    let forcible = analysis.interleavings.iter_mut();
    for ((finding, text), forcible) in analysis.report.findings.iter_mut().zip(&texts).zip(forcible) {
        let tried = text.as_ref().and_then(|text| all.get(text));
        let number = |explanation: &String| {
            let place = texts.iter().position(|text| text.as_ref() == Some(explanation))?;
            Some(place as u64 + 1)
        };
        finding.confirmation = tried.map(|tried| Confirmation {
            explained_by: tried.explanation.as_ref().and_then(number),
            ..tried.confirmation
        });
        finding.needs = tried.and_then(|tried| tried.needs.clone());
        if let Some(forcible) = forcible {
            forcible.whole = tried.and_then(|tried| tried.whole.as_ref()?.parse().ok());
        }
    }
}

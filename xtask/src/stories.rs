//! `cargo xtask stories`: keeps what unsnarl says about the bug of each corpus program, as data, for the test that looks
//! at the words made of it. Works on the recordings that `cargo xtask evaluate` leaves, so evaluate first.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::tool::Tool;
use crate::{truth, workspace};

/// One report in a line each, of one finding.
const KEPT: &str = "crates/report/tests/formats/stories.jsonl";

pub fn stories() -> anyhow::Result<()> {
    let tool = Tool::build()?;
    let recorded = workspace::scratch("evaluate")?.join("noise-1");
    let scratch = workspace::scratch("stories")?;
    let mut lines = String::new();
    for subject in truth::subjects()?.iter().filter(|subject| subject.truth.has_bug()) {
        let name = &subject.truth.name;
        match kept(&tool, &sessions(&recorded.join(name))?, &scratch, name)? {
            Some(line) => lines += &format!("{line}\n"),
            None => eprintln!("{name}: no recording with a finding"),
        }
    }
    if lines.is_empty() {
        bail!("{} has no recordings: run `cargo xtask evaluate` first", recorded.display());
    }
    fs::write(workspace::root().join(KEPT), lines).with_context(|| format!("cannot write {KEPT}"))?;
    let mut test = workspace::cargo();
    test.args(["test", "--package", "unsnarl-report", "--test", "formats", "stories"]);
    workspace::run(test.env("INSTA_UPDATE", "always"))
}

/// The sessions of a program.
fn sessions(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let Ok(entries) = fs::read_dir(folder.join("buggy-runs")) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The report of a program's runs with its first finding, if it has one.
fn kept(tool: &Tool, sessions: &[PathBuf], scratch: &Path, name: &str) -> anyhow::Result<Option<String>> {
    let session = match sessions {
        [] => return Ok(None),
        [only] => only.clone(),
        several => {
            let merged = scratch.join(".unsnarl").join(name);
            if merged.exists() {
                fs::remove_dir_all(&merged).with_context(|| format!("cannot delete {}", merged.display()))?;
            }
            let mut merge = tool.command();
            merge.current_dir(scratch).args(["sessions", "merge", name]).args(several);
            workspace::run_quietly(&mut merge)?;
            merged
        }
    };
    let output = tool.command().args(["report", "--json", "--session"]).arg(session).output()?;
    // Sessions without a finding have exit codes of their own.
    let report: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    let Some(report) = report else { return Ok(None) };
    Ok(if report["findings"][0].is_object() { Some(trimmed(report, name).to_string()) } else { None })
}

/// A report with what the words about its first finding are made of, and nothing that tells where it was made.
fn trimmed(mut report: Value, name: &str) -> Value {
    report["session"]["name"] = name.into();
    report["session"]["command"] = Value::Array(vec![name.into()]);
    report["session"]["started"] = "".into();
    report["session"]["wall_seconds"] = 0.into();
    report["warnings"] = Value::Array(Vec::new());
    for key in ["causes", "excerpts", "hangs"] {
        report.as_object_mut().map(|report| report.remove(key));
    }
    if let Some(findings) = report["findings"].as_array_mut() {
        findings.truncate(1);
        for key in ["comparison", "why", "failing_runs"] {
            let nothing = if key == "comparison" { Value::Null } else { Value::Array(Vec::new()) };
            findings.iter_mut().for_each(|finding| finding[key] = nothing.clone());
        }
    }
    shorten_paths(&mut report);
    report
}

/// Files of the corpus go by their names alone, and the rest of a stack is left out.
fn shorten_paths(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                match member {
                    Value::Array(frames) if key == "stack" => {
                        frames.iter_mut().for_each(shorten_paths);
                        frames.retain(|frame| {
                            frame["file"].as_str().is_some_and(|file| !file.starts_with('/'))
                        });
                    }
                    Value::String(path) if key == "file" => {
                        if let Some((_, within)) = path.split_once("/corpus/") {
                            *path = within.rsplit('/').next().unwrap_or(within).to_owned();
                        }
                    }
                    _ => shorten_paths(member),
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(shorten_paths),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_does_not_tell_where_it_was_made() {
        let report = serde_json::json!({
            "session": { "name": "draw", "command": ["/home/me/claim"], "started": "now", "wall_seconds": 3.5 },
            "warnings": ["run 3 was left out"],
            "causes": [1],
            "findings": [
                { "why": ["a"], "failing_runs": [3], "comparison": {},
                  "accesses": [{ "file": "/home/me/corpus/c/claim/queue.c", "stack": [{ "file": "/usr/include/stdio.h" }, { "file": "/home/me/corpus/c/claim/claim.c" }] }] },
                { "why": [] },
            ],
        });
        let kept = trimmed(report, "claim");
        assert_eq!(
            kept,
            serde_json::json!({
                "session": { "name": "claim", "command": ["claim"], "started": "", "wall_seconds": 0 },
                "warnings": [],
                "findings": [
                    { "why": [], "failing_runs": [], "comparison": null,
                      "accesses": [{ "file": "queue.c", "stack": [{ "file": "claim.c" }] }] },
                ],
            })
        );
    }
}

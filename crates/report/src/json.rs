//! The report as JSON, for programs. Keys come in the order of the model's fields, so equal reports are equal bytes.

use serde::Deserialize;

use crate::model::{Report, SCHEMA};
use crate::visible::is_active;
use crate::wording::plain_function;

/// Why a text is not a report.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not JSON, or a key is missing or has another type.
    #[error("not a report: {0}")]
    Syntax(#[from] serde_json::Error),
    /// The report has keys of another version.
    #[error("the report has schema {found}, but this version of unsnarl reads schema {SCHEMA}")]
    Schema {
        /// The schema the text claims.
        found: u64,
    },
}

/// Writes the report as indented JSON, ending in a newline.
///
/// Characters that a terminal would act on are escaped, so the text may be printed as it is.
pub fn to_string(report: &Report) -> String {
    let report = with_plain_functions(report.clone());
    let mut json =
        serde_json::to_string_pretty(&report).expect("the model has only string keys and writes to memory");
    json.push('\n');
    escape_active(json)
}

/// Accesses and suspicious functions name functions as a program compares them, without parameters; stacks have all of it.
fn with_plain_functions(mut report: Report) -> Report {
    let accesses = report.findings.iter_mut().flat_map(|finding| &mut finding.accesses);
    let mut names: Vec<&mut String> = accesses.filter_map(|access| access.function.as_mut()).collect();
    names.extend(report.causes.iter_mut().flat_map(|cause| &mut cause.suspicious_functions));
    names.into_iter().for_each(|name| *name = plain_function(name));
    let suspicious = report.findings.iter_mut().flat_map(|finding| &mut finding.suspicious_functions);
    suspicious.for_each(|name| *name = plain_function(name));
    report
}

/// Reads what [`to_string`] wrote. Unknown keys are ignored.
pub fn from_str(json: &str) -> Result<Report, Error> {
    #[derive(Deserialize)]
    struct Version {
        schema: u64,
    }
    // Looked at on its own first: another schema should be named, not reported as a missing key.
    let Version { schema } = serde_json::from_str(json)?;
    if schema != u64::from(SCHEMA) {
        return Err(Error::Schema { found: schema });
    }
    Ok(serde_json::from_str(json)?)
}

/// Escapes what serde_json leaves raw. Beyond ASCII, characters occur in JSON only within strings, so each may be
/// replaced where it stands; below, only the layout's own newlines are left raw.
pub(crate) fn escape_active(json: String) -> String {
    let is_raw = |character: char| character != '\n' && is_active(character);
    if !json.contains(is_raw) {
        return json;
    }
    let mut escaped = String::with_capacity(json.len() + 64);
    for character in json.chars() {
        if is_raw(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            escaped.push(character);
        }
    }
    escaped
}

//! Generated parts of the documents in docs/: what lies between `<!-- NAME:begin -->` and `<!-- NAME:end -->` is
//! written by a chore, the rest by a person.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use anyhow::Context as _;

/// Replaces the generated part `name` of a document.
pub fn update(path: &Path, name: &str, body: &str) -> anyhow::Result<()> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let text = replace(&text, name, body).with_context(|| {
        format!("{} has no part <!-- {name}:begin --> … <!-- {name}:end -->", path.display())
    })?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn replace(text: &str, name: &str, body: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- {name}:begin -->"), format!("<!-- {name}:end -->"));
    let (before, rest) = text.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n{}\n{end}{after}", body.trim_end()))
}

/// Today in UTC, as 2001-12-31.
pub fn today() -> String {
    let mut now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    now.truncate("2001-12-31".len());
    now
}

/// A row of a Markdown table.
pub fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// The head of a Markdown table: the first column is text, the others are numbers.
pub fn head(titles: &[&str]) -> String {
    let titles: Vec<String> = titles.iter().map(|&title| title.to_owned()).collect();
    let rule: Vec<String> =
        (0..titles.len()).map(|column| if column == 0 { "---" } else { "---:" }.to_owned()).collect();
    row(&titles) + &row(&rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_part_is_replaced() {
        let text = "# A\n<!-- x:begin -->\nold\n<!-- x:end -->\nkept\n<!-- y:begin --><!-- y:end -->\n";
        assert_eq!(
            replace(text, "x", "new\n\n").unwrap(),
            "# A\n<!-- x:begin -->\nnew\n<!-- x:end -->\nkept\n<!-- y:begin --><!-- y:end -->\n"
        );
        assert_eq!(replace(text, "z", "new"), None);
        let again = replace(&replace(text, "x", "new").unwrap(), "x", "new").unwrap();
        assert_eq!(replace(text, "x", "new").unwrap(), again);
    }

    #[test]
    fn tables_align_numbers() {
        assert_eq!(head(&["a", "b"]), "| a | b |\n| --- | ---: |\n");
    }
}

//! The guide's commands, run in its order: a reader who types them gets what it says.

use std::path::Path;
use std::process::Command;

use crate::kit::{Seen, UNSNARL, Workplace};

const GUIDE: &str = include_str!("../../../../docs/guide.md");

/// The blocks of the guide: what stands behind the backticks, and the text.
fn blocks() -> impl Iterator<Item = (&'static str, String)> {
    let mut lines = GUIDE.lines();
    std::iter::from_fn(move || {
        let head = lines.find_map(|line| line.strip_prefix("```"))?;
        let text = lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n"));
        Some((head, text.collect()))
    })
}

/// Has a shell do what the guide says, with `unsnarl` on the path.
fn typed(place: &Workplace, line: &str) -> Seen {
    let folder = Path::new(UNSNARL).parent().unwrap().display();
    let mut command = Command::new("sh");
    command.args(["-c", &format!("PATH={folder}:$PATH; {line}")]);
    place.settle(&mut command);
    Seen::of(line, command.output().unwrap())
}

#[test]
fn the_guide_can_be_typed() {
    let place = Workplace::new();
    let mut commands = 0;
    for (head, text) in blocks() {
        if let Some(file) = head.strip_prefix("c ") {
            place.write(file, &text);
        } else {
            assert_eq!(head, "console", "files and commands are all that the guide has");
            for line in text.lines() {
                let line = line.strip_prefix("$ ").expect("a prompt before each command");
                let seen = typed(&place, line);
                // A run whose threads ran freely may go another way when it is made again.
                if !line.contains("replay") {
                    seen.exits(0);
                }
                commands += 1;
            }
        }
    }
    assert!(commands >= 11, "{commands}");
    let report = std::fs::read_to_string(place.path(".unsnarl/seats_test/report.html")).unwrap();
    assert!(report.contains("free_seats"));
}

//! Standard output: how wide, colours or not, and what if nobody reads it.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::{Command, Stdio};

use report::terminal::View;

/// How to show reports on standard output.
pub fn view(name_technique: bool) -> View {
    let to_terminal = io::stdout().is_terminal();
    let width = if to_terminal {
        terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0))
    } else {
        100
    };
    let color = to_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    View { width, color, name_technique, ..View::default() }
}

/// Shows a text that may be long: on a terminal through the user's pager, with the settings that git gives it.
pub fn page(text: &str) -> io::Result<()> {
    let pager = std::env::var("PAGER").unwrap_or_else(|_| "less".to_owned());
    let is_none = pager.trim().is_empty() || pager.trim() == "cat";
    if is_none || !io::stdout().is_terminal() {
        return print(text);
    }
    let mut command = Command::new("sh");
    command.args(["-c", &pager]).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        // Colours, long lines cut instead of broken, and no pager at all for what fits on the screen.
        command.env("LESS", "FRSX");
    }
    let Ok(mut reader) = command.spawn() else { return print(text) };
    if let Some(mut pipe) = reader.stdin.take() {
        match pipe.write_all(text.as_bytes()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
            _ => {}
        }
    }
    // A shell that finds no pager says so with this code.
    const NOT_FOUND: i32 = 127;
    if reader.wait()?.code() == Some(NOT_FOUND) { print(text) } else { Ok(()) }
}

/// Prints a text. A reader that has seen enough, as in `unsnarl report | head`, is no trouble.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Says something beside the result. That nobody listens any more, as in `unsnarl run … 2>&1 | head`, must not keep it from being stored.
pub fn say(text: &str) {
    drop(io::stderr().lock().write_all(text.as_bytes()));
}

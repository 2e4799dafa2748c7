//! Standard output: how wide, colours or not, and what if nobody reads it.

use std::io::{self, IsTerminal as _, Write as _};

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

/// Prints a text. A reader that has seen enough, as in `unsnarl report | head`, is no trouble.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

//! What the target printed: its beginning and end, and whether a pattern occurred anywhere in it.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hasher as _};

use regex::bytes::Regex;

/// How much of an output's beginning, and of its end, is kept. Enough for any message worth reading, little
/// enough for thousands of runs of a test that prints without end.
pub const KEPT_BYTES: usize = 64 * 1024;

/// One output stream of a finished process.
#[derive(Clone, Debug, Default)]
pub struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    digest: DefaultHasher,
    /// The unfinished last line, as far as a pattern is looked for in it.
    line: Vec<u8>,
    matched: Option<String>,
}

impl Output {
    /// Takes in what was printed next. Every line, also of what is not kept, is searched for `pattern`.
    pub(crate) fn push(&mut self, bytes: &[u8], pattern: Option<&Regex>) {
        self.total += bytes.len() as u64;
        self.digest.write(bytes);
        if let Some(pattern) = pattern {
            self.search(bytes, pattern);
        }
        let to_head = bytes.len().min(KEPT_BYTES - self.head.len());
        self.head.extend_from_slice(&bytes[..to_head]);
        let rest = &bytes[to_head..];
        let rest = &rest[rest.len().saturating_sub(KEPT_BYTES)..];
        let surplus = (self.tail.len() + rest.len()).saturating_sub(KEPT_BYTES);
        self.tail.drain(..surplus);
        self.tail.extend(rest);
    }

    fn search(&mut self, bytes: &[u8], pattern: &Regex) {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            if self.matched.is_some() {
                return;
            }
            // An endless line is searched up to what would be kept of it.
            let room = KEPT_BYTES.saturating_sub(self.line.len());
            self.line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                self.end_line(pattern);
            }
        }
    }

    /// Searches the last line, which nothing more will be added to.
    pub(crate) fn end_line(&mut self, pattern: &Regex) {
        let line = self.line.trim_ascii_end();
        if self.matched.is_none() && pattern.is_match(line) {
            self.matched = Some(String::from_utf8_lossy(line).into_owned());
        }
        self.line.clear();
    }

    /// The first line in which the pattern occurred.
    pub fn matched(&self) -> Option<&str> {
        self.matched.as_deref()
    }

    /// Number of bytes printed, kept or not.
    pub fn total_bytes(&self) -> u64 {
        self.total
    }

    /// Is this, byte for byte, what was printed?
    pub fn is(&self, expected: &[u8]) -> bool {
        if self.total != expected.len() as u64 {
            return false;
        }
        let mut digest = DefaultHasher::new();
        digest.write(expected);
        digest.finish() == self.digest.finish()
    }

    /// Was all of it kept?
    pub fn is_whole(&self) -> bool {
        self.total == (self.head.len() + self.tail.len()) as u64
    }

    /// What was kept, with a line in the place of what was not.
    pub fn text(&self) -> Cow<'_, [u8]> {
        if self.tail.is_empty() {
            return Cow::Borrowed(&self.head);
        }
        let mut text = self.head.clone();
        if !self.is_whole() {
            let left_out = self.total - (self.head.len() + self.tail.len()) as u64;
            text.extend_from_slice(format!("\n[{left_out} bytes left out]\n").as_bytes());
        }
        text.extend(&self.tail);
        Cow::Owned(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(pieces: &[&[u8]], pattern: Option<&Regex>) -> Output {
        let mut output = Output::default();
        for piece in pieces {
            output.push(piece, pattern);
        }
        if let Some(pattern) = pattern {
            output.end_line(pattern);
        }
        output
    }

    #[test]
    fn short_output_is_kept_whole() {
        let output = printed(&[b"one\n", b"", b"two"], None);
        assert_eq!(&*output.text(), b"one\ntwo");
        assert!(output.is(b"one\ntwo") && output.is_whole());
        assert!(!output.is(b"one\ntwO"));
        assert!(!output.is(b"one\ntwo\n"));
    }

    #[test]
    fn of_a_flood_beginning_and_end_are_kept() {
        let flood: Vec<u8> = (0..500_000u32).map(|i| b'a' + (i % 23) as u8).collect();
        for piece_size in [1, 1000, KEPT_BYTES + 1, flood.len()] {
            let pieces: Vec<&[u8]> = flood.chunks(piece_size).collect();
            let output = printed(&pieces, None);
            let text = output.text();
            assert!(text.starts_with(&flood[..KEPT_BYTES]), "{piece_size}");
            assert!(text.ends_with(&flood[flood.len() - KEPT_BYTES..]), "{piece_size}");
            let left_out = format!("[{} bytes left out]", flood.len() - 2 * KEPT_BYTES);
            assert!(String::from_utf8_lossy(&text).contains(&left_out), "{piece_size}");
            assert!(output.is(&flood) && !output.is_whole(), "{piece_size}");
        }
    }

    #[test]
    fn a_pattern_is_found_where_nothing_is_kept_and_across_pieces() {
        let pattern = Regex::new("^lost (\\d+) items$").unwrap();
        let filler = vec![b'x'; 3 * KEPT_BYTES];
        let output = printed(&[&filler, b"\nlost ", b"17 it", b"ems\n", &filler], Some(&pattern));
        assert_eq!(output.matched(), Some("lost 17 items"));
        assert_eq!(printed(&[b"lost 3 items"], Some(&pattern)).matched(), Some("lost 3 items"));
        assert_eq!(printed(&[b"lost\n3 items"], Some(&pattern)).matched(), None);
    }
}

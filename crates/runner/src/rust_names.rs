//! Names of Rust functions as a person says them: `Pool::take` for
//! `<guard_gap::pool::Pool>::take`, and `Vec::pop` for `<alloc::vec::Vec<guard_gap::pool::Connection>>::pop`.
//!
//! A name keeps its last two parts: the function, and the type or module that it belongs to. Where a module lies, what a
//! generic function was made for, and how many closures a function has, is in the file and line that stand beside.

/// Is this a symbol of the Rust compiler's, mangled in its own way or, as it once did, like one of C++ with a hash?
pub(crate) fn is_mangled(symbol: &str) -> bool {
    let hash = symbol.strip_prefix("_ZN").and_then(|rest| rest.strip_suffix('E')?.rsplit_once("17h"));
    symbol.starts_with("_R") || hash.is_some_and(|(_, hash)| hash.len() == 16)
}

/// Shortens a demangled name.
pub(crate) fn readable(demangled: &str) -> String {
    let parts = parts(demangled);
    // Closures and the like are told by the function they are in.
    let is_named = |part: &str| !part.starts_with('{');
    let last_named = parts.iter().rposition(|part| is_named(part)).unwrap_or(0);
    let first = last_named.saturating_sub(1);
    let mut name = parts[first..=last_named.min(parts.len() - 1)].join("::");
    if let Some(inner) = parts.get(last_named + 1) {
        let what = inner.trim_matches(['{', '}']).split('#').next().unwrap_or_default();
        name.push_str(&format!("::{{{what}}}"));
    }
    name
}

/// The parts of a path, without generic arguments. An implementation counts as its type.
fn parts(path: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('<') {
            let (inside, after) = split_at_closing(inside);
            // The first is a type, `<Vec<u8> as Drop>`; those further on are arguments.
            if parts.is_empty() {
                parts = self::parts(type_of(inside));
            }
            rest = after.strip_prefix("::").unwrap_or(after);
            continue;
        }
        let end = rest.find("::").into_iter().chain(rest.find('<')).min().unwrap_or(rest.len());
        if end > 0 {
            parts.push(&rest[..end]);
        }
        rest = &rest[end..];
        rest = rest.strip_prefix("::").unwrap_or(rest);
    }
    if parts.is_empty() { vec![path] } else { parts }
}

/// What is before the bracket that closes, and what is behind it. The arrow of a function type closes nothing.
fn split_at_closing(text: &str) -> (&str, &str) {
    let mut depth = 0;
    let mut previous = ' ';
    for (at, letter) in text.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' if previous == '-' => {}
            '>' if depth == 0 => return (&text[..at], &text[at + 1..]),
            '>' => depth -= 1,
            _ => {}
        }
        previous = letter;
    }
    (text, "")
}

/// `A` of `A as B`, without what makes it a reference or a pointer.
fn type_of(implementation: &str) -> &str {
    let mut depth = 0;
    let end = implementation.char_indices().find(|&(at, letter)| {
        match letter {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        depth == 0 && implementation[at..].starts_with(" as ")
    });
    let own = &implementation[..end.map_or(implementation.len(), |(at, _)| at)];
    let own = own.trim_start_matches(['&', '*']);
    ["mut ", "const ", "dyn "].iter().fold(own, |own, prefix| own.strip_prefix(prefix).unwrap_or(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_of_rust_are_told_from_others() {
        assert!(is_mangled("_RNvCs1_4main4main") && is_mangled("_ZN4main4main17h0123456789abcdefE"));
        assert!(!is_mangled("_ZN4shop4soldE") && !is_mangled("main"));
    }

    #[test]
    fn names_keep_their_last_two_parts() {
        let cases = [
            ("main", "main"),
            ("guard_gap::main", "guard_gap::main"),
            ("<guard_gap::pool::Pool>::take", "Pool::take"),
            ("guard_gap::pool::Pool::take", "Pool::take"),
            ("<alloc::vec::Vec<guard_gap::pool::Connection>>::pop", "Vec::pop"),
            ("core::ptr::write::<guard_gap::pool::Pool>", "ptr::write"),
            (
                "<core::ops::range::Range<u32> as core::iter::traits::iterator::Iterator>::fold::<(), F>",
                "Range::fold",
            ),
            ("<*mut queue::Item>::replace", "Item::replace"),
            ("<u32 as core::cmp::PartialOrd>::lt", "u32::lt"),
            ("<fn(u8) -> u8 as core::ops::FnOnce<(u8,)>>::call_once", "FnOnce::call_once"),
            ("guard_gap::main::{closure#0}::{closure#1}", "guard_gap::main::{closure}"),
            ("<taking::Queue>::push::{closure#0}", "Queue::push::{closure}"),
            ("taking::Queue::push::{{closure}}", "Queue::push::{closure}"),
        ];
        for (demangled, expected) in cases {
            assert_eq!(readable(demangled), expected, "{demangled}");
        }
    }
}

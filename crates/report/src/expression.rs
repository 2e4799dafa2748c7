//! The expression on a source line that an access is about.
//!
//! Debug info names variables with a fixed address; what lies on the heap or on a stack is best called what the
//! programmer calls it. Compilers' columns point now at the name, now at the `=` next to it, so the line's
//! expressions are only candidates: the one whose last name all the accesses' lines share is taken.

use std::ops::Range;

/// `queue->size`, `page`, `items[i].next`: something a line might read or write, and where it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Candidate<'a> {
    text: &'a str,
    /// The last name in it: `size`, `page`, `next`.
    field: &'a str,
    end: usize,
    /// Is it what an atomic operation is done to?
    is_atomic: bool,
}

impl Candidate<'_> {
    fn is_member(&self) -> bool {
        self.text != self.field && !self.is_path()
    }

    /// Names joined by `::` alone are types and functions, or variables that debug info names.
    fn is_path(&self) -> bool {
        self.text.contains("::") && !self.text.contains(['.', '>'])
    }
}

/// Which part of its line an access to this variable is about: the expression that ends in the variable's last name,
/// or else the word that the column points at.
pub(crate) fn marked(place: Place<'_>, variable: &str) -> Option<Range<usize>> {
    let name = last_name(variable);
    let mut named = candidates(place.line);
    named.retain(|candidate| candidate.field == name);
    if named.iter().any(Candidate::is_member) {
        named.retain(Candidate::is_member);
    }
    if let Some(best) = nearest(&named, place) {
        return Some(best.end - best.text.len()..best.end);
    }
    let start = usize::try_from(place.column?).ok()?.checked_sub(1)?;
    let rest = place.line.get(start..)?;
    let word = rest.bytes().take_while(|&byte| is_name_part(byte)).count();
    let end = start + if word > 0 { word } else { rest.chars().next()?.len_utf8() };
    // A column that points at a blank points at nothing.
    (!place.line[start..end].trim().is_empty()).then_some(start..end)
}

/// The last name of an expression: `size` of `queue->items[3].size`.
pub fn last_name(expression: &str) -> &str {
    candidates(expression).first().map_or(expression, |candidate| candidate.field)
}

/// Everything on a line that might be read or written.
pub fn expressions(line: &str) -> impl Iterator<Item = &str> {
    candidates(line).into_iter().filter(|candidate| !candidate.is_path()).map(|candidate| candidate.text)
}

/// What the first method on a line is called on: `self.log` for `let sent = self.log.send(line);`.
pub fn called_on(line: &str) -> Option<&str> {
    let code = line.split("//").next().unwrap_or(line);
    let calls = code.match_indices('(').map(|(open, _)| open);
    calls.into_iter().find_map(|open| {
        let start =
            code[..open].rfind(|c: char| !(is_name_part(c as u8) && c.is_ascii() || ".>-:".contains(c)))?;
        receiver(code, start + 1, open).map(|candidate| candidate.text)
    })
}

/// An access as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The text of its line.
    pub line: &'a str,
    /// Its column, from 1, if known.
    pub column: Option<u32>,
    /// Does it write?
    pub writes: bool,
}

/// The expression by which these accesses, all to the same location, call it. None if the lines do not agree.
pub fn shared_expression(places: &[Place<'_>]) -> Option<String> {
    shared(places, false)
}

/// The same where all of them are a library's own, in calls on these lines: what is called comes first, before what it is called with,
/// as `pages` in `pages[name]` and `pages.find(name)`.
pub fn shared_operand(places: &[Place<'_>]) -> Option<String> {
    shared(places, true)
}

fn shared(places: &[Place<'_>], is_operand: bool) -> Option<String> {
    // A line that goes on with an atomic's operation does not name the atomic, and what else it names is passed to that.
    let is_whole = |place: &Place<'_>| !continued(place.line).is_some_and(is_atomic_operation);
    let whole: Vec<Place<'_>> = places.iter().copied().filter(is_whole).collect();
    let (first, rest) = whole.split_first()?;
    let mut candidates = candidates(first.line);
    for place in rest {
        let fields: Vec<&str> =
            self::candidates(place.line).iter().map(|candidate| candidate.field).collect();
        candidates.retain(|candidate| fields.contains(&candidate.field));
    }
    if candidates.iter().any(|candidate| !candidate.is_path()) {
        candidates.retain(|candidate| !candidate.is_path());
    }
    if candidates.iter().any(|candidate| candidate.is_atomic) {
        candidates.retain(|candidate| candidate.is_atomic);
    }
    if is_operand {
        let depth = |candidate: &Candidate<'_>| depth(first.line, candidate.end - candidate.text.len());
        let least = candidates.iter().map(depth).min();
        candidates.retain(|candidate| Some(depth(candidate)) == least);
    }
    // A local with the name of the field it was read from is not what threads share.
    if candidates.iter().any(Candidate::is_member) {
        candidates.retain(Candidate::is_member);
    }
    nearest(&candidates, *first).map(|candidate| candidate.text.to_owned())
}

/// How many parentheses and brackets a place in a line is in.
fn depth(line: &str, at: usize) -> usize {
    line.bytes().take(at).fold(0, |depth, byte| match byte {
        b'(' | b'[' => depth + 1,
        b')' | b']' => depth.saturating_sub(1),
        _ => depth,
    })
}

/// The candidate that the place's column means.
fn nearest<'a, 'b>(candidates: &'a [Candidate<'b>], place: Place<'_>) -> Option<&'a Candidate<'b>> {
    let column = place.column.map_or(0, |column| column.saturating_sub(1) as usize);
    // What a method does, it does to what it is called on, and not to what it is passed.
    let is_called = column.checked_sub(1).and_then(|before| place.line.as_bytes().get(before)) == Some(&b'.');
    let best = if place.writes || is_called {
        // What stands before the operator or the method's name that the column points at.
        candidates.iter().filter(|candidate| candidate.end <= column).max_by_key(|candidate| candidate.end)
    } else {
        candidates.iter().filter(|candidate| candidate.end > column).min_by_key(|candidate| candidate.end)
    };
    best.or(candidates.first())
}

/// All member expressions on a line, and whole names where it has none.
fn candidates(line: &str) -> Vec<Candidate<'_>> {
    let code = line.split("//").next().unwrap_or(line);
    let code = code.split("/*").next().unwrap_or(code);
    let bytes = code.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'"' | b'\'') => at = after_literal(bytes, at, quote),
            byte if is_name_start(byte) => {
                let (end, field) = expression_from(code, at);
                if let Some(after) = after_pattern(code, at, end) {
                    at = after;
                    continue;
                }
                // A name before a parenthesis is called, not read; what it is called on is.
                if bytes.get(end) == Some(&b'(') {
                    found.extend(receiver(code, at, end));
                } else if !is_keyword(&code[at..end]) && !is_memory_order(&code[at..end], field) {
                    found.push(Candidate { text: &code[at..end], field, end, is_atomic: false });
                    found.extend(inside_brackets(code, at, end));
                }
                at = end;
            }
            byte if byte.is_ascii_digit() => {
                while at < bytes.len() && is_name_part(bytes[at]) {
                    at += 1;
                }
            }
            _ => at += 1,
        }
    }
    found
}

/// Where a pattern ends that `let` takes something apart by: what it binds is new, so that no other thread knows it.
fn after_pattern(code: &str, start: usize, end: usize) -> Option<usize> {
    let pattern = code[end..].split_once(" = ").map(|(pattern, _)| pattern);
    let takes_apart = |pattern: &&str| pattern.contains(['(', '{']) && !pattern.contains(';');
    pattern.filter(|_| &code[start..end] == "let").filter(takes_apart).map(|pattern| end + pattern.len())
}

/// What the method that the expression from `start` to `end` ends in is called on: `self.idle` for `self.idle.lock`.
fn receiver(code: &str, start: usize, end: usize) -> Option<Candidate<'_>> {
    let call = &code[start..end];
    let length = call.rfind("->").into_iter().chain(call.rfind('.')).max()?;
    let text = call[..length].trim_end_matches('-');
    let (length, field) = expression_from(text, 0);
    let is_atomic = is_atomic_operation(call[length..].trim_start_matches(['.', '-', '>']));
    let end = start + text.len();
    (length == text.len() && !is_keyword(field)).then_some(Candidate { text, field, end, is_atomic })
}

/// Is a method of this name one of atomic variables, in C++ or Rust?
fn is_atomic_operation(method: &str) -> bool {
    ["load", "store", "exchange", "swap"].contains(&method)
        || ["fetch_", "compare_exchange", "compare_and"].iter().any(|start| method.starts_with(start))
}

/// Does it begin with a call of a method of what a line before names? What it names itself is passed to that.
pub fn is_continued(line: &str) -> bool {
    continued(line).is_some()
}

/// The method of what a line before names that a line begins with.
fn continued(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix('.').and_then(|rest| rest.split_once('(')).map(|(method, _)| method)
}

/// The expressions that index the one from `start` to `end`.
fn inside_brackets(code: &str, start: usize, end: usize) -> Vec<Candidate<'_>> {
    let bytes = code.as_bytes();
    let mut found = Vec::new();
    let mut at = start;
    while let Some(open) = code[at..end].find('[').map(|open| at + open) {
        let Some(close) = matching_bracket(bytes, open) else { break };
        let inner = candidates(&code[open + 1..close]);
        found.extend(inner.into_iter().map(|inner| Candidate { end: inner.end + open + 1, ..inner }));
        at = close;
    }
    found
}

fn after_literal(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// The longest expression from a name on: names joined by `.`, `->` or `::`, with indices. Returns its end and last name.
fn expression_from(code: &str, start: usize) -> (usize, &str) {
    let bytes = code.as_bytes();
    let name_end = |from: usize| {
        bytes[from..].iter().position(|&byte| !is_name_part(byte)).map_or(bytes.len(), |n| from + n)
    };
    let mut end = name_end(start);
    let mut field = &code[start..end];
    loop {
        let rest = &bytes[end..];
        let joint = match rest {
            [b'-', b'>', ..] | [b':', b':', ..] => 2,
            [b'.', ..] => 1,
            [b'[', ..] => match matching_bracket(bytes, end) {
                Some(close) => {
                    end = close + 1;
                    continue;
                }
                None => return (end, field),
            },
            _ => return (end, field),
        };
        // Members of Rust's tuples have numbers.
        let is_name = |&byte: &u8| is_name_start(byte) || rest[0] == b'.' && byte.is_ascii_digit();
        if !bytes.get(end + joint).is_some_and(is_name) {
            return (end, field);
        }
        let from = end + joint;
        end = name_end(from);
        field = &code[from..end];
    }
}

fn matching_bracket(bytes: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, byte) in bytes.iter().enumerate().skip(open) {
        match byte {
            b'[' => depth += 1,
            b']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn is_name_part(byte: u8) -> bool {
    is_name_start(byte) || byte.is_ascii_digit()
}

/// Is it a memory order with the name of its type before it, such as `Ordering::SeqCst` or `std::memory_order_relaxed`?
fn is_memory_order(text: &str, last: &str) -> bool {
    let is_order = || ["AcqRel", "Acquire", "Relaxed", "Release", "SeqCst"].contains(&last);
    text.contains("memory_order") || text.contains("Ordering::") && is_order()
}

/// Words that stand where an expression could, but are none: those of the languages, memory orders, and constants, which
/// are written in capitals.
fn is_keyword(word: &str) -> bool {
    const KEYWORDS: [&str; 58] = [
        "AcqRel", "Acquire", "Err", "None", "Ok", "Relaxed", "Release", "SeqCst", "Some", "as", "async",
        "auto", "await", "bool", "break", "case", "char", "const", "continue", "delete", "double", "dyn",
        "else", "enum", "false", "float", "for", "if", "in", "int", "let", "long", "loop", "match", "move",
        "mut", "new", "null", "nullptr", "pub", "ref", "return", "self", "short", "signed", "sizeof",
        "static", "struct", "super", "switch", "this", "true", "union", "unsafe", "unsigned", "void",
        "volatile", "while",
    ];
    let is_constant = word.len() > 1
        && word.bytes().any(|byte| byte.is_ascii_uppercase())
        && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    is_constant || word.starts_with("memory_order") || KEYWORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<&str> {
        candidates(line).iter().map(|candidate| candidate.text).collect()
    }

    #[test]
    fn lines_are_taken_apart_into_expressions() {
        let cases: [(&str, &[&str]); 18] = [
            ("let idle = self.idle.lock().unwrap();", &["idle", "self.idle"]),
            ("if let Some(page) = self.pages.lock().await.get(name) {", &["self.pages", "name"]),
            ("let Some((key, value)) = table.find(name) else { return };", &["table", "name"]),
            ("self.state.compare_exchange(EMPTY, PARKED, AcqRel, Relaxed)", &["self.state"]),
            ("atomic_store_explicit(&stack->head, top, memory_order_release);", &["stack->head", "top"]),
            ("vector->count_.store(7);", &["vector->count_"]),
            ("return self.len();", &[]),
            ("    int size = queue->size;  /* the size */", &["size", "queue->size"]),
            (
                "queue->items[(queue->head + n) % 8] = page;",
                &["queue->items[(queue->head + n) % 8]", "queue->head", "n", "page"],
            ),
            ("if (strcmp(name, \"x.y\") == 0)", &["name"]),
            ("self.count += Self::STEP; // count", &["self.count", "Self::STEP"]),
            ("x = 0x1fUL + 'a';", &["x"]),
            ("a.b->c[i][j].d++;", &["a.b->c[i][j].d", "i", "j"]),
            ("return;", &[]),
            ("self.0.fetch_add(1, Ordering::SeqCst);", &["self.0"]),
            ("let low = pair.1.0 + n;", &["low", "pair.1.0", "n"]),
            ("n.store(1, atomic::Ordering::Release);", &["n"]),
            ("n.store(1, std::memory_order_relaxed);", &["n"]),
        ];
        for (line, expected) in cases {
            assert_eq!(texts(line), expected, "{line}");
        }
    }

    #[test]
    fn a_library_accesses_what_it_is_called_on() {
        let place = |line, column| Place { line, column: Some(column), writes: false };
        let find = place("  auto it = accounts_.find(owner);", 28);
        let index = place("  accounts_[owner] = account;", 12);
        assert_eq!(shared_operand(&[find, index]).as_deref(), Some("accounts_"));
        assert_eq!(shared_operand(&[index, find]).as_deref(), Some("accounts_[owner]"));
        let asked = place("    if (auto it = pages.find(name); it != pages.end())", 35);
        assert_eq!(
            shared_operand(&[asked, place("    pages.emplace(name, page);", 18)]).as_deref(),
            Some("pages")
        );
        assert_eq!(shared_operand(&[]), None);
    }

    #[test]
    fn accesses_agree_on_the_field_they_share() {
        let place = |line, column, writes| Place { line, column: Some(column), writes };
        let removed = place("let waiter = self.pending.lock().unwrap().remove(&frame.id);", 43, false);
        let inserted = place("self.pending.lock().unwrap().insert(id, done);", 30, true);
        assert_eq!(shared_expression(&[removed, inserted]).as_deref(), Some("self.pending"));
        let size_read = place("    int size = queue->size;", 9, false);
        let size_write = place("        queue->size = size - 1;", 21, true);
        let other_name = place("    q->size = size + 1;", 13, true);
        assert_eq!(shared_expression(&[size_write, size_read]).as_deref(), Some("queue->size"));
        assert_eq!(shared_expression(&[size_read, size_write, size_read]).as_deref(), Some("queue->size"));
        assert_eq!(shared_expression(&[other_name, size_read]).as_deref(), Some("q->size"));
        assert_eq!(shared_expression(&[place("queue_init(&q);", 1, true), place("x = 1;", 3, true)]), None);
        assert_eq!(shared_expression(&[]), None);
        let guarded = place("{ std::lock_guard<std::mutex> guard(mutex_); count_++; }", 52, true);
        let read = place("std::lock_guard<std::mutex> guard(mutex_); return count_;", 51, false);
        assert_eq!(shared_expression(&[guarded, read]).as_deref(), Some("count_"));
        let load = place("    unsigned slot = index.load();", 31, false);
        let store = place("    index.store(slot + 1);", 16, true);
        assert_eq!(shared_expression(&[load, store]).as_deref(), Some("index"));
        let load = place("let buffer = self.buffer.load(Acquire, guard);", 14, false);
        let goes_on = place("    .swap(new.into_shared(guard), Release, guard);", 5, true);
        assert_eq!(shared_expression(&[load, goes_on]).as_deref(), Some("self.buffer"));
        assert_eq!(shared_expression(&[goes_on]), None);
    }

    #[test]
    fn methods_are_called_on_something() {
        assert_eq!(called_on("        let sent = self.log.send(line); // now"), Some("self.log"));
        assert_eq!(called_on("    if (frontier->items.empty())"), Some("frontier->items"));
        assert_eq!(called_on("    drop(lines);"), None);
        assert_eq!(called_on("    self.close();"), None);
    }

    #[track_caller]
    fn check_mark(line: &str, column: u32, writes: bool, variable: &str, expected: Option<&str>) {
        let range = marked(Place { line, column: Some(column), writes }, variable);
        assert_eq!(range.map(|range| &line[range]), expected);
    }

    #[test]
    fn the_expression_an_access_is_about_is_marked() {
        let line = "    account->balance = balance + amount;";
        check_mark(line, 22, true, "customers[30].balance", Some("account->balance"));
        check_mark("    type_ = log->type;", 13, false, "server_log.type", Some("log->type"));
        check_mark("    a.n = b.n;", 11, false, "x.n", Some("b.n"));
        check_mark("    hits++;", 9, true, "hits", Some("hits"));
    }

    #[test]
    fn without_a_name_in_common_the_word_at_the_column_is_marked() {
        check_mark("    item = queue_pop(q);", 12, false, "queue.size", Some("queue_pop"));
        check_mark("    größe = x;", 5, true, "", Some("größe"));
        check_mark("a = b;", 3, true, "4 bytes of the heap", Some("="));
        check_mark("a = b;", 2, true, "n", None);
        check_mark("a = b;", 0, true, "n", None);
        check_mark("a = b;", 7, true, "n", None);
        check_mark("größe;", 4, true, "n", None);
    }
}

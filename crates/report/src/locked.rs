//! The lock that a source line takes, as the programmer calls it.

/// The expression that names the lock taken on this line: `queue->lock` for `pthread_mutex_lock(&queue->lock);`,
/// `mutex_` for `std::lock_guard<std::mutex> guard(mutex_);`, `self.idle` for `let idle = self.idle.lock().unwrap();`.
pub fn locked_expression(line: &str) -> Option<&str> {
    let code = line.split("//").next().unwrap_or(line);
    guard_argument(code).or_else(|| receiver(code)).or_else(|| function_argument(code))
}

/// The statement of a line that has several, by a column in it that counts from one.
pub fn statement_at(line: &str, column: u32) -> &str {
    let at = (column as usize).saturating_sub(1);
    let Some((before, after)) = line.split_at_checked(at) else { return line };
    let start = before.rfind([';', '{', '}']).map_or(0, |end| end + 1);
    let end = after.find(';').map_or(line.len(), |end| at + end);
    line[start..end].trim()
}

/// The expression that names the condition that is waited for or signalled on this line: `queue->filled` for
/// `pthread_cond_wait(&queue->filled, &queue->lock);`, `self.added` for `queue = self.added.wait(queue).unwrap();`.
pub fn condition_expression(line: &str) -> Option<&str> {
    const METHODS: [&str; 8] = [
        ".wait(",
        ".wait_for(",
        ".wait_while(",
        ".wait_timeout(",
        ".notify_one(",
        ".notify_all(",
        "->wait(",
        "->notify",
    ];
    let code = line.split("//").next().unwrap_or(line);
    let words = ["cond", "cnd", "wait", "signal"];
    called_on_one_of(code, &METHODS)
        .or_else(|| argument_of(code, |name| words.iter().any(|word| name.contains(word))))
}

/// The variable that a line of Rust binds: `idle` for `let mut idle = self.idle.lock().unwrap();`.
pub fn binding(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("let ")?.trim_start();
    let rest = rest.strip_prefix("mut ").unwrap_or(rest).trim_start();
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
    let is_bound = rest[end..].trim_start().starts_with(['=', ':']);
    (end > 0 && is_bound).then(|| &rest[..end])
}

/// C++: what a guard object is made from.
fn guard_argument(code: &str) -> Option<&str> {
    const GUARDS: [&str; 4] = ["lock_guard", "unique_lock", "scoped_lock", "shared_lock"];
    let (at, guard) = GUARDS.iter().find_map(|guard| Some((code.find(guard)?, guard)))?;
    let mut rest = &code[at + guard.len()..];
    if rest.starts_with('<') {
        rest = &rest[closing(rest, '<', '>')? + 1..];
    }
    first_argument(&rest[rest.find(['(', '{'])? + 1..])
}

/// Rust and C++: what a method is called on.
fn receiver(code: &str) -> Option<&str> {
    const METHODS: [&str; 8] = [
        ".lock()",
        ".read()",
        ".write()",
        ".try_lock()",
        "->lock()",
        ".lock_shared()",
        "->lock_shared()",
        ".upgradable_read()",
    ];
    called_on_one_of(code, &METHODS)
}

fn called_on_one_of<'a>(code: &'a str, methods: &[&str]) -> Option<&'a str> {
    let at = methods.iter().filter_map(|method| code.find(method)).min()?;
    let start = code[..at].rfind(|c: char| !is_part(c)).map_or(0, |before| before + 1);
    let name = code[start..at].trim_start_matches(['>', '-', '.', '&', '*']);
    (!name.is_empty()).then_some(name)
}

/// C: the first argument of a function that locks.
fn function_argument(code: &str) -> Option<&str> {
    argument_of(code, |name| {
        let locks = name.contains("lock") || name.contains("mutex") || name.contains("mtx");
        locks && !name.contains("unlock")
    })
}

/// The first argument of the first function whose name is meant.
fn argument_of(code: &str, is_meant: impl Fn(&str) -> bool) -> Option<&str> {
    let mut from = 0;
    while let Some(open) = code[from..].find('(').map(|at| from + at) {
        let start =
            code[..open].rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |before| before + 1);
        let name = code[start..open].to_ascii_lowercase();
        if is_meant(&name) {
            return first_argument(&code[open + 1..]);
        }
        from = open + 1;
    }
    None
}

/// Up to a comma or the closing parenthesis, without `&`.
fn first_argument(rest: &str) -> Option<&str> {
    let mut depth = 0usize;
    let end = rest.find(|c: char| match c {
        '(' | '[' | '{' => {
            depth += 1;
            false
        }
        ')' | ']' | '}' if depth > 0 => {
            depth -= 1;
            false
        }
        ')' | '}' => true,
        ',' => depth == 0,
        _ => false,
    })?;
    let argument = rest[..end].trim().trim_start_matches(['&', '*']).trim();
    (!argument.is_empty()).then_some(argument)
}

fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(at, c)| {
        depth += i32::from(c == open) - i32::from(c == close);
        (depth == 0).then_some(at)
    })
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || "_.>-[]:".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_have_names() {
        assert_eq!(binding("    let mut idle = self.idle.lock().unwrap();"), Some("idle"));
        assert_eq!(binding("let pixels: Guard<'_> = self.pixels.read();"), Some("pixels"));
        assert_eq!(binding("let (a, b) = pair();"), None);
        assert_eq!(binding("idle = self.idle.lock();"), None);
    }

    #[test]
    fn of_a_line_with_two_locks_the_column_says_which() {
        let line = "{ std::lock_guard<std::mutex> g(countMutex_); count_++; } { std::lock_guard<std::mutex> g(sumMutex_); }";
        let named = |column| locked_expression(statement_at(line, column));
        assert_eq!(named(33), Some("countMutex_"));
        assert_eq!(named(90), Some("sumMutex_"));
        assert_eq!(named(50), None, "count_++");
        assert_eq!(statement_at("lock(&a);", 99), "lock(&a);");
    }

    #[test]
    fn conditions_are_named_as_the_source_names_them() {
        let cases = [
            ("    pthread_cond_wait(&queue->filled, &queue->lock);", Some("queue->filled")),
            ("    queue = self.added.wait(queue).unwrap();", Some("self.added")),
            ("    cv_.notify_all(); // done", Some("cv_")),
            ("    ready->notify_one();", Some("ready")),
            ("    cnd_signal(&ready);", Some("ready")),
            ("    count++;", None),
        ];
        for (line, expected) in cases {
            assert_eq!(condition_expression(line), expected, "{line}");
        }
    }

    #[test]
    fn locks_are_named_as_the_source_names_them() {
        let cases = [
            ("    pthread_mutex_lock(&queue->lock); // take it", Some("queue->lock")),
            ("    std::lock_guard<std::mutex> guard(mutex_);", Some("mutex_")),
            ("    std::unique_lock lock{shards[i % 4].mutex, std::defer_lock};", Some("shards[i % 4].mutex")),
            ("    const std::lock_guard<Lock<int>> guard(other.mutex_);", Some("other.mutex_")),
            ("        let mut idle = self.idle.lock().unwrap();", Some("self.idle")),
            ("        if account->mutex.try_lock() {", Some("account->mutex")),
            ("    if (pthread_mutex_trylock(&locks[n]) == 0)", Some("locks[n]")),
            ("    mtx_lock(&m);", Some("m")),
            ("    queue_lock(q);", Some("q")),
            ("    count++;", None),
            ("    pthread_mutex_unlock(&lock);", None),
            ("    lock(", None),
        ];
        for (line, expected) in cases {
            assert_eq!(locked_expression(line), expected, "{line}");
        }
    }
}

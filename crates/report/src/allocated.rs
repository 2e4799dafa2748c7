//! What a source line allocates and for what, as the programmer calls it.

/// What a line of code allocates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocated<'a> {
    /// The name of its type, without namespaces.
    pub type_name: &'a str,
    /// How many bytes of the block come before it: the counts of a shared pointer.
    pub offset: u32,
}

/// `Metrics` for `metrics_ = new Metrics;`, `node` for `malloc(sizeof(struct node))` and for
/// `struct node *n = malloc(sizeof *n);`, `Shared` for `Arc::new(Shared {`. None for arrays, and where the type is not on the line.
pub fn allocated_type(line: &str) -> Option<Allocated<'_>> {
    let code = line.split("//").next().unwrap_or(line);
    let plain = |type_name| Allocated { type_name, offset: 0 };
    for (function, offset) in [("Arc::new(", 16), ("Box::new(", 0)] {
        if let Some((_, made)) = code.split_once(function) {
            return rust_type(made).map(|type_name| Allocated { type_name, offset });
        }
    }
    if let Some(made) = after_word(code, "new") {
        let (name, rest) = type_name(made)?;
        return (!rest.trim_start().starts_with('[')).then_some(plain(name));
    }
    for (function, offset) in [("make_unique<", 0), ("make_shared<", 16)] {
        if let Some((_, made)) = code.split_once(function) {
            let (type_name, rest) = type_name(made)?;
            return (!rest.trim_start().starts_with('[')).then_some(Allocated { type_name, offset });
        }
    }
    let measured = after_word(code, "sizeof")?.trim_start_matches(['(', ' ']);
    match measured.strip_prefix('*') {
        Some(variable) => declared_type(code, leading_name(variable)?).map(plain),
        None => type_name(measured).map(|(name, _)| plain(name)),
    }
}

/// The variable or member to which a line gives what it allocates: `results` for `std::vector<int> results(6);`, `slots` for
/// `let slots = vec![0; 4];`, `buffer_` for `this->buffer_ = malloc(size);`. None where that cannot be told.
pub fn allocated_for(line: &str) -> Option<&str> {
    let code = line.split("//").next().unwrap_or(line).trim();
    let name = after_word(code, "let")
        .map(|declared| declared.trim_start().strip_prefix("mut ").unwrap_or(declared))
        .and_then(leading_name)
        .or_else(|| assigned(code))
        .or_else(|| constructed(code))?;
    const NO_VARIABLES: [&str; 3] = ["auto", "return", "new"];
    (!NO_VARIABLES.contains(&name)).then_some(name)
}

/// The last name on the left of an assignment.
fn assigned(code: &str) -> Option<&str> {
    let equals = code.find('=')?;
    let (left, right) = (&code[..equals], &code[equals + 1..]);
    let is_assignment =
        !left.ends_with(['!', '<', '>', '+', '-', '*', '/', '|', '&']) && !right.starts_with(['=', '>']);
    trailing_name(left.trim_end()).filter(|_| is_assignment && !left.contains(['(', '{']))
}

/// The name in `Type name(…);` or `Type name{…};`: a type stands before it, and the line ends with it.
fn constructed(code: &str) -> Option<&str> {
    let statement = code.strip_suffix(';')?.trim_end();
    let closed = [(')', '('), ('}', '{')].into_iter().find(|(close, _)| statement.ends_with(*close))?;
    let declared = &statement[..statement.find(closed.1)?];
    let name = trailing_name(declared)?;
    let before = declared.strip_suffix(name)?;
    let type_end = before.trim_end_matches(['*', '&']);
    let is_declaration =
        before.ends_with([' ', '*', '&']) && type_end.trim_end().ends_with(|c| is_name_part(c) || c == '>');
    let is_statement =
        matches!(type_end.trim(), "return" | "throw" | "delete" | "else" | "co_return" | "co_await");
    (is_declaration && !is_statement).then_some(name)
}

/// The name that code ends with, an index behind it left out.
fn trailing_name(code: &str) -> Option<&str> {
    let code = match code.strip_suffix(']') {
        Some(indexed) => &indexed[..indexed.find('[')?],
        None => code,
    };
    let start = code.rfind(|c| !is_name_part(c)).map_or(0, |before| before + 1);
    leading_name(&code[start..])
}

/// What stands behind a word.
fn after_word<'a>(code: &'a str, word: &str) -> Option<&'a str> {
    code.match_indices(word).find_map(|(at, _)| {
        let rest = &code[at + word.len()..];
        let is_whole = !code[..at].ends_with(is_name_part) && !rest.starts_with(is_name_part);
        is_whole.then_some(rest)
    })
}

/// The type in `Shared { … }`, `Shared::new(…)` or `store::Shared::default()`, unless it is one of the library's that hold another: types of
/// this name differ in what that is.
fn rust_type(made: &str) -> Option<&str> {
    const HOLDERS: [&str; 7] = ["Mutex", "RwLock", "RefCell", "Cell", "UnsafeCell", "Some", "Option"];
    let end = made.find(['{', '(', '<']).unwrap_or(made.len());
    let mut path = made[..end].split("::").map(str::trim);
    let is_type = |name: &&str| name.starts_with(|first: char| first.is_ascii_uppercase());
    let name = path.find(is_type).filter(|name| name.chars().all(is_name_part))?;
    (!HOLDERS.contains(&name)).then_some(name)
}

/// The last part of a type's name, and what follows it.
fn type_name(code: &str) -> Option<(&str, &str)> {
    let code = code.trim_start();
    let code = code.strip_prefix("struct ").unwrap_or(code).trim_start();
    let name = leading_name(code)?;
    let rest = &code[name.len()..];
    match rest.strip_prefix("::") {
        Some(inner) => type_name(inner),
        None => Some((name, rest)),
    }
}

/// The type in the declaration of a pointer: `node` in `struct node *n = …`.
fn declared_type<'a>(code: &'a str, variable: &str) -> Option<&'a str> {
    let (before, _) = code.split_once('=')?;
    let declared = before.trim_end().strip_suffix(variable)?.trim_end().strip_suffix('*')?.trim_end();
    let start = declared.rfind(|c| !is_name_part(c)).map_or(0, |before| before + 1);
    leading_name(&declared[start..])
}

fn leading_name(code: &str) -> Option<&str> {
    let code = code.trim_start();
    let end = code.find(|c| !is_name_part(c)).unwrap_or(code.len());
    (end > 0 && !code.starts_with(|c: char| c.is_ascii_digit())).then(|| &code[..end])
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read_off_the_allocation() {
        let cases = [
            ("    std::vector<std::atomic<int>> results(6); // jobs", Some("results")),
            ("    std::vector<int> names{1, 2};", Some("names")),
            ("    let slots: Vec<AtomicU32> = (0..8).map(AtomicU32::new).collect();", Some("slots")),
            ("    let mut log = Vec::new();", Some("log")),
            ("    this->buffer_ = (char *)malloc(size);", Some("buffer_")),
            ("    int *counts = calloc(n, sizeof *counts);", Some("counts")),
            ("    queue->items[tail] = make_item(3);", Some("items")),
            ("    auto pool = std::make_shared<net::Pool>(4);", Some("pool")),
            ("    Pool *const pool(new Pool);", Some("pool")),
            ("    return make_unique<Pool>(3);", None),
            ("    throw Refused(3);", None),
            ("    if ((n = malloc(size)) == NULL)", None),
            ("    if (count == limit) grow(3);", None),
            ("    jobs.push_back(job);", None),
            ("    start(3);", None),
            ("    |n| Node::new(n)", None),
        ];
        for (line, expected) in cases {
            assert_eq!(allocated_for(line), expected, "{line}");
        }
    }

    #[test]
    fn types_are_read_off_the_allocation() {
        let cases = [
            ("    Metrics *metrics_ = new Metrics;", Some(("Metrics", 0))),
            ("    auto *n = new list::Node<int>(3); // new Other", Some(("Node", 0))),
            ("    names = new std::string[8];", None),
            ("    auto pool = std::make_shared<net::Pool>(4);", Some(("Pool", 16))),
            ("    auto pool = std::make_unique<Pool>();", Some(("Pool", 0))),
            ("    struct node *n = malloc(sizeof *n);", Some(("node", 0))),
            ("    buffer_t *b = calloc(1, sizeof(*b));", Some(("buffer_t", 0))),
            ("    n->next = malloc(sizeof(struct node));", Some(("node", 0))),
            ("    n = malloc(sizeof *n);", None),
            ("    renewed(3);", None),
            ("    let shared = Arc::new(Shared {", Some(("Shared", 16))),
            ("    let pool = Arc::new(net::Pool::new(4));", Some(("Pool", 16))),
            ("    let node = Box::new(Node::<u32>::default());", Some(("Node", 0))),
            ("    let total = Arc::new(Mutex::new(0));", None),
            ("    let done = Arc::new(done);", None),
        ];
        for (line, expected) in cases {
            let found = allocated_type(line).map(|found| (found.type_name, found.offset));
            assert_eq!(found, expected, "{line}");
        }
    }
}

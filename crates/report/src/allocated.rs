//! The type of what a source line allocates, as the programmer calls it.

/// What a line of C or C++ allocates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocated<'a> {
    /// The name of its type, without namespaces.
    pub type_name: &'a str,
    /// How many bytes of the block come before it: the counts of a shared pointer.
    pub offset: u32,
}

/// `Metrics` for `metrics_ = new Metrics;`, `node` for `malloc(sizeof(struct node))` and for
/// `struct node *n = malloc(sizeof *n);`. None for arrays, and where the type is not on the line.
pub fn allocated_type(line: &str) -> Option<Allocated<'_>> {
    let code = line.split("//").next().unwrap_or(line);
    let plain = |type_name| Allocated { type_name, offset: 0 };
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

/// What stands behind a word.
fn after_word<'a>(code: &'a str, word: &str) -> Option<&'a str> {
    code.match_indices(word).find_map(|(at, _)| {
        let rest = &code[at + word.len()..];
        let is_whole = !code[..at].ends_with(is_name_part) && !rest.starts_with(is_name_part);
        is_whole.then_some(rest)
    })
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
        ];
        for (line, expected) in cases {
            let found = allocated_type(line).map(|found| (found.type_name, found.offset));
            assert_eq!(found, expected, "{line}");
        }
    }
}

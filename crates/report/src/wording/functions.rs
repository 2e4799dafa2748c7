//! Functions as a person calls them.

/// The name of a function, marked as one unless it shows its parameters already, as demangled C++ names do.
pub(crate) fn function(name: &str) -> String {
    if name.contains('(') { name.to_owned() } else { format!("{name}()") }
}

/// The same without template arguments, parameters and return type, where these can be told from the name:
/// `void Cache<int>::insert(int const&)` is `Cache::insert()`.
pub fn brief_function(name: &str) -> String {
    if let Some(inner) = nameless(name) {
        return match inner.outer {
            Some(outer) => format!("a {} in {}", inner.noun, brief_function(outer)),
            None => format!("a {}", inner.noun),
        };
    }
    bare_name(name).map_or_else(|| function(name), |bare| format!("{bare}()"))
}

/// The name of a function with all that belongs to it, as long as that can be read at a glance: what templates of C++ are instantiated with
/// fills lines.
pub(crate) fn short_function(name: &str) -> String {
    const LONGEST: usize = 60;
    let whole = function(name);
    if whole.chars().count() <= LONGEST {
        return whole;
    }
    match operator(name) {
        Some(operator) => operator,
        None => brief_function(name),
    }
}

/// `std::map::operator[]()` for one of a class template.
fn operator(name: &str) -> Option<String> {
    const OPERATOR: &str = "::operator";
    let at = name.find(OPERATOR)?;
    let symbol = &name[at + OPERATOR.len()..];
    let symbol = if symbol.starts_with("()") { "()" } else { symbol.split('(').next()? };
    Some(format!("{}{OPERATOR}{symbol}()", bare_name(&name[..at])?))
}

/// Its name and nothing else, for programs to compare: `Cache::insert` for `void Cache<int>::insert(int const&)`. What has no name of its own
/// stays as it is.
pub(crate) fn plain_function(name: &str) -> String {
    let bare = if nameless(name).is_some() { None } else { bare_name(name) };
    bare.unwrap_or_else(|| name.to_owned())
}

/// The same for a title: `worker`, `lambda in Pool::loop`.
pub(crate) fn function_title(name: &str) -> String {
    match nameless(name) {
        Some(Nameless { noun, outer: Some(outer) }) => format!("{noun} in {}", function_title(outer)),
        Some(Nameless { noun, outer: None }) => noun.to_owned(),
        None => bare_name(name).unwrap_or_else(|| name.to_owned()),
    }
}

/// A function without a name of its own, and the one that it stands in.
struct Nameless<'a> {
    noun: &'static str,
    outer: Option<&'a str>,
}

fn nameless(name: &str) -> Option<Nameless<'_>> {
    if name == "operator()" {
        return Some(Nameless { noun: "lambda", outer: None });
    }
    // The last one is the innermost; what follows it is how compilers call what is called in it.
    let lambda = name.rfind("::{lambda").map(|at| ("lambda", at));
    let closure = name.rfind("::{closure").map(|at| ("closure", at));
    let (noun, at) = lambda.or(closure)?;
    Some(Nameless { noun, outer: Some(&name[..at]) })
}

/// The type, or else the namespace or module, that a function belongs to, by its own name: `Stock` for
/// `shop::Stock::is_empty() const`.
pub fn enclosing_type(name: &str) -> Option<String> {
    let outer = nameless(name).and_then(|inner| inner.outer);
    let bare = bare_name(outer.unwrap_or(name))?;
    let (path, _) = bare.rsplit_once("::")?;
    Some(path.rsplit("::").next().unwrap_or(path).to_owned())
}

fn bare_name(name: &str) -> Option<String> {
    if let Some(method) = rust_method(name) {
        return Some(method);
    }
    // These begin with, or contain, brackets that are part of the name.
    if name.starts_with(['<', '(']) || name.contains("operator") || name.contains("{lambda") {
        return None;
    }
    let mut bare = String::new();
    let mut depth = 0usize;
    for character in name.chars() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.checked_sub(1)?,
            '(' if depth == 0 => break,
            _ if depth == 0 => bare.push(character),
            _ => {}
        }
    }
    let bare = bare.split_whitespace().last()?.trim_end_matches("::");
    (depth == 0).then(|| bare.to_owned())
}

/// `Pool::take` for `<pool::Pool>::take` and `<pool::Pool as Take>::take`.
fn rust_method(name: &str) -> Option<String> {
    let rest = name.strip_prefix('<')?;
    let mut depth = 1usize;
    let close = rest.char_indices().find_map(|(at, character)| {
        match character {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })?;
    let (owner, method) = (&rest[..close], rest[close + 1..].strip_prefix("::")?);
    let owner = owner.split(" as ").next().unwrap_or(owner);
    // Arrays, references and the like have no name to be called by.
    let is_path = owner.starts_with(|character: char| character.is_alphabetic() || character == '_');
    let owner = is_path.then(|| bare_name(owner))??;
    let owner = owner.rsplit("::").next().unwrap_or(&owner);
    Some(format!("{owner}::{}", bare_name(method)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_function(name: &str, brief: &str) {
        assert_eq!(brief_function(name), brief);
    }

    #[test]
    fn programs_get_plain_names() {
        let check = |name: &str, plain: &str| assert_eq!(plain_function(name), plain);
        check("take_one", "take_one");
        check("Tokens::spend()", "Tokens::spend");
        check("void Cache<int>::insert(int const&)", "Cache::insert");
        check("<pool::Pool<T>>::take", "Pool::take");
        check("main::{lambda()#1}::operator()() const", "main::{lambda()#1}::operator()() const");
        check("Point::operator+(Point const&)", "Point::operator+(Point const&)");
    }

    #[test]
    fn what_fills_lines_is_shortened() {
        let check = |name: &str, short: &str| assert_eq!(short_function(name), short);
        check("Cache<int>::insert(int const&)", "Cache<int>::insert(int const&)");
        let tree = "std::_Rb_tree<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, int>";
        check(&format!("{tree}::_S_left(std::_Rb_tree_node_base*)"), "std::_Rb_tree::_S_left()");
        check(&format!("{tree}::operator[](int const&)"), "std::_Rb_tree::operator[]()");
        check(&format!("main::{{lambda({tree})#1}}::operator()({tree}) const"), "a lambda in main()");
    }

    #[test]
    fn functions_are_named_briefly() {
        check_function("take_one", "take_one()");
        check_function("queue::pop(int, char const*) const", "queue::pop()");
        check_function(
            "std::vector<int, std::allocator<int> >::push_back(int&&)",
            "std::vector::push_back()",
        );
        check_function("void drain<queue<int> >(queue<int>&)", "drain()");
        check_function("alloc::vec::Vec<T,A>::push", "alloc::vec::Vec::push()");
        check_function("worker::{closure#0}", "a closure in worker()");
        check_function("main::{lambda(int)#1}::_FUN(int)", "a lambda in main()");
        check_function("Pool::loop()::{lambda()#1}::operator()() const", "a lambda in Pool::loop()");
        check_function("operator()", "a lambda");
        assert_eq!(function_title("Pool::loop()::{lambda()#1}::operator()() const"), "lambda in Pool::loop");
        assert_eq!(function_title("queue::pop(int)"), "queue::pop");
        check_function("<pool::Pool<T>>::take", "Pool::take()");
        check_function("<queue::Queue as core::ops::Drop>::drop", "Queue::drop()");
        check_function("core::sync::atomic::atomic_load::<usize>", "core::sync::atomic::atomic_load()");
        check_function("<[T]>::len", "<[T]>::len()");
    }

    #[test]
    fn functions_belong_to_types() {
        assert_eq!(enclosing_type("shop::Stock::is_empty() const").as_deref(), Some("Stock"));
        assert_eq!(enclosing_type("Vector<int>::push(int&&)").as_deref(), Some("Vector"));
        assert_eq!(enclosing_type("<pool::Pool<T>>::take").as_deref(), Some("Pool"));
        assert_eq!(enclosing_type("Pool::loop()::{lambda()#1}::operator()() const").as_deref(), Some("Pool"));
        assert_eq!(enclosing_type("main"), None);
    }

    #[test]
    fn a_name_that_cannot_be_taken_apart_is_left_whole() {
        check_function("(anonymous namespace)::pop(int)", "(anonymous namespace)::pop(int)");
        check_function("queue::operator()(int)", "queue::operator()(int)");
        check_function("a>b", "a>b()");
        check_function("a<b", "a<b()");
    }
}

//! Calls into the Java library that read or change all of an array. They are told where code under test makes them, as
//! accesses at that line.

use crate::recorder::Kind;

/// What a call of this method does to the elements of the array it is made on, or that is its first argument.
pub fn on_elements(class: &str, method: &str, is_static: bool) -> Option<Kind> {
    match (class, method, is_static) {
        ("java/util/Arrays", "copyOf" | "copyOfRange", true) => Some(Kind::Read),
        ("java/util/Arrays", "fill" | "setAll", true) => Some(Kind::Write),
        ("java/util/Arrays", "sort", true) => Some(Kind::Update),
        (_, "clone", false) if class.starts_with('[') => Some(Kind::Read),
        _ => None,
    }
}

/// The types of a method's parameters, each by the letter of the instructions that load and store it.
pub fn parameters(descriptor: &str) -> Option<Vec<u8>> {
    let inner = descriptor.strip_prefix('(')?.split_once(')')?.0.as_bytes();
    let mut types = Vec::new();
    let mut at = 0;
    while at < inner.len() {
        let begin = at;
        while inner.get(at) == Some(&b'[') {
            at += 1;
        }
        at += match inner.get(at)? {
            b'L' => inner[at..].iter().position(|&byte| byte == b';')? + 1,
            _ => 1,
        };
        types.push(match inner[begin] {
            b'J' | b'F' | b'D' => inner[begin],
            b'[' | b'L' => b'A',
            _ => b'I',
        });
    }
    Some(types)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_told_by_how_they_are_stored() {
        assert_eq!(parameters("(ILjava/lang/String;[[JDZ)V").unwrap(), b"IAADI");
        assert_eq!(parameters("()V").unwrap(), b"");
        assert_eq!(parameters("(Lunfinished"), None);
    }

    #[test]
    fn only_calls_about_arrays_count() {
        assert_eq!(on_elements("[I", "clone", false), Some(Kind::Read));
        assert_eq!(on_elements("java/lang/Object", "clone", false), None);
        assert_eq!(on_elements("java/util/Arrays", "asList", true), None);
    }
}

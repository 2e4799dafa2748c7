//! Values as a person would write them.

use localize::Access;
use runner::ValueForm;

/// How the values of a location read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// By its type in debug info.
    Native(ValueForm),
    /// By the first letter of its descriptor.
    Java(char),
    /// As numbers: the type is not known.
    Number,
}

/// What an access read or wrote, as recorded.
#[derive(Clone, Debug)]
pub struct RawValues {
    /// The value read or written.
    pub value: Option<u64>,
    /// The value that a write found before it.
    pub before: Option<u64>,
    /// Bytes.
    pub size: u32,
    /// What begins where these point, if they are pointers.
    pub points_to: [Option<String>; 2],
}

/// An access as a finding tells it whose accesses have these `places` in a run. What is concluded to have come in another order than there, as
/// where these do not ascend, had other values then.
pub fn as_told(access: &Access, places: &[usize]) -> Access {
    match places.is_sorted() {
        true => *access,
        false => Access { value: None, before: None, ..*access },
    }
}

impl RawValues {
    /// The value read or written as a number.
    pub fn number(&self) -> Option<String> {
        self.value.map(|value| show_number(value, self.size))
    }

    /// The same as its type writes it; none if the type is not known.
    pub fn shown(&self, form: &Form) -> Option<String> {
        self.show(self.value?, &self.points_to[0], form)
    }

    /// The value before a write as its type writes it, or as a number.
    pub fn old(&self, form: &Form) -> Option<String> {
        let before = self.before?;
        Some(self.show(before, &self.points_to[1], form).unwrap_or_else(|| show_number(before, self.size)))
    }

    fn show(&self, value: u64, points_to: &Option<String>, form: &Form) -> Option<String> {
        match form {
            Form::Native(form) => form.show(value, self.size, |_| points_to.clone()),
            Form::Java(letter) => Some(show_java(value, *letter)),
            Form::Number => None,
        }
    }
}

/// A value as a number of its size; what can only be a pointer in hexadecimal.
fn show_number(value: u64, size: u32) -> String {
    let signed = match size {
        1 => i64::from(value as i8),
        2 => i64::from(value as i16),
        4 => i64::from(value as i32),
        _ => value as i64,
    };
    const PLAUSIBLE_NUMBER: u64 = 1 << 40;
    if signed.unsigned_abs() < PLAUSIBLE_NUMBER { signed.to_string() } else { format!("{value:#x}") }
}

/// A value of a Java field or array element; `letter` is the first of its descriptor.
fn show_java(value: u64, letter: char) -> String {
    match letter {
        'Z' => (value != 0).to_string(),
        'B' => (value as i8).to_string(),
        'S' => (value as i16).to_string(),
        'C' => match char::from_u32(value as u32 & 0xffff) {
            Some(letter) if !letter.is_control() => format!("'{letter}'"),
            _ => format!("'\\u{:04x}'", value & 0xffff),
        },
        'I' => (value as i32).to_string(),
        'F' => f32::from_bits(value as u32).to_string(),
        'D' => f64::from_bits(value).to_string(),
        // Objects are told apart by a number that the recorder gives them.
        'L' | '[' if value == 0 => "null".to_owned(),
        'L' | '[' => format!("object {value}"),
        _ => (value as i64).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use localize::{AccessKind, LocationId, SiteId, StackId, ThreadId};

    use super::*;

    #[test]
    fn values_of_another_order_are_not_told() {
        let access = Access {
            thread: ThreadId(1),
            location: LocationId(1),
            site: SiteId(1),
            stack: StackId(1),
            kind: AccessKind::Write,
            uncertain: false,
            value: Some(1),
            before: Some(0),
            locks: None,
            iteration: None,
            atomic: false,
            frees: false,
        };
        let told = |places: &[usize]| {
            let told = as_told(&access, places);
            (told.value, told.before, told.site)
        };
        assert_eq!(told(&[3, 4]), (Some(1), Some(0), SiteId(1)));
        assert_eq!(told(&[4, 3]), (None, None, SiteId(1)));
    }

    #[test]
    fn values_read_as_numbers_of_their_size() {
        assert_eq!(show_number(0xff, 1), "-1");
        assert_eq!(show_number(0xff, 2), "255");
        assert_eq!(show_number(0xffff_fffe, 4), "-2");
        assert_eq!(show_number(41, 8), "41");
        assert_eq!(show_number(1 << 63, 8), "0x8000000000000000");
        assert_eq!(show_number(0x7f12_3456_7890, 8), "0x7f1234567890");
    }

    #[test]
    fn java_values_read_as_their_type() {
        assert_eq!(show_java(1, 'Z'), "true");
        assert_eq!(show_java(0xffff_ffff, 'I'), "-1");
        assert_eq!(show_java(u64::from(b'x'), 'C'), "'x'");
        assert_eq!(show_java(7, 'C'), "'\\u0007'");
        assert_eq!(show_java(1.5f64.to_bits(), 'D'), "1.5");
        assert_eq!(show_java(0, 'L'), "null");
        assert_eq!(show_java(3, 'L'), "object 3");
    }

    #[test]
    fn a_pointer_is_what_it_points_to() {
        let raw = RawValues {
            value: Some(0x5500),
            before: Some(0),
            size: 8,
            points_to: [Some("&queue".to_owned()), None],
        };
        let form = Form::Native(ValueForm::Pointer("NULL"));
        assert_eq!(raw.shown(&form).as_deref(), Some("&queue"));
        assert_eq!(raw.old(&form).as_deref(), Some("NULL"));
        assert_eq!(raw.shown(&Form::Number), None);
        assert_eq!((raw.number().as_deref(), raw.old(&Form::Number).as_deref()), (Some("21760"), Some("0")));
    }
}

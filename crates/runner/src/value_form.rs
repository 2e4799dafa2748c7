//! How the values of a type read: `true`, `'x'`, `LOG_CLOSED`, `NULL`, rather than numbers.

/// The form of a value that fits into eight bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueForm {
    /// `true` or `false`.
    Bool,
    /// A letter.
    Char,
    /// A number that may be negative.
    Signed,
    /// A number that may not.
    Unsigned,
    /// A floating-point number.
    Float,
    /// An address; null is called by this word.
    Pointer(&'static str),
    /// One of some named numbers, or several of them added where each is a bit.
    Enum(Vec<(u64, String)>),
    /// Which variant of a Rust enum it is; what is none of the numbers is the variant `other`, in whose place such a
    /// value stands.
    Variant {
        /// The variants with numbers of their own.
        named: Vec<(u64, String)>,
        /// The variant that has all other numbers.
        other: Option<String>,
    },
}

impl ValueForm {
    /// The value as a person writes it; none if it is not one of this form. `name_of` names what is at an address.
    pub fn show(&self, value: u64, size: u32, name_of: impl FnOnce(u64) -> Option<String>) -> Option<String> {
        let bits = 8 * size.clamp(1, 8);
        let value = value & (u64::MAX >> (64 - bits));
        let signed = (value << (64 - bits)) as i64 >> (64 - bits);
        match self {
            Self::Bool => match value {
                0 => Some("false".to_owned()),
                1 => Some("true".to_owned()),
                _ => None,
            },
            Self::Char => {
                let letter = char::from_u32(u32::try_from(value).ok()?).filter(|letter| !letter.is_control());
                // Beyond ASCII a byte is only a part of a letter.
                let letter = letter.filter(|letter| size > 1 || letter.is_ascii());
                Some(letter.map_or_else(|| signed.to_string(), |letter| format!("'{letter}'")))
            }
            Self::Signed => Some(signed.to_string()),
            Self::Unsigned => Some(value.to_string()),
            Self::Float => match size {
                4 => Some(f32::from_bits(value as u32).to_string()),
                8 => Some(f64::from_bits(value).to_string()),
                _ => None,
            },
            Self::Pointer(null) if value == 0 => Some((*null).to_owned()),
            Self::Pointer(_) => Some(name_of(value).unwrap_or_else(|| format!("{value:#x}"))),
            Self::Enum(names) => Some(enumerator(names, value, bits).unwrap_or_else(|| signed.to_string())),
            Self::Variant { named, other } => {
                find(named, value, bits).map(str::to_owned).or_else(|| other.clone())
            }
        }
    }
}

fn find(names: &[(u64, String)], value: u64, bits: u32) -> Option<&str> {
    let mask = u64::MAX >> (64 - bits);
    names.iter().find(|(number, _)| number & mask == value).map(|(_, name)| name.as_str())
}

/// The name of a number, or those of its bits if each has one.
fn enumerator(names: &[(u64, String)], value: u64, bits: u32) -> Option<String> {
    if let Some(name) = find(names, value, bits) {
        return Some(name.to_owned());
    }
    let set = (0..bits).map(|bit| 1 << bit).filter(|bit| value & bit != 0);
    let each: Vec<&str> = set.map(|bit| find(names, bit, bits)).collect::<Option<_>>()?;
    (!each.is_empty()).then(|| each.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(form: &ValueForm, value: u64, size: u32, shown: &str) {
        assert_eq!(form.show(value, size, |_| None).as_deref(), Some(shown), "{form:?}");
    }

    #[test]
    fn numbers_letters_and_truth_values() {
        check(&ValueForm::Bool, 1, 1, "true");
        check(&ValueForm::Bool, 0, 1, "false");
        assert_eq!(ValueForm::Bool.show(7, 1, |_| None), None);
        check(&ValueForm::Char, u64::from(b'x'), 1, "'x'");
        check(&ValueForm::Char, 0, 1, "0");
        check(&ValueForm::Char, 0xff, 1, "-1");
        check(&ValueForm::Char, 0xe9, 4, "'é'");
        check(&ValueForm::Signed, 0xffff_fffe, 4, "-2");
        check(&ValueForm::Unsigned, 0xffff_fffe, 4, "4294967294");
        check(&ValueForm::Unsigned, u64::MAX, 8, "18446744073709551615");
        // What lies beyond the bytes of the value is not part of it.
        check(&ValueForm::Unsigned, 0xdead_0001, 2, "1");
        check(&ValueForm::Float, u64::from(1.5f32.to_bits()), 4, "1.5");
        check(&ValueForm::Float, (-0.1f64).to_bits(), 8, "-0.1");
        assert_eq!(ValueForm::Float.show(0, 2, |_| None), None);
    }

    #[test]
    fn pointers_go_by_what_they_point_to() {
        let form = ValueForm::Pointer("NULL");
        check(&form, 0, 8, "NULL");
        check(&form, 0x5500, 8, "0x5500");
        assert_eq!(form.show(0x5500, 8, |_| Some("&queue".to_owned())).as_deref(), Some("&queue"));
    }

    #[test]
    fn enums_go_by_their_names() {
        let names = |numbers: &[(u64, &str)]| -> Vec<(u64, String)> {
            numbers.iter().map(|&(number, name)| (number, name.to_owned())).collect()
        };
        let form = ValueForm::Enum(names(&[(0, "IDLE"), (1, "READ"), (2, "WRITE"), (u64::MAX, "BROKEN")]));
        check(&form, 0, 4, "IDLE");
        check(&form, 3, 4, "READ | WRITE");
        check(&form, 0xffff_ffff, 4, "BROKEN");
        check(&form, 9, 4, "9");
        let option = ValueForm::Variant { named: names(&[(0, "None")]), other: Some("Some".to_owned()) };
        check(&option, 0, 8, "None");
        check(&option, 0x5500, 8, "Some");
        let closed = ValueForm::Variant { named: names(&[(0, "Off"), (1, "On")]), other: None };
        assert_eq!(closed.show(2, 1, |_| None), None);
    }
}

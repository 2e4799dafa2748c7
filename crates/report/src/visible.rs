//! Text from the target or its sources may hold anything: escape sequences that repaint the terminal, characters
//! that reorder what follows. Shown, it must be harmless, and what was hidden must be seen.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text with every character that would act on a terminal, instead of appearing on it, replaced by its escape
/// (`\n`, `\u{1b}`); a tab becomes a space.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_active) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\t' => shown.push(' '),
            _ if is_active(character) => shown.extend(character.escape_default()),
            _ => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

/// Whether a terminal acts on the character: controls (the C1 ones start escape sequences too), line separators,
/// the invisible format characters that reorder or hide text, and the two that no XML may contain. The joiners
/// U+200C and U+200D stay: scripts and emoji need them.
pub(crate) fn is_active(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
            | '\u{e0000}'..='\u{e007f}')
}

/// The text shortened to so many columns, ending in `…` if something is missing.
pub(crate) fn cut(text: &str, columns: usize) -> Cow<'_, str> {
    if text.width() <= columns {
        return Cow::Borrowed(text);
    }
    let Some(room) = columns.checked_sub(1) else { return Cow::Borrowed("") };
    let mut used = 0;
    let mut kept: String = text
        .chars()
        .take_while(|character| {
            used += character.width().unwrap_or(0);
            used <= room
        })
        .collect();
    // Together, characters can be wider than one by one: a variation selector makes an emoji of what precedes it.
    while kept.width() > room {
        kept.pop();
    }
    kept.push('…');
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(visible(text), expected);
    }

    #[test]
    fn ordinary_text_of_any_script_is_left_alone() {
        for text in ["", "if (x > 0)", "größe", "変数", "متغير", "👩\u{200d}💻", "e\u{301}"] {
            assert!(matches!(visible(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn escape_sequences_are_shown_instead_of_obeyed() {
        check("\u{1b}[2J\u{1b}]0;title\u{7}", r"\u{1b}[2J\u{1b}]0;title\u{7}");
        check("\u{9b}31m", r"\u{9b}31m");
        check("a\r\nb\u{7f}", r"a\r\nb\u{7f}");
    }

    #[test]
    fn reordering_and_hidden_characters_are_shown() {
        check("if (admin\u{202e}) {\u{2066}", r"if (admin\u{202e}) {\u{2066}");
        check("\u{fffe}\u{ffff}", r"\u{fffe}\u{ffff}");
        check("a\u{200b}b\u{2028}c\u{feff}", r"a\u{200b}b\u{2028}c\u{feff}");
    }

    #[test]
    fn a_tab_is_a_space() {
        check("\tx\t= 1;", " x = 1;");
    }

    #[test]
    fn a_cut_counts_columns_not_characters() {
        assert_eq!(cut("queue", 5), "queue");
        assert_eq!(cut("queue", 4), "que…");
        assert_eq!(cut("queue", 1), "…");
        assert_eq!(cut("queue", 0), "");
        assert_eq!(cut("変数名", 6), "変数名");
        assert_eq!(cut("変数名", 5), "変数…");
        assert_eq!(cut("変数名", 4), "変…");
        assert_eq!(cut("❤\u{fe0f}❤\u{fe0f}", 3), "❤\u{fe0f}…");
    }
}

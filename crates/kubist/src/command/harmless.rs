//! `harmless`: text of a cluster, without what would control a terminal.
//!
//! Names, cells and messages are written by whoever may write objects. It is about control, not
//! about texts that look alike: letters of any script stay, and what joins emoji.

use std::borrow::Cow;

/// Replaces control characters, separators of lines, and what changes the direction of the text
/// around it; a tab becomes a space.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(controls) {
        return Cow::Borrowed(text);
    }
    let shown = |it: char| match it {
        '\t' => ' ',
        it if controls(it) => '\u{fffd}',
        it => it,
    };
    Cow::Owned(text.chars().map(shown).collect())
}

/// Reports whether a character does something other than to be shown.
fn controls(it: char) -> bool {
    it.is_control() || matches!(it, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_controls_a_terminal_or_reverses_text_is_left() {
        for (text, shown) in [
            ("a\tb\r\u{1b}]0;x\u{7}", "a b\u{fffd}\u{fffd}]0;x\u{fffd}"),
            ("\u{9b}2J\u{7f}\u{85}", "\u{fffd}2J\u{fffd}\u{fffd}"),
            (
                "exe.\u{202e}txt\u{2066}\u{2028}",
                "exe.\u{fffd}txt\u{fffd}\u{fffd}",
            ),
        ] {
            assert_eq!(harmless(text), shown);
        }
        for text in ["日本 👩\u{200d}👧 ❤\u{fe0f}", "مرحبا", "e\u{301}"] {
            assert!(matches!(harmless(text), Cow::Borrowed(_)), "{text}");
        }
    }
}

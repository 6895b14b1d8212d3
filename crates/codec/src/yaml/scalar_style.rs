//! `Style`: how a string is printed: plain, quoted or literal.
//!
//! The choice is that of upstream's emitter, so that the output is identical.

use super::resolve::{Meaning, is_base_60, resolve};

/// A scalar style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// The styles that a string allows.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct Facts {
    multiline: bool,
    plain: bool,
    single: bool,
    literal: bool,
}

/// Returns the style of `text`, as a key or as a value.
pub(super) fn style(text: &str, key: bool) -> Style {
    let wanted = if text.contains('\n') {
        Style::Literal
    } else if resolve(text) == Meaning::Text && !is_base_60(text) {
        Style::Plain
    } else {
        return Style::Double;
    };
    let facts = facts(text);
    if key && facts.multiline {
        return Style::Double;
    }
    match wanted {
        Style::Plain if facts.plain => Style::Plain,
        Style::Plain if facts.single => Style::Single,
        Style::Literal if facts.literal && !key => Style::Literal,
        _ => Style::Double,
    }
}

/// Reports whether a key must be written in the long form, after `? `.
pub(super) fn is_long_key(text: &str) -> bool {
    text.len() > 128 || text.chars().any(is_break)
}

pub(super) fn is_break(character: char) -> bool {
    matches!(character, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Reports whether a character needs no escape. Tabs and characters beyond the basic plane need
/// one, as in upstream.
pub(super) fn is_printable(character: char) -> bool {
    matches!(
        character,
        '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}'
    )
}

fn facts(text: &str) -> Facts {
    let mut indicators = text.starts_with("---") || text.starts_with("...");
    let (mut special, mut break_space, mut space_break) = (false, false, false);
    let (mut previous_space, mut previous_break, mut after_white) = (false, false, true);
    let mut characters = text.chars().peekable();
    let mut first = true;
    while let Some(character) = characters.next() {
        let before_white = characters
            .peek()
            .is_none_or(|&next| next == ' ' || next == '\t');
        indicators |= match character {
            '#' => first || after_white,
            ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@'
            | '`' => first,
            '?' | '-' => first && before_white,
            ':' => before_white,
            _ => false,
        };
        special |= !is_printable(character);
        let (space, line_break) = (character == ' ', is_break(character));
        break_space |= space && previous_break;
        space_break |= line_break && previous_space;
        (previous_space, previous_break) = (space, line_break);
        after_white = space || line_break || character == '\t';
        first = false;
    }
    let multiline = text.chars().any(is_break);
    let at_edge = |character: char| character == ' ' || is_break(character);
    let edges = text.starts_with(at_edge) || text.ends_with(at_edge);
    let unclean = space_break || special;
    Facts {
        multiline,
        plain: !(indicators || edges || break_space || unclean || multiline || text.is_empty()),
        single: !(break_space || unclean || multiline),
        literal: !(unclean || text.ends_with(' ') || text.is_empty()),
    }
}

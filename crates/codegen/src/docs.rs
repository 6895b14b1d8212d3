//! Descriptions as documentation comments.
//!
//! Descriptions are Markdown at best. Here they cannot become doctests: code in fences is marked as
//! text and indented text is moved to the left. Long lines are broken at spaces, where that keeps
//! their meaning, and characters that compilers refuse in comments are left out.

/// The width of a line with its comment marks.
pub(crate) const WIDTH: usize = 100;
/// The most white space at the beginning of a line; more makes it code.
const INDENTATION_MAX: usize = 3;
/// The longest default that is shown, in bytes.
const DEFAULT_MAX: usize = 120;

/// Returns the lines of a comment, without its marks, for a place that has this many columns.
pub(crate) fn lines(description: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut fence: Option<&str> = None;
    for line in description.lines() {
        let line: String = line.chars().filter(|it| is_allowed(*it)).collect();
        let text = line.trim();
        if let Some(mark) = fence {
            if text.starts_with(mark) {
                fence = None;
                lines.push(mark.to_owned());
            } else {
                lines.push(line.trim_end().to_owned());
            }
            continue;
        }
        let mark = ["```", "~~~"].into_iter().find(|it| text.starts_with(it));
        if let Some(mark) = mark {
            fence = Some(mark);
            lines.push(format!("{mark}text"));
            continue;
        }
        let indentation = line.len() - line.trim_start().len();
        // A fence in a list or a quotation.
        let text = &text.replace("```", "`").replace("~~~", "~");
        wrap(text, indentation.min(INDENTATION_MAX), width, &mut lines);
    }
    lines.extend(fence.map(str::to_owned));
    let end = lines.iter().rposition(|it| !it.is_empty());
    lines.truncate(end.map_or(0, |it| it + 1));
    let start = lines.iter().take_while(|it| it.is_empty()).count();
    lines.drain(..start);
    lines
}

/// Returns the sentence about a default that servers fill in; none if it is long.
pub(crate) fn default_sentence(json: &str) -> Option<String> {
    let is_short = json.len() <= DEFAULT_MAX && !json.contains(['`', '\n', '\r']);
    is_short.then(|| format!("Servers fill in `{json}`."))
}

/// Control characters, and those that change the direction of text.
fn is_allowed(letter: char) -> bool {
    let changes_direction = matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    letter == '\t' || !(letter.is_control() || changes_direction)
}

/// Breaks a line at spaces. A row of a table stays whole.
fn wrap(text: &str, indentation: usize, width: usize, lines: &mut Vec<String>) {
    let indent = " ".repeat(indentation);
    if text.starts_with('|') {
        lines.push(format!("{indent}{text}"));
        return;
    }
    let mut line = String::new();
    for word in text.split_whitespace() {
        let needed = indentation + line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && needed > width && !begins_block(word) {
            lines.push(format!("{indent}{line}"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if line.is_empty() {
        lines.push(line);
    } else {
        lines.push(format!("{indent}{line}"));
    }
}

/// Reports whether a word at the beginning of a line makes it a list, a heading or a quotation.
fn begins_block(word: &str) -> bool {
    let number = word.trim_end_matches(['.', ')']);
    let is_number = number.len() < word.len() && number.bytes().all(|it| it.is_ascii_digit());
    is_number || word.starts_with(['-', '+', '*', '#', '>', '=', '|', '`', '~', '<', '['])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_never_becomes_a_doctest() {
        let text = "Like this:\n\n    let x = 1;\n```\nassert!(false);\n```\n```rust\nopen";
        let expected = [
            "Like this:",
            "",
            "   let x = 1;",
            "```text",
            "assert!(false);",
            "```",
            "```text",
            "open",
            "```",
        ];
        assert_eq!(lines(text, 80), expected);
        assert_eq!(
            lines("```\n  ``` x\n- ```\n> ~~~ x\n-     y", 80),
            ["```text", "```", "- `", "> ~ x", "- y"]
        );
    }

    #[test]
    fn long_lines_are_broken_where_that_keeps_their_meaning() {
        assert_eq!(lines("one two three", 8), ["one two", "three"]);
        assert_eq!(lines("one two - three", 8), ["one two -", "three"]);
        assert_eq!(lines("| a | b | c | d |", 8), ["| a | b | c | d |"]);
        assert_eq!(lines("averylongword x", 8), ["averylongword", "x"]);
    }

    #[test]
    fn empty_lines_at_the_ends_and_characters_of_no_text_are_left_out() {
        assert_eq!(lines("\n\n a\u{202e}b\u{7} \n\n", 80), [" ab"]);
        assert!(lines("", 80).is_empty());
    }

    #[test]
    fn a_short_default_is_told() {
        let sentence = default_sentence("\"a\"");
        assert_eq!(sentence.as_deref(), Some("Servers fill in `\"a\"`."));
        assert_eq!(default_sentence(&"1".repeat(200)), None);
    }
}

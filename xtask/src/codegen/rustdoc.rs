//! Doc comments from plain text: wrapped, with Markdown syntax escaped.
//!
//! Code between backticks is not escaped, and not wrapped where it fits on a line.

/// Columns of a line.
const WIDTH: usize = 100;
/// Columns of `/// `.
const MARK: usize = 4;
/// The longest word, or code between backticks, that fits on a line of a field when escaped.
pub(crate) const WORD_MAX: usize = 80;

/// Returns a comment in which each text begins a line. An empty text separates paragraphs.
pub(crate) fn comment(texts: &[impl AsRef<str>], indent: usize) -> String {
    let margin = " ".repeat(indent);
    let mut out = String::new();
    for text in texts {
        let text = text.as_ref();
        if text.is_empty() {
            out.extend([&margin, "///\n"]);
        }
        for line in wrapped(text, WIDTH - MARK - indent) {
            out.extend([&margin, "/// ", &line, "\n"]);
        }
    }
    out
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words(text) {
        let word = escaped(&word);
        let length = word.chars().count();
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + length <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(first_of_line(&word)),
        }
    }
    lines
}

/// Returns the words of a text. Code between backticks is one word.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut in_code = false;
    for letter in text.chars() {
        if letter == '`' {
            in_code = !in_code;
        }
        match words.last_mut() {
            Some(word) if in_code || !letter.is_whitespace() => word.push(letter),
            _ => words.push(String::new()),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the word with Markdown syntax outside of code escaped.
fn escaped(word: &str) -> String {
    let mut out = String::new();
    for (at, part) in word.split('`').enumerate() {
        let is_code = at % 2 == 1;
        if at > 0 {
            out.push('`');
        }
        match part.find("http://").or_else(|| part.find("https://")) {
            _ if is_code => out.push_str(part),
            Some(start) => {
                let (before, address) = part.split_at(start);
                let address_only = address.trim_end_matches(['.', ',', ';', ':', ')', '\'', '"']);
                let after = &address[address_only.len()..];
                let shown = format!("{}<{address_only}>{}", plain(before), plain(after));
                out.push_str(&shown);
            }
            None => out.push_str(&plain(part)),
        }
    }
    out
}

fn plain(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut out = String::new();
    for (at, &letter) in letters.iter().enumerate() {
        let is_within = |at: Option<usize>| {
            let neighbour = at.and_then(|at| letters.get(at));
            neighbour.is_some_and(|it| it.is_alphanumeric())
        };
        let is_syntax = match letter {
            '\\' | '<' | '[' | ']' | '*' | '~' => true,
            // It marks emphasis at the ends of words only.
            '_' => !(is_within(at.checked_sub(1)) && is_within(Some(at + 1))),
            // An entity.
            '&' => is_within(Some(at + 1)) || letters.get(at + 1) == Some(&'#'),
            _ => false,
        };
        if is_syntax {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// Returns a word escaped such that it does not begin a list, a title or a quotation.
fn first_of_line(word: &str) -> String {
    let digits = word.trim_start_matches(|it: char| it.is_ascii_digit());
    let is_number = digits.len() < word.len() && matches!(digits, "." | ")");
    if is_number {
        let (number, point) = word.split_at(word.len() - 1);
        return format!("{number}\\{point}");
    }
    let is_mark = |marks: &str| word.chars().all(|it| marks.contains(it));
    if word.starts_with('>') || is_mark("#") || is_mark("-") || is_mark("+") || is_mark("=") {
        return format!("\\{word}");
    }
    word.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_syntax_is_escaped_outside_of_code() {
        for (text, expected) in [
            ("a < b, Vec<Str>", "a \\< b, Vec\\<Str>"),
            ("a[0] `b[0] <c>`", "a\\[0\\] `b[0] <c>`"),
            ("node_name, _exact_, *", "node_name, \\_exact\\_, \\*"),
            ("R&D & x &amp; y", "R\\&D & x \\&amp; y"),
            ("- no list", "\\- no list"),
            ("1. no list", "1\\. no list"),
            ("> no quotation", "\\> no quotation"),
            ("See https://a.b/c_d.", "See <https://a.b/c_d>."),
            ("(http://a.b)", "(<http://a.b>)"),
            ("`https://a.b`", "`https://a.b`"),
        ] {
            assert_eq!(comment(&[text], 0), format!("/// {expected}\n"));
        }
    }

    #[test]
    fn lines_are_wrapped_at_100_columns_and_not_within_code() {
        let text = format!("{} `some code` and more", "a".repeat(84));
        let lines = comment(&[&text, "", "Facts."], 4);
        let expected = format!(
            "    /// {}\n    /// `some code` and more\n    ///\n    /// Facts.\n",
            "a".repeat(84)
        );
        assert_eq!(lines, expected);
        let long = "word ".repeat(100);
        for line in comment(&[&long], 4).lines() {
            assert!(line.len() <= WIDTH, "{line}");
        }
    }

    #[test]
    fn wrapping_does_not_begin_a_list() {
        let text = format!("{} + more", "a".repeat(96));
        let expected = format!("/// {}\n/// \\+ more\n", "a".repeat(96));
        assert_eq!(comment(&[&text], 0), expected);
    }
}

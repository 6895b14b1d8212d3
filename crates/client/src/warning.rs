//! Warnings that a server sends with a response: deprecated versions, dropped fields.
//!
//! They are headers of the form `Warning: 299 - "text"` and change nothing; a handler shows them.
//! Only code 299 is passed on, as in upstream's clients.

use http::HeaderMap;
use http::header::WARNING;

/// Receives warnings. It is called while a response is processed and must not block.
pub trait WarningHandler: Send + Sync + 'static {
    /// One warning.
    fn warning(&self, text: &str);
}

impl<F: Fn(&str) + Send + Sync + 'static> WarningHandler for F {
    fn warning(&self, text: &str) {
        self(text);
    }
}

/// Logs warnings with `tracing` at level WARN. The default.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has no state")]
pub struct LogWarnings;

impl WarningHandler for LogWarnings {
    fn warning(&self, text: &str) {
        tracing::warn!(target: "kubist_client::warning", "{text}");
    }
}

/// Passes all warnings of a response to the handler.
pub(crate) fn report(headers: &HeaderMap, handler: &dyn WarningHandler) {
    for value in headers.get_all(WARNING) {
        let Ok(mut rest) = std::str::from_utf8(value.as_bytes()) else {
            continue;
        };
        while let Some((code, text, after)) = parse(rest) {
            if code == "299" {
                handler.warning(&text);
            }
            rest = after;
        }
    }
}

/// Returns the code and the text of the first warning, and the rest of the header.
fn parse(header: &str) -> Option<(&str, String, &str)> {
    let header = header.trim_start_matches([' ', '\t', ',']);
    let (code, rest) = header.split_once(' ')?;
    let (_agent, rest) = rest.split_once(' ')?;
    let quoted = rest.trim_start().strip_prefix('"')?;
    let mut text = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((code, text, after_date(&quoted[at + 1..]))),
            '\\' => text.push(characters.next()?.1),
            character => text.push(character),
        }
    }
    None
}

/// A quoted date may follow the text.
fn after_date(rest: &str) -> &str {
    let trimmed = rest.trim_start();
    let dated = trimmed
        .strip_prefix('"')
        .and_then(|date| date.split_once('"'));
    dated.map_or(rest, |(_, after)| after)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(header: &str) -> Vec<(String, String)> {
        let mut rest = header;
        let mut found = Vec::new();
        while let Some((code, text, after)) = parse(rest) {
            found.push((code.to_owned(), text));
            rest = after;
        }
        found
    }

    #[test]
    fn warnings_are_cut_out_of_their_header() {
        let one = |code: &str, text: &str| (code.to_owned(), text.to_owned());
        assert_eq!(warnings(r#"299 - "old""#), [one("299", "old")]);
        assert_eq!(
            warnings(r#"299 a "say \"hi\", \\" "Mon, 1 Jan", 199 - "b""#),
            [one("299", r#"say "hi", \"#), one("199", "b")],
        );
        for bad in [
            "",
            "299",
            "299 -",
            "299 - x",
            r#"299 - "open"#,
            r#"299 - "\"#,
        ] {
            assert_eq!(warnings(bad), []);
        }
    }
}

//! `with_causes`: an error and its causes as one line, for logs and messages.
//!
//! Errors of this project describe one level each and leave the rest to `source()`; some of other
//! libraries include their causes. The line contains each message once, and no line breaks.

use std::error::Error;

/// Returns the text of an error, followed by `: ` and the text of each cause that it does not
/// contain yet. Line breaks become spaces.
///
/// ```
/// use std::io;
/// let refused = io::Error::new(io::ErrorKind::ConnectionRefused, "nobody listens");
/// assert_eq!(kubist_apimachinery::with_causes(&refused), "nobody listens");
/// ```
pub fn with_causes(error: &dyn Error) -> String {
    let mut line = in_one_line(error);
    for cause in std::iter::successors(error.source(), |it| (*it).source()) {
        let cause = in_one_line(cause);
        if !line.contains(&cause) {
            line.push_str(": ");
            line.push_str(&cause);
        }
    }
    line
}

fn in_one_line(error: &dyn Error) -> String {
    let mut text = error.to_string();
    if text.contains(['\n', '\r']) {
        let lines: Vec<_> = text.lines().map(str::trim).collect();
        text = lines.join(" ");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Level {
        text: &'static str,
        source: Option<Box<Self>>,
    }

    fn levels(texts: &[&'static str]) -> Level {
        let (first, below) = texts.split_first().expect("at least one");
        let source = (!below.is_empty()).then(|| Box::new(levels(below)));
        Level {
            text: first,
            source,
        }
    }

    #[test]
    fn each_cause_is_in_the_line_once_from_the_outermost_to_the_innermost() {
        for (texts, line) in [
            (&["cannot list"][..], "cannot list"),
            (
                &["cannot list", "no connection", "refused"],
                "cannot list: no connection: refused",
            ),
            (
                &["cannot list: refused", "refused", "by the host"],
                "cannot list: refused: by the host",
            ),
            (&["two\n  lines", "two lines"], "two lines"),
        ] {
            assert_eq!(with_causes(&levels(texts)), line);
        }
    }
}

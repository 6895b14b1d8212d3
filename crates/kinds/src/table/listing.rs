//! Several things in one cell: labels, selectors, and lists of which only the first are shown.

use kubist_apimachinery::{LabelSelector, Selector, Str};
use std::collections::BTreeMap;

/// The first few of a list, and how many more there are.
#[derive(Debug)]
pub(super) struct FirstFew {
    shown: Vec<String>,
    count: usize,
    max: usize,
}

impl FirstFew {
    /// A list of which `max` are shown.
    pub(super) fn new(max: usize) -> Self {
        Self {
            shown: Vec::new(),
            count: 0,
            max,
        }
    }

    /// Adds one; `text` is made only if it will be shown.
    pub(super) fn push(&mut self, text: impl FnOnce() -> String) {
        if self.shown.len() < self.max {
            self.shown.push(text());
        }
        self.count += 1;
    }

    /// The cell, with `separator` between the shown.
    pub(super) fn cell(self, separator: &str) -> String {
        let shown = self.shown.join(separator);
        match self.count.checked_sub(self.max) {
            None | Some(0) => shown,
            Some(more) => format!("{shown} + {more} more..."),
        }
    }
}

/// Labels as `key=value,…`; `<none>` if there are none.
pub(super) fn labels(labels: &BTreeMap<Str, Str>) -> String {
    if labels.is_empty() {
        return "<none>".to_owned();
    }
    joined(
        labels.iter().map(|(key, value)| format!("{key}={value}")),
        ",",
    )
}

/// A selector: nothing if there is none or it is empty, `<invalid>` if it is not valid.
pub(super) fn selector(selector: Option<&LabelSelector>) -> String {
    match selector.map(Selector::try_from) {
        None => String::new(),
        Some(Ok(selector)) => selector.to_string(),
        Some(Err(_)) => "<invalid>".to_owned(),
    }
}

/// Texts with a separator between them.
pub(super) fn joined<T: AsRef<str>>(texts: impl IntoIterator<Item = T>, separator: &str) -> String {
    let mut out = String::new();
    for (index, text) in texts.into_iter().enumerate() {
        if index > 0 {
            out.push_str(separator);
        }
        out.push_str(text.as_ref());
    }
    out
}

/// A text, or what to show where it is missing or empty.
pub(super) fn text_or<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if text.is_empty() { otherwise } else { text }
}

/// A truth value as a word.
pub(super) fn truth(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

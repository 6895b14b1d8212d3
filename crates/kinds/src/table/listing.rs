//! Cells with several values: labels, selectors and shortened lists.

use kubist_apimachinery::{LabelSelector, Selector, Str};
use std::collections::BTreeMap;

/// The first items of a list, and the number of the others.
#[derive(Debug)]
pub(super) struct FirstFew {
    shown: Vec<String>,
    count: usize,
    max: usize,
}

impl FirstFew {
    /// Returns an empty list that shows at most `max` items.
    pub(super) fn new(max: usize) -> Self {
        Self {
            shown: Vec::new(),
            count: 0,
            max,
        }
    }

    /// Adds an item. `text` is called only if the item is shown.
    pub(super) fn push(&mut self, text: impl FnOnce() -> String) {
        if self.shown.len() < self.max {
            self.shown.push(text());
        }
        self.count += 1;
    }

    /// Returns the cell, with `separator` between the items.
    pub(super) fn cell(self, separator: &str) -> String {
        let shown = self.shown.join(separator);
        match self.count.checked_sub(self.max) {
            None | Some(0) => shown,
            Some(more) => format!("{shown} + {more} more..."),
        }
    }
}

/// Formats labels as `key=value,…`, or `<none>` if there are none.
pub(super) fn labels(labels: &BTreeMap<Str, Str>) -> String {
    if labels.is_empty() {
        return "<none>".to_owned();
    }
    joined(
        labels.iter().map(|(key, value)| format!("{key}={value}")),
        ",",
    )
}

/// Formats a selector. An absent or empty one is an empty string, an invalid one is `<invalid>`.
pub(super) fn selector(selector: Option<&LabelSelector>) -> String {
    match selector.map(Selector::try_from) {
        None => String::new(),
        Some(Ok(selector)) => selector.to_string(),
        Some(Err(_)) => "<invalid>".to_owned(),
    }
}

/// Joins strings with a separator.
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

/// Returns a string, or `otherwise` if it is empty.
pub(super) fn text_or<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if text.is_empty() { otherwise } else { text }
}

/// Formats a boolean.
pub(super) fn bool_text(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

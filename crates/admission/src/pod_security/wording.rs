//! The words of violations.

use std::collections::BTreeSet;

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Violation {
    pub(super) reason: &'static str,
    pub(super) detail: String,
}

impl Violation {
    pub(super) fn new(reason: &'static str, detail: impl Into<String>) -> Self {
        Self {
            reason,
            detail: detail.into(),
        }
    }
}

/// Returns texts in quotes: `"a", "b"`.
pub(super) fn quoted<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let texts = texts.into_iter().map(|text| format!("\"{text}\""));
    texts.collect::<Vec<_>>().join(", ")
}

/// Returns the word for this number of things.
pub(super) fn plural<'a>(one: &'a str, many: &'a str, count: usize) -> &'a str {
    if count == 1 { one } else { many }
}

/// Returns `container "a"` or `containers "a", "b"`.
pub(super) fn containers(names: &[&str]) -> String {
    let word = plural("container", "containers", names.len());
    format!("{word} {}", quoted(names.iter().copied()))
}

/// Who sets something: the Pod, containers.
#[derive(Debug, Default)]
pub(super) struct Setters<'a> {
    pub(super) pod: bool,
    pub(super) containers: Vec<&'a str>,
    /// What they set.
    pub(super) values: BTreeSet<&'a str>,
}

impl<'a> Setters<'a> {
    /// Notes what the Pod sets, if it is bad.
    pub(super) fn pod(&mut self, bad: Option<&'a str>) {
        self.pod |= bad.is_some();
        self.values.extend(bad);
    }

    /// Notes what a container sets, if it is bad.
    pub(super) fn container(&mut self, name: &'a str, bad: Option<&'a str>) {
        if let Some(value) = bad {
            self.containers.push(name);
            self.values.insert(value);
        }
    }

    /// Returns the texts of all, to be joined by `and`.
    pub(super) fn texts(&self) -> Vec<String> {
        let pod = self.pod.then(|| "pod".to_owned());
        let named = (!self.containers.is_empty()).then(|| containers(&self.containers));
        pod.into_iter().chain(named).collect()
    }

    /// Returns all in one text; `None` if there is nobody.
    pub(super) fn text(&self) -> Option<String> {
        let texts = self.texts();
        (!texts.is_empty()).then(|| texts.join(" and "))
    }

    /// Returns what they set, in quotes.
    pub(super) fn quoted_values(&self) -> String {
        quoted(self.values.iter().copied())
    }
}

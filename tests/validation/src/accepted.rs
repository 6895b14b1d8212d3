//! `Accepted`: the table of known differences, with reasons.

use crate::{Difference, What};
use serde::Deserialize;
use std::collections::BTreeSet;

/// An error in the table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AcceptedError {
    /// It is not TOML, or has unknown fields.
    #[error("the table is not understood")]
    Toml(#[from] toml::de::Error),
    /// An entry is incomplete: it needs resources and a reason.
    #[error("the entry for {0:?} is not specific")]
    Blanket(String),
}

/// The known differences.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    #[serde(default)]
    accepted: Vec<Entry>,
}

/// A known difference.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// Plurals of the kinds.
    resources: BTreeSet<String>,
    what: What,
    /// The field with `*` in brackets; `**.` at its start stands for the path of a pod template.
    path: String,
    #[serde(default)]
    reason: String,
    why: String,
}

impl Accepted {
    /// Reads the table.
    pub fn parse(toml: &str) -> Result<Self, AcceptedError> {
        let table: Self = toml::from_str(toml)?;
        let blanket = |it: &&Entry| {
            let path = it.path.trim_start_matches("**.");
            let no_path = path.is_empty() && it.what != What::Fault;
            it.resources.is_empty() || it.why.is_empty() || no_path || path == "*"
        };
        match table.accepted.iter().find(blanket) {
            Some(entry) => Err(AcceptedError::Blanket(entry.path.clone())),
            None => Ok(table),
        }
    }

    /// Reports whether a difference is in the table.
    pub fn has(&self, difference: &Difference) -> bool {
        self.accepted.iter().any(|entry| {
            entry.what == difference.what
                && entry.reason == difference.reason
                && entry.resources.contains(&difference.resource)
                && is_path(&entry.path, &difference.path)
        })
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.accepted.len()
    }

    /// Reports whether there are none.
    pub fn is_empty(&self) -> bool {
        self.accepted.is_empty()
    }
}

fn is_path(pattern: &str, path: &str) -> bool {
    match pattern.strip_prefix("**.") {
        Some(end) => path
            .strip_suffix(end)
            .is_some_and(|start| start.is_empty() || start.ends_with('.')),
        None => pattern == path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = r#"
        [[accepted]]
        resources = ["pods", "jobs"]
        what = "only-theirs"
        path = "**.spec.containers[*].name"
        reason = "FieldValueRequired"
        why = "because"
    "#;

    fn difference(resource: &str, path: &str) -> Difference {
        Difference {
            resource: resource.to_owned(),
            what: What::OnlyTheirs,
            path: path.to_owned(),
            reason: "FieldValueRequired".to_owned(),
            seen: String::new(),
        }
    }

    #[test]
    fn an_entry_is_for_its_resources_and_its_path() {
        let table = Accepted::parse(TABLE).unwrap();
        assert_eq!((table.len(), table.is_empty()), (1, false));
        assert!(table.has(&difference("pods", "spec.containers[*].name")));
        assert!(table.has(&difference("jobs", "spec.template.spec.containers[*].name")));
        assert!(!table.has(&difference("pods", "spec.containers[*].image")));
        assert!(!table.has(&difference("pods", "spec.initspec.containers[*].name")));
        assert!(!table.has(&difference("services", "spec.containers[*].name")));
    }

    #[test]
    fn a_blanket_entry_is_refused() {
        for blanket in [
            TABLE.replace("**.spec.containers[*].name", "*"),
            TABLE.replace("**.spec.containers[*].name", ""),
            TABLE.replace("\"pods\", \"jobs\"", ""),
            TABLE.replace("because", ""),
        ] {
            let refused = Accepted::parse(&blanket);
            assert!(
                matches!(refused, Err(AcceptedError::Blanket(_))),
                "{blanket}"
            );
        }
    }
}

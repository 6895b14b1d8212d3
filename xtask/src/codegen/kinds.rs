//! `Kinds`: names, scope and lifetime of each kind.

use super::schema::{GroupVersion, Kind, Schema};
use std::collections::BTreeMap;

/// The kinds of all groups, by group, version and name.
pub(crate) struct Kinds {
    facts: BTreeMap<[String; 3], KindFacts>,
}

/// The facts of a kind besides its message.
pub(crate) struct KindFacts {
    /// Empty if the schema has none.
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) namespaced: bool,
    /// The versions of Kubernetes with this kind, as a sentence; empty for kinds without end.
    pub(crate) lifetime: String,
}

impl Kinds {
    pub(crate) fn new(schema: &Schema) -> Self {
        let mut facts = BTreeMap::new();
        for group in &schema.groups {
            for version in &group.versions {
                for kind in &version.kinds {
                    let key = [
                        group.name.clone(),
                        version.version.clone(),
                        kind.kind.clone(),
                    ];
                    facts.insert(key, KindFacts::new(version, kind));
                }
            }
        }
        Self { facts }
    }

    /// Returns the facts of the kind with this group, version and name.
    pub(crate) fn of(&self, kind: &[String; 3]) -> Option<&KindFacts> {
        self.facts.get(kind)
    }
}

impl KindFacts {
    fn new(version: &GroupVersion, kind: &Kind) -> Self {
        let served = version.resources.iter().find(|it| it.kind == kind.kind);
        let singular = served.map_or_else(|| kind.kind.to_lowercase(), |it| it.singular.clone());
        let plural = served.map_or_else(|| kind.plural.clone(), |it| it.name.clone());
        let namespaced = served.map(|it| it.namespaced).or(kind.namespaced);
        Self {
            plural,
            singular,
            namespaced: namespaced.unwrap_or(true),
            lifetime: lifetime(kind),
        }
    }
}

/// Returns `Deprecated in 1.9, removed in 1.16; use `Deployment` of `apps/v1`.`
fn lifetime(kind: &Kind) -> String {
    let ends = [("deprecated", &kind.deprecated), ("removed", &kind.removed)];
    if ends.iter().all(|(_, version)| version.is_empty()) {
        return String::new();
    }
    let all = [("introduced", &kind.introduced)].into_iter().chain(ends);
    let all = all.filter(|(_, version)| !version.is_empty());
    let all: Vec<String> = all
        .map(|(what, since)| format!("{what} in {since}"))
        .collect();
    let mut text = capitalised(&all.join(", "));
    let replacement: Vec<&str> = kind.replacement.split(',').collect();
    if let [group, version, kind] = replacement[..] {
        let place = api_version(group, version);
        text.extend(["; use `", kind, "` of `", &place, "`"]);
    }
    text.push('.');
    text
}

/// Returns the text with its first letter in upper case.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// Returns `apps/v1`, and `v1` for the core group.
pub(crate) fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    }
}

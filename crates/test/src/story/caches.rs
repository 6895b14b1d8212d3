//! `Caches`: the last version of each object that each client was shown, and what is stored.

use super::entry::title;
use kubist::apimachinery::{GroupKind, ObjectName, Str};
use std::collections::BTreeMap;

/// The most differences that are told.
const TOLD_MAX: usize = 8;

/// What clients were shown, and what is stored.
#[derive(Debug, Default)]
pub(super) struct Caches {
    /// By client, plural and name: the revision, and whether it was deleted then.
    shown: BTreeMap<(Str, Str, ObjectName), (u64, bool)>,
    /// By kind and name. Only what was written in this run.
    stored: BTreeMap<(GroupKind, ObjectName), (u64, bool)>,
}

impl Caches {
    pub(super) fn show(
        &mut self,
        client: &Str,
        resource: &Str,
        name: &ObjectName,
        revision: u64,
        is_deleted: bool,
    ) {
        let key = (client.clone(), resource.clone(), name.clone());
        self.shown.insert(key, (revision, is_deleted));
    }

    pub(super) fn store(
        &mut self,
        kind: &GroupKind,
        name: &ObjectName,
        revision: u64,
        is_deleted: bool,
    ) {
        let key = (kind.clone(), name.clone());
        self.stored.insert(key, (revision, is_deleted));
    }

    /// Returns the version that a client was shown last: none if it watches no such kind.
    pub(super) fn shown_to(
        &self,
        client: &str,
        kind: &GroupKind,
        name: &ObjectName,
    ) -> Option<(u64, bool)> {
        let mut of = self.shown.iter().filter(|((who, ..), _)| who == client);
        let watches = of
            .clone()
            .any(|((_, resource, _), _)| is_plural(resource, &kind.kind));
        let shown = of.find(|((_, resource, of), _)| of == name && is_plural(resource, &kind.kind));
        match shown {
            Some((_, shown)) => Some(*shown),
            None if watches => Some((0, false)),
            None => None,
        }
    }

    /// Returns in what the caches differ from the store.
    pub(super) fn behind(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for ((client, resource, name), (shown, was_deleted)) in &self.shown {
            let stored = self
                .stored
                .iter()
                .find(|((kind, of), _)| of == name && is_plural(resource, &kind.kind));
            let Some(((kind, _), (stored, is_deleted))) = stored else {
                continue;
            };
            if shown >= stored {
                continue;
            }
            let state = |revision: u64, is_deleted: bool| {
                if is_deleted {
                    "deleted".to_owned()
                } else {
                    format!("revision {revision}")
                }
            };
            let (shown, stored) = (state(*shown, *was_deleted), state(*stored, *is_deleted));
            let title = title(kind, name);
            lines.push(format!("{client}: {title} at {shown}; stored: {stored}"));
        }
        let more = lines.len().saturating_sub(TOLD_MAX);
        lines.truncate(TOLD_MAX);
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        lines
    }
}

/// Reports whether a plural can be that of a kind.
fn is_plural(plural: &str, kind: &str) -> bool {
    let kind = kind.to_lowercase();
    let rest = plural.strip_prefix(kind.as_str());
    matches!(rest, Some("" | "s" | "es"))
        || kind
            .strip_suffix('y')
            .is_some_and(|it| plural.strip_prefix(it) == Some("ies"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_are_recognised() {
        for (plural, kind) in [
            ("pods", "Pod"),
            ("ingresses", "Ingress"),
            ("networkpolicies", "NetworkPolicy"),
            ("endpoints", "Endpoints"),
        ] {
            assert!(is_plural(plural, kind), "{plural}");
        }
        assert!(!is_plural("podtemplates", "Pod"));
    }

    #[test]
    fn a_cache_that_is_behind_is_told() {
        let mut caches = Caches::default();
        let (pod, name) = (GroupKind::new("", "Pod"), ObjectName::new("shop", "web"));
        caches.show(&"operator".into(), &"pods".into(), &name, 5, false);
        caches.store(&pod, &name, 7, true);
        let told = "operator: Pod shop/web at revision 5; stored: deleted";
        assert_eq!(caches.behind(), [told]);
        assert_eq!(caches.shown_to("operator", &pod, &name), Some((5, false)));
        let other = ObjectName::new("shop", "other");
        assert_eq!(caches.shown_to("operator", &pod, &other), Some((0, false)));
        assert_eq!(caches.shown_to("user", &pod, &name), None);
    }
}

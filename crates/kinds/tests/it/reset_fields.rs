//! Tests which fields writes reset, against upstream: `reset-fields.txt` is the output of
//! `tests/interop/reset-fields`, which creates upstream's REST storages.

use kubist_api::{GROUPS, ResourceFacts};
use kubist_field_manager::FieldFilter;
use kubist_kinds::BuiltIn;
use kubist_registry::{Kinds, reset_filter};
use std::collections::BTreeSet;

const UPSTREAM: &str = include_str!("../reset-fields.txt");

/// Returns a line as in `reset-fields.txt` for each path of a resource that updates objects.
fn lines_of(api_version: &str, facts: &ResourceFacts) -> Vec<String> {
    let kinds = BuiltIn::default();
    let strategy = kinds.strategy(kinds.storage_group(facts), facts.plural);
    let has_status = facts.subresources.iter().any(|it| it.name == "status");
    // Proxies forward requests.
    let subresources = facts.subresources.iter().filter(|it| it.name != "proxy");
    let paths = subresources.map(|it| (it.name, it.verbs));
    let paths = std::iter::once(("", facts.verbs)).chain(paths);
    let updating = paths.filter(|(_, verbs)| verbs.contains(&"update"));
    let lines = updating.map(|(name, _)| {
        let fields = match reset_filter(&*strategy, has_status, name) {
            Some(FieldFilter::Exclude(fields)) => fields.to_json(),
            Some(FieldFilter::Include(_)) => "a pattern".to_owned(),
            None => "none".to_owned(),
        };
        let slash = if name.is_empty() { "" } else { "/" };
        format!("{api_version} {}{slash}{name} {fields}", facts.plural)
    });
    lines.collect()
}

#[test]
fn writes_of_all_kinds_reset_the_fields_that_upstream_resets() {
    let versions = || GROUPS.iter().flat_map(|group| group.versions);
    let lines = versions().flat_map(|version| {
        let resources = version.resources.iter();
        resources.flat_map(|facts| lines_of(version.api_version, facts))
    });
    let ours: BTreeSet<String> = lines.collect();
    let served: BTreeSet<&str> = versions().map(|it| it.api_version).collect();
    let theirs = UPSTREAM.lines().filter(|line| {
        let api_version = line.split(' ').next();
        api_version.is_some_and(|it| served.contains(it))
    });
    let theirs: BTreeSet<String> = theirs.map(str::to_owned).collect();
    assert_eq!(ours, theirs);
    assert!(!ours.is_empty());
}

//! The kinds that a policy is about, as far as its rules name them.

use kubist_api::admissionregistration::v1::{NamedRuleWithOperations, ValidatingAdmissionPolicy};
use kubist_apimachinery::{GroupVersionKind, Str};
use kubist_client::Discovery;
use std::collections::BTreeMap;

/// Kinds of one rule that are checked at most, as upstream.
const KINDS_MAX: usize = 10;

/// Returns the kinds to check, sorted by group, version and kind. Rules with wildcards name none.
pub(super) fn checked_kinds(
    policy: &ValidatingAdmissionPolicy,
    discovery: &Discovery,
) -> Vec<GroupVersionKind> {
    let mut found = BTreeMap::new();
    let rules = policy.spec.match_constraints.iter();
    for rule in rules.flat_map(|it| &it.resource_rules) {
        if add_kinds(&mut found, rule, discovery) {
            break;
        }
    }
    found.into_values().collect()
}

/// Returns the kind of a policy's parameters, if it has some.
pub(super) fn param_kind(policy: &ValidatingAdmissionPolicy) -> Option<GroupVersionKind> {
    let of = policy.spec.param_kind.as_deref()?;
    let (group, version) = of
        .api_version
        .split_once('/')
        .unwrap_or(("", &of.api_version));
    Some(GroupVersionKind {
        group: group.into(),
        version: version.into(),
        kind: of.kind.clone(),
    })
}

type Found = BTreeMap<(Str, Str, Str), GroupVersionKind>;

/// Adds the kinds of a rule. Reports whether these are as many as are checked at all.
fn add_kinds(found: &mut Found, rule: &NamedRuleWithOperations, discovery: &Discovery) -> bool {
    let has_wildcard = |it: &Str| it.contains('*');
    if rule.api_groups.iter().any(has_wildcard) || rule.api_versions.iter().any(has_wildcard) {
        return false;
    }
    let resources = rule.resources.iter();
    let resources = sorted(resources.filter(|it| !it.contains(['*', '/'])));
    let mut count = 0;
    for group in sorted(rule.api_groups.iter()) {
        for version in sorted(rule.api_versions.iter()) {
            for plural in &resources {
                let served = discovery.resources().iter().map(|it| &it.resource);
                // As upstream's mapper, which takes no group for any group.
                let named = served.filter(|it| {
                    (group.is_empty() || it.group == *group)
                        && it.version == *version
                        && it.plural == **plural
                });
                for kind in named.map(kubist_apimachinery::ApiResource::gvk) {
                    let key = (kind.group.clone(), kind.version.clone(), kind.kind.clone());
                    found.insert(key, kind);
                    count += 1;
                    if count == KINDS_MAX {
                        return true;
                    }
                }
            }
        }
    }
    false
}

fn sorted<'a>(texts: impl Iterator<Item = &'a Str>) -> Vec<&'a Str> {
    let mut texts: Vec<&Str> = texts.collect();
    texts.sort();
    texts
}

//! Whether rules cover other rules: nobody may grant what they do not have.
//!
//! A rule is taken apart into its single permissions, and each must be covered by one rule.

use crate::User;
use crate::rbac::policy::RoleNotFound;
use crate::rbac::rule::{ALL, contains, url_covers};
use crate::rbac::rule_text::{quoted, rule_text};
use crate::rbac::rules_of_user::joined;
use kubist_api::rbac::v1::PolicyRule;
use kubist_apimachinery::Str;
use std::collections::BTreeMap;

/// A user would grant permissions that it does not have. The text is upstream's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "user {user:?} (groups={groups}) is attempting to grant RBAC permissions not currently held:\n\
     {rules}{errors}"
)]
pub struct Escalation {
    user: Str,
    groups: String,
    rules: String,
    errors: String,
}

impl Escalation {
    pub(crate) fn new(user: &User, missing: &[PolicyRule], errors: &[RoleNotFound]) -> Self {
        let mut rules: Vec<String> = compact(missing).iter().map(rule_text).collect();
        rules.sort();
        rules.dedup();
        let errors = match errors {
            [] => String::new(),
            several => format!("; resolution errors: [{}]", joined(several)),
        };
        Self {
            user: user.name.clone(),
            groups: quoted(&user.groups),
            rules: rules.join("\n"),
            errors,
        }
    }
}

/// Reports whether rules cover all of `wanted`.
pub fn covers(own: &[&PolicyRule], wanted: &[PolicyRule]) -> bool {
    missing(own, wanted).is_empty()
}

/// Returns the single permissions of `wanted` that no rule covers.
pub fn missing(own: &[&PolicyRule], wanted: &[PolicyRule]) -> Vec<PolicyRule> {
    let mut missing = Vec::new();
    for rule in wanted {
        for_each_permission(rule, &mut |single| {
            if !own.iter().any(|it| rule_covers(it, &single)) {
                missing.push(single);
            }
        });
    }
    missing
}

/// Takes a rule apart: one verb of one resource, and name if it has any, or of one path each.
fn for_each_permission(rule: &PolicyRule, each: &mut dyn FnMut(PolicyRule)) {
    let one = |text: &Str| vec![text.clone()];
    for group in &rule.api_groups {
        for resource in &rule.resources {
            for verb in &rule.verbs {
                let single = PolicyRule {
                    verbs: one(verb),
                    api_groups: one(group),
                    resources: one(resource),
                    ..PolicyRule::default()
                };
                if rule.resource_names.is_empty() {
                    each(single);
                    continue;
                }
                for name in &rule.resource_names {
                    let mut named = single.clone();
                    named.resource_names = one(name);
                    each(named);
                }
            }
        }
    }
    for url in &rule.non_resource_urls {
        for verb in &rule.verbs {
            each(PolicyRule {
                verbs: one(verb),
                non_resource_urls: one(url),
                ..PolicyRule::default()
            });
        }
    }
}

/// Reports whether a rule covers a single permission.
fn rule_covers(own: &PolicyRule, single: &PolicyRule) -> bool {
    let all = |own: &[Str], single: &[Str]| {
        contains(own, ALL) || single.iter().all(|it| contains(own, it))
    };
    let names = match &single.resource_names[..] {
        [] => own.resource_names.is_empty(),
        names => {
            own.resource_names.is_empty()
                || names.iter().all(|it| contains(&own.resource_names, it))
        }
    };
    let urls = single.non_resource_urls.iter().all(|url| {
        let mut own = own.non_resource_urls.iter();
        own.any(|of_rule| **of_rule == **url || url_covers(of_rule, url))
    });
    all(&own.verbs, &single.verbs)
        && all(&own.api_groups, &single.api_groups)
        && resources_cover(&own.resources, &single.resources)
        && urls
        && names
}

fn resources_cover(own: &[Str], wanted: &[Str]) -> bool {
    if contains(own, ALL) {
        return true;
    }
    wanted.iter().all(|wanted| {
        let subresource = wanted.split_once('/').map(|(_, it)| it);
        contains(own, wanted)
            || subresource
                .is_some_and(|it| own.iter().any(|own| own.strip_prefix("*/") == Some(it)))
    })
}

/// Merges the verbs of permissions of one resource, so that a message is short.
fn compact(singles: &[PolicyRule]) -> Vec<PolicyRule> {
    let mut merged: Vec<PolicyRule> = Vec::new();
    let mut places: BTreeMap<(Str, Str, Option<Str>), usize> = BTreeMap::new();
    for rule in singles {
        let ([group], [resource]) = (&rule.api_groups[..], &rule.resources[..]) else {
            merged.push(rule.clone());
            continue;
        };
        let name = rule.resource_names.first().cloned();
        let key = (group.clone(), resource.clone(), name);
        if let Some(&place) = places.get(&key) {
            let verbs = &mut merged[place].verbs;
            verbs.extend(rule.verbs.iter().cloned());
        } else {
            places.insert(key, merged.len());
            merged.push(rule.clone());
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rbac::samples::{rule, texts};

    fn urls(verbs: &[&str], urls: &[&str]) -> PolicyRule {
        PolicyRule {
            verbs: texts(verbs),
            non_resource_urls: texts(urls),
            ..PolicyRule::default()
        }
    }

    #[test]
    fn several_rules_cover_together_what_none_covers_alone() {
        let (gets, lists) = (
            rule(&["get"], &[""], &["pods", "services"], &[]),
            rule(&["list"], &["*"], &["*"], &[]),
        );
        let wanted = [rule(&["get", "list"], &[""], &["pods"], &[])];
        assert!(covers(&[&gets, &lists], &wanted));
        assert!(!covers(&[&gets], &wanted));
    }

    #[test]
    fn a_star_is_covered_by_a_star_alone() {
        let many = rule(&["get", "list", "watch"], &[""], &["pods"], &[]);
        assert!(!covers(&[&many], &[rule(&["*"], &[""], &["pods"], &[])]));
        let all = rule(&["*"], &["*"], &["*"], &[]);
        assert!(covers(
            &[&all],
            &[rule(&["*"], &["*"], &["*", "pods/exec"], &["a"])]
        ));
    }

    #[test]
    fn names_cover_themselves_and_not_the_whole_resource() {
        let named = rule(&["get"], &[""], &["pods"], &["a", "b"]);
        assert!(covers(
            &[&named],
            &[rule(&["get"], &[""], &["pods"], &["b"])]
        ));
        assert!(!covers(
            &[&named],
            &[rule(&["get"], &[""], &["pods"], &["b", "c"])]
        ));
        assert!(!covers(&[&named], &[rule(&["get"], &[""], &["pods"], &[])]));
    }

    #[test]
    fn a_subresource_of_all_covers_that_of_one() {
        let scales = rule(&["get"], &["apps"], &["*/scale"], &[]);
        assert!(covers(
            &[&scales],
            &[rule(&["get"], &["apps"], &["deployments/scale"], &[])]
        ));
        assert!(!covers(
            &[&scales],
            &[rule(&["get"], &["apps"], &["deployments"], &[])]
        ));
        assert!(!covers(
            &[&scales],
            &[rule(&["get"], &["apps"], &["deployments/status"], &[])]
        ));
    }

    #[test]
    fn paths_cover_what_begins_like_them() {
        let health = urls(&["get"], &["/healthz", "/healthz/*"]);
        assert!(covers(
            &[&health],
            &[urls(&["get"], &["/healthz/etcd", "/healthz"])]
        ));
        assert!(covers(&[&health], &[urls(&["get"], &["/healthz/*"])]));
        assert!(!covers(&[&health], &[urls(&["get"], &["/healthz*"])]));
        assert!(!covers(&[&health], &[urls(&["post"], &["/healthz"])]));
    }

    #[test]
    fn the_message_merges_verbs_and_is_sorted() {
        let user = User {
            name: "bob".into(),
            groups: texts(&["devs", "system:authenticated"]),
            ..User::default()
        };
        let wanted = [
            rule(&["get", "list"], &[""], &["secrets"], &[]),
            rule(&["get"], &[""], &["pods"], &["a"]),
            urls(&["get"], &["/metrics"]),
        ];
        let error = Escalation::new(&user, &missing(&[], &wanted), &[]);
        assert_eq!(
            error.to_string(),
            "user \"bob\" (groups=[\"devs\" \"system:authenticated\"]) is attempting to grant RBAC \
             permissions not currently held:\n\
             {APIGroups:[\"\"], Resources:[\"pods\"], ResourceNames:[\"a\"], Verbs:[\"get\"]}\n\
             {APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\" \"list\"]}\n\
             {NonResourceURLs:[\"/metrics\"], Verbs:[\"get\"]}"
        );
    }
}

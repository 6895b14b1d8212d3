//! Counts what the objects of a namespace use of a quota, as upstream's controller does.

use super::evaluator::{Evaluator, count_name};
use super::scopes::Scope;
use crate::amounts::{Amounts, add, only};
use kubist_api::core::v1::ResourceQuota;
use kubist_apimachinery::{AnyObject, Quantity, Str, Time};
use std::collections::BTreeSet;

/// A resource: group and plural.
pub(crate) type Resource = (String, String);

/// The resources that count by other names than `count/…`.
const SPECIAL: [(&str, &str); 8] = [
    ("", "pods"),
    ("", "services"),
    ("", "persistentvolumeclaims"),
    ("resource.k8s.io", "resourceclaims"),
    ("", "configmaps"),
    ("", "resourcequotas"),
    ("", "replicationcontrollers"),
    ("", "secrets"),
];

/// Returns the resources whose objects a quota counts.
pub(crate) fn counted_by(quota: &ResourceQuota) -> BTreeSet<Resource> {
    let hard = &quota.spec.hard;
    let owned = |(group, plural): (&str, &str)| (group.to_owned(), plural.to_owned());
    let special = SPECIAL.iter().filter(|(group, plural)| {
        let evaluator = Evaluator::of(group, plural);
        !evaluator.names(hard.keys()).is_empty()
    });
    let mut counted: BTreeSet<_> = special.map(|it| owned(*it)).collect();
    for name in hard.keys().filter_map(|it| it.strip_prefix("count/")) {
        let (plural, group) = name.split_once('.').unwrap_or((name, ""));
        debug_assert_eq!(count_name(group, plural), format!("count/{name}"));
        counted.insert(owned((group, plural)));
    }
    counted
}

/// Returns what the objects of one resource in its namespace use of a quota.
pub(crate) fn used_by<'a>(
    quota: &ResourceQuota,
    (group, plural): &Resource,
    objects: impl Iterator<Item = &'a dyn AnyObject>,
    now: Time,
) -> Amounts {
    let evaluator = Evaluator::of(group, plural);
    let names = evaluator.names(quota.spec.hard.keys());
    count(quota, &evaluator, &names, objects, now)
}

/// Returns what objects use of these names.
fn count<'a>(
    quota: &ResourceQuota,
    evaluator: &Evaluator,
    names: &BTreeSet<Str>,
    objects: impl Iterator<Item = &'a dyn AnyObject>,
    now: Time,
) -> Amounts {
    let zero = |name: &Str| (name.clone(), Quantity::default());
    let mut used: Amounts = names.iter().map(zero).collect();
    for object in objects {
        let mut scopes = Scope::of(&quota.spec);
        if scopes.all(|scope| evaluator.is_in(&scope, object)) {
            let usage = evaluator.usage(object, now);
            add(&mut used, &only(&usage, |name| names.contains(name)));
        }
    }
    used
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amounts::text;
    use kubist_api::core::v1::ConfigMap;

    fn quota(hard: &[(&str, &str)]) -> ResourceQuota {
        let mut quota = ResourceQuota::default();
        for (name, amount) in hard {
            let amount = amount.parse().expect("it is a quantity");
            quota.spec.hard.insert((*name).into(), amount);
        }
        quota
    }

    #[test]
    fn a_quota_counts_the_resources_that_it_names() {
        let quota = quota(&[
            ("requests.cpu", "1"),
            ("gold.storageclass.storage.k8s.io/requests.storage", "1"),
            ("secrets", "1"),
            ("count/widgets.example.com", "1"),
        ]);
        let names: Vec<String> = counted_by(&quota)
            .into_iter()
            .map(|(group, plural)| format!("{plural}.{group}"))
            .collect();
        assert_eq!(
            names,
            [
                "persistentvolumeclaims.",
                "pods.",
                "secrets.",
                "widgets.example.com"
            ]
        );
    }

    #[test]
    fn objects_are_counted_by_all_their_names() {
        let quota = quota(&[("configmaps", "5"), ("count/configmaps", "5")]);
        let evaluator = Evaluator::of("", "configmaps");
        let names = evaluator.names(quota.spec.hard.keys());
        let objects = [ConfigMap::default(), ConfigMap::default()];
        let objects = objects.iter().map(|it| -> &dyn AnyObject { it });
        let used = count(&quota, &evaluator, &names, objects, Time::from_unix(0));
        assert_eq!(text(&used), "configmaps=2,count/configmaps=2");
    }
}

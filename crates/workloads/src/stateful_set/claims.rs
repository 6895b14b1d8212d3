//! The PersistentVolumeClaims of a StatefulSet's Pods, and who owns them by the retention policy.

use super::identity;
use kubist_api::apps::v1::StatefulSet;
use kubist_api::core::v1::{PersistentVolumeClaim, Pod};
use kubist_apimachinery::{OwnerReference, Str};
use kubist_controller::controller_reference;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The claims that exist, by name.
pub(super) type Claims = BTreeMap<Str, Arc<PersistentVolumeClaim>>;

/// The name of the claim of a template and a number.
pub(super) fn name(set: &StatefulSet, template: &str, ordinal: i32) -> Str {
    format!("{template}-{}-{ordinal}", set.metadata.name).into()
}

/// Returns the claims of a number.
pub(super) fn wanted(set: &StatefulSet, ordinal: i32) -> Vec<PersistentVolumeClaim> {
    let selector = set.spec.selector.as_deref();
    let labels = selector
        .map(|it| it.match_labels.clone())
        .unwrap_or_default();
    let templates = set.spec.volume_claim_templates.iter();
    let of_number = templates.map(|template| {
        let mut claim = PersistentVolumeClaim {
            spec: template.spec.clone(),
            ..PersistentVolumeClaim::default()
        };
        claim.metadata.annotations = template.metadata.annotations.clone();
        claim.metadata.labels = template.metadata.labels.clone();
        claim.metadata.labels.extend(labels.clone());
        claim.metadata.name = name(set, &template.metadata.name, ordinal);
        claim.metadata.namespace = set.metadata.namespace.clone();
        claim
    });
    of_number.collect()
}

/// Whether claims are deleted: with the set, and when the set becomes smaller.
fn policy(set: &StatefulSet) -> (bool, bool) {
    let policy = set.spec.persistent_volume_claim_retention_policy.as_deref();
    let is_delete = |it: &Str| *it == "Delete";
    policy.map_or((false, false), |it| {
        (is_delete(&it.when_deleted), is_delete(&it.when_scaled))
    })
}

/// Reports whether a claim still belongs to an earlier Pod of this number, and will be deleted.
pub(super) fn is_stale(set: &StatefulSet, claims: &Claims, ordinal: i32) -> bool {
    let pod_name = identity::pod_name(set, ordinal);
    policy(set).1
        && wanted(set, ordinal).iter().any(|claim| {
            let known = claims.get(&claim.metadata.name);
            let mut owners = known
                .into_iter()
                .flat_map(|it| &it.metadata.owner_references);
            owners.any(|it| it.kind == "Pod" && it.name == pod_name)
        })
}

/// Returns the owners that a claim should have instead; none if it has them.
pub(super) fn owners(
    set: &StatefulSet,
    claim: &PersistentVolumeClaim,
    pod: &Pod,
) -> Option<Vec<OwnerReference>> {
    let is_set = |it: &OwnerReference| {
        it.kind == "StatefulSet" && it.api_version == "apps/v1" && it.name == set.metadata.name
    };
    let is_pod = |it: &OwnerReference| {
        it.kind == "Pod" && it.api_version == "v1" && it.name == pod.metadata.name
    };
    let ours = |it: &OwnerReference| is_set(it) || is_pod(it);
    let refs = &claim.metadata.owner_references;
    let is_stale = |it: &OwnerReference| {
        (is_set(it) && it.uid != set.metadata.uid) || (is_pod(it) && it.uid != pod.metadata.uid)
    };
    if refs.iter().any(is_stale) {
        // It belongs to a set or a Pod that is gone; the garbage collector will see to it.
        return None;
    }
    let (with_set, with_pod) = policy(set);
    let mut wanted: Vec<_> = refs.iter().filter(|it| !ours(it)).cloned().collect();
    let has_other = wanted.iter().any(|it| it.controller == Some(true));
    let is_surplus =
        identity::ordinal(set, pod).is_some_and(|ordinal| identity::index(set, ordinal).is_none());
    if has_other && (with_set || with_pod) {
        // Somebody else decides about it.
    } else if is_surplus && with_pod {
        wanted.push(controller_reference(pod));
    } else if with_set {
        wanted.push(controller_reference(set));
    }
    (wanted != *refs).then_some(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::apps::v1::StatefulSetPersistentVolumeClaimRetentionPolicy as Policy;

    fn set(deleted: &str, scaled: &str) -> StatefulSet {
        let mut set = StatefulSet::default();
        set.metadata.name = "db".into();
        set.metadata.uid = "set".into();
        set.spec.replicas = Some(1);
        let mut template = PersistentVolumeClaim::default();
        template.metadata.name = "data".into();
        set.spec.volume_claim_templates = vec![template];
        let selector = set.spec.selector.get_or_insert_default();
        selector.match_labels.insert("app".into(), "db".into());
        set.spec.persistent_volume_claim_retention_policy = Some(Box::new(Policy {
            when_deleted: deleted.into(),
            when_scaled: scaled.into(),
        }));
        set
    }

    fn pod(name: &str) -> Pod {
        let mut pod = Pod::default();
        pod.metadata.name = name.into();
        pod.metadata.uid = format!("uid-{name}").into();
        pod
    }

    #[test]
    fn owners_follow_the_policy() {
        for (deleted, scaled, of_wanted, of_surplus) in [
            ("Retain", "Retain", None, None),
            ("Delete", "Retain", Some("set"), Some("set")),
            ("Retain", "Delete", None, Some("uid-db-1")),
            ("Delete", "Delete", Some("set"), Some("uid-db-1")),
        ] {
            let set = set(deleted, scaled);
            for (name, expected) in [("db-0", of_wanted), ("db-1", of_surplus)] {
                let mut claim = PersistentVolumeClaim::default();
                let owners = owners(&set, &claim, &pod(name));
                let uid = owners.as_ref().and_then(|it| it.first()).map(|it| &*it.uid);
                assert_eq!(uid, expected, "{deleted} {scaled} {name}");
                claim.metadata.owner_references = owners.unwrap_or_default();
                assert_eq!(
                    super::owners(&set, &claim, &pod(name)),
                    None,
                    "it is settled"
                );
            }
        }
    }

    #[test]
    fn a_claim_of_an_earlier_pod_is_waited_for() {
        let set = set("Retain", "Delete");
        let mut claim = wanted(&set, 0).remove(0);
        assert_eq!(claim.metadata.name, "data-db-0");
        assert_eq!(claim.metadata.labels["app"], "db");
        claim.metadata.owner_references = vec![controller_reference(&pod("db-0"))];
        let claims = Claims::from([(claim.metadata.name.clone(), Arc::new(claim))]);
        assert!(is_stale(&set, &claims, 0));
        assert!(!is_stale(&set, &claims, 1));
    }
}

//! The template of each ReplicaSet: hashes, names, revisions and their annotations.

use super::annotations::{DESIRED_REPLICAS, HISTORY, MAX_REPLICAS, REVISION, number, put};
use kubist_api::apps::v1::{Deployment, ReplicaSet};
use kubist_api::core::v1::PodTemplateSpec;
use kubist_apimachinery::Str;
use kubist_apimachinery::wire::Wire as _;
use std::collections::BTreeMap;

/// The label that distinguishes the Pods of a Deployment's ReplicaSets.
pub(super) const HASH_LABEL: &str = "pod-template-hash";
/// Annotations of a Deployment that do not apply to its ReplicaSets.
const NOT_COPIED: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    "deprecated.deployment.rollback.to",
    REVISION,
    HISTORY,
    DESIRED_REPLICAS,
    MAX_REPLICAS,
];

/// Returns a short hash of a template, without vowels, so that it forms no words. It is FNV-1a of
/// our protobuf; upstream hashes a Go dump, so its names differ.
pub(super) fn template_hash(template: &PodTemplateSpec, collisions: i32) -> String {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut hash: u32 = 0x811c_9dc5;
    for byte in template
        .to_protobuf()
        .iter()
        .chain(&collisions.to_le_bytes())
    {
        hash = (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    }
    let letter = |digit: u8| char::from(ALPHABET[usize::from(digit) % ALPHABET.len()]);
    hash.to_string().bytes().map(letter).collect()
}

/// Reports whether a ReplicaSet was created from this template. The hash label is ignored.
pub(super) fn is_of(set: &ReplicaSet, template: &PodTemplateSpec) -> bool {
    fn without_hash(template: &PodTemplateSpec) -> BTreeMap<&Str, &Str> {
        let labels = template.metadata.labels.iter();
        labels.filter(|(key, _)| **key != HASH_LABEL).collect()
    }
    let own = &set.spec.template;
    own.spec == template.spec
        && own.metadata.annotations == template.metadata.annotations
        && without_hash(own) == without_hash(template)
}

/// Returns the revision of a ReplicaSet; 0 if it has none.
pub(super) fn revision(annotations: &BTreeMap<Str, Str>) -> i64 {
    number(annotations, REVISION).unwrap_or(0)
}

/// Sets the revision of the newest ReplicaSet (never a lower one) and copies the Deployment's
/// annotations; reports whether anything changed.
pub(super) fn annotate_revision(
    deployment: &Deployment,
    set: &mut ReplicaSet,
    newest: i64,
) -> bool {
    let mut changed = false;
    for (key, value) in &deployment.metadata.annotations {
        if !NOT_COPIED.contains(&&**key) {
            changed |= put(set, key, value.clone());
        }
    }
    let before = revision(&set.metadata.annotations);
    if before < newest {
        changed |= put(set, REVISION, newest.to_string().into());
        if before > 0 {
            let history = set.metadata.annotations.get(HISTORY);
            let history = history.map_or_else(|| before.to_string(), |it| format!("{it},{before}"));
            changed |= put(set, HISTORY, history.into());
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_follow_the_template_and_the_collision_count() {
        let mut template = PodTemplateSpec::default();
        let before = template_hash(&template, 0);
        assert_eq!(before, template_hash(&template, 0));
        assert_ne!(before, template_hash(&template, 1));
        template.spec.node_name = "elsewhere".into();
        assert_ne!(before, template_hash(&template, 0));
        assert!(before.len() <= 10 && before.bytes().all(|it| it.is_ascii_alphanumeric()));
    }

    #[test]
    fn a_set_is_of_a_template_whatever_its_hash_label() {
        let mut set = ReplicaSet::default();
        let template = PodTemplateSpec::default();
        let labels = &mut set.spec.template.metadata.labels;
        labels.insert(HASH_LABEL.into(), "bcdf".into());
        assert!(is_of(&set, &template));
        set.spec
            .template
            .metadata
            .labels
            .insert("app".into(), "web".into());
        assert!(!is_of(&set, &template));
    }

    #[test]
    fn a_template_that_comes_back_gets_a_new_revision_and_remembers_the_old() {
        let (mut deployment, mut set) = (Deployment::default(), ReplicaSet::default());
        let own = [("note", "a"), (NOT_COPIED[0], "{}")];
        let pair = |(key, value): (&str, &str)| (Str::from(key), Str::from(value));
        deployment.metadata.annotations = own.map(pair).into();
        assert!(annotate_revision(&deployment, &mut set, 1));
        assert!(!annotate_revision(&deployment, &mut set, 1));
        assert!(annotate_revision(&deployment, &mut set, 3));
        assert!(annotate_revision(&deployment, &mut set, 7));
        let expected = [("note", "a"), (REVISION, "7"), (HISTORY, "1,3")].map(pair);
        assert_eq!(set.metadata.annotations, expected.into());
    }
}

//! The identity of a StatefulSet's Pod: its ordinal, names, labels and volumes.

use super::claims;
use kubist_api::apps::v1::StatefulSet;
use kubist_api::core::v1::{PersistentVolumeClaimVolumeSource, Pod, PodTemplateSpec, Volume};
use kubist_apimachinery::Str;
use kubist_controller::controller_reference;

/// The label with the name of a Pod's revision.
pub(super) const REVISION: &str = "controller-revision-hash";
const POD_NAME: &str = "statefulset.kubernetes.io/pod-name";
const POD_INDEX: &str = "apps.kubernetes.io/pod-index";

/// The number of the first Pod.
pub(super) fn first(set: &StatefulSet) -> i32 {
    set.spec.ordinals.as_ref().map_or(0, |it| it.start)
}

/// How many Pods are wanted.
pub(super) fn size(set: &StatefulSet) -> i32 {
    set.spec.replicas.unwrap_or(1).max(0)
}

/// Returns the number of a Pod, if it is named as one of the set.
pub(super) fn ordinal(set: &StatefulSet, pod: &Pod) -> Option<i32> {
    let (parent, number) = pod.metadata.name.rsplit_once('-')?;
    let digits = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
    let number = number.parse().ok()?;
    (digits && parent == &*set.metadata.name).then_some(number)
}

/// Returns the index of a number among those that are wanted.
pub(super) fn index(set: &StatefulSet, ordinal: i32) -> Option<usize> {
    let index = ordinal.checked_sub(first(set))?;
    let index = usize::try_from(index).ok()?;
    (index < usize::try_from(size(set)).unwrap_or(0)).then_some(index)
}

pub(super) fn pod_name(set: &StatefulSet, ordinal: i32) -> Str {
    format!("{}-{ordinal}", set.metadata.name).into()
}

/// Returns the name of a Pod's revision.
pub(super) fn revision(pod: &Pod) -> &str {
    let label = pod.metadata.labels.get(REVISION);
    label.map(|it| &**it).unwrap_or_default()
}

/// Returns a Pod of the set with this number.
pub(super) fn made(
    set: &StatefulSet,
    template: &PodTemplateSpec,
    revision: &str,
    ordinal: i32,
) -> Pod {
    let mut pod = Pod {
        spec: template.spec.clone(),
        ..Pod::default()
    };
    let meta = &mut pod.metadata;
    meta.labels = template.metadata.labels.clone();
    meta.annotations = template.metadata.annotations.clone();
    meta.finalizers.clone_from(&template.metadata.finalizers);
    meta.owner_references = vec![controller_reference(set)];
    meta.labels.insert(REVISION.into(), revision.into());
    meta.generate_name = format!("{}-", set.metadata.name).into();
    meta.name = pod_name(set, ordinal);
    pod.spec.hostname = pod.metadata.name.clone();
    pod.spec.subdomain = set.spec.service_name.clone();
    restore(set, &mut pod, ordinal);
    pod
}

/// Reports whether the Pod has the labels and volumes of its number.
pub(super) fn fits(set: &StatefulSet, pod: &Pod, ordinal: i32) -> bool {
    let named = pod.metadata.labels.get(POD_NAME);
    named == Some(&pod.metadata.name)
        && set.spec.volume_claim_templates.iter().all(|template| {
            let wanted = claims::name(set, &template.metadata.name, ordinal);
            let mut volumes = pod.spec.volumes.iter();
            let volume = volumes.find(|it| it.name == template.metadata.name);
            let claim = volume.and_then(|it| it.persistent_volume_claim.as_ref());
            claim.is_some_and(|it| it.claim_name == wanted)
        })
}

/// Gives a Pod the labels and volumes of its number.
pub(super) fn restore(set: &StatefulSet, pod: &mut Pod, ordinal: i32) {
    pod.metadata.namespace = set.metadata.namespace.clone();
    let name = pod.metadata.name.clone();
    let labels = &mut pod.metadata.labels;
    labels.insert(POD_NAME.into(), name);
    labels.insert(POD_INDEX.into(), ordinal.to_string().into());
    let templates = &set.spec.volume_claim_templates;
    let is_claimed = |it: &Volume| templates.iter().any(|claim| claim.metadata.name == it.name);
    let others = std::mem::take(&mut pod.spec.volumes);
    let claimed = templates.iter().map(|template| {
        let mut volume = Volume {
            name: template.metadata.name.clone(),
            ..Volume::default()
        };
        volume.persistent_volume_claim = Some(Box::new(PersistentVolumeClaimVolumeSource {
            claim_name: claims::name(set, &template.metadata.name, ordinal),
            ..PersistentVolumeClaimVolumeSource::default()
        }));
        volume
    });
    let others = others.into_iter().filter(|it| !is_claimed(it));
    pod.spec.volumes = claimed.chain(others).collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::core::v1::PersistentVolumeClaim;

    #[test]
    fn a_pod_is_what_its_number_says() {
        let mut set = StatefulSet::default();
        set.metadata.name = "db-a".into();
        set.metadata.namespace = "shop".into();
        set.metadata.uid = "u".into();
        set.spec.replicas = Some(2);
        set.spec.service_name = "dbs".into();
        let mut claim = PersistentVolumeClaim::default();
        claim.metadata.name = "data".into();
        set.spec.volume_claim_templates = vec![claim];
        let mut template = PodTemplateSpec::default();
        for name in ["data", "tmp"] {
            template.spec.volumes.push(Volume {
                name: name.into(),
                ..Volume::default()
            });
        }
        let mut pod = made(&set, &template, "db-a-77", 1);
        assert_eq!(
            (&*pod.metadata.name, &*pod.spec.hostname),
            ("db-a-1", "db-a-1")
        );
        assert_eq!((&*pod.spec.subdomain, revision(&pod)), ("dbs", "db-a-77"));
        assert_eq!(pod.metadata.labels[POD_INDEX], "1");
        assert_eq!(pod.spec.volumes.len(), 2);
        assert!(fits(&set, &pod, 1));
        assert_eq!(ordinal(&set, &pod), Some(1));
        assert_eq!((index(&set, 1), index(&set, 2)), (Some(1), None));
        pod.spec.volumes.remove(0);
        assert!(!fits(&set, &pod, 1));
        for name in ["db-a-", "db-a-x", "db-1", "db-a-+1", "other-a-1"] {
            pod.metadata.name = name.into();
            assert_eq!(ordinal(&set, &pod), None, "{name}");
        }
    }
}

//! The next step of a claim and of a volume. No I/O.

use kubist_api::core::v1::{
    HostPathVolumeSource, ObjectReference, PersistentVolume, PersistentVolumeClaim,
};
use kubist_apimachinery::{Object as _, Str};

/// The finalizers of what is in use.
pub(super) const CLAIM_PROTECTION: &str = "kubernetes.io/pvc-protection";
pub(super) const VOLUME_PROTECTION: &str = "kubernetes.io/pv-protection";
/// The annotations of claims and volumes that were bound by a controller.
const COMPLETED: &str = "pv.kubernetes.io/bind-completed";
const BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";
const PROVISIONER: &str = "kubist.dev/simulated";

/// What is done for a claim next.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ClaimStep {
    /// Create its volume.
    Provision(Box<PersistentVolume>),
    /// Let the volume that it names be for it.
    Take(Box<PersistentVolume>),
    /// Let it name its volume.
    Name(Box<PersistentVolumeClaim>),
    /// Write that it is bound.
    Bind(Box<PersistentVolumeClaim>),
    /// Remove its finalizer, if no Pod uses it.
    Release,
    Nothing,
}

/// What is done for a volume next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VolumeStep {
    /// Write its phase.
    Phase(&'static str),
    Delete,
    /// Remove its finalizer.
    Release,
    Nothing,
}

/// Returns the name of a claim's volume, whether it exists or not.
pub(super) fn volume_name(claim: &PersistentVolumeClaim) -> Str {
    if claim.spec.volume_name.is_empty() {
        format!("pvc-{}", claim.metadata.uid).into()
    } else {
        claim.spec.volume_name.clone()
    }
}

/// Returns the next step of a claim with the volume of its name.
pub(super) fn of_claim(
    claim: &PersistentVolumeClaim,
    volume: Option<&PersistentVolume>,
) -> ClaimStep {
    let meta = &claim.metadata;
    if claim.is_terminating() {
        let is_kept = meta.finalizers.iter().any(|it| *it == CLAIM_PROTECTION);
        return if is_kept {
            ClaimStep::Release
        } else {
            ClaimStep::Nothing
        };
    }
    let Some(volume) = volume else {
        let may_provision = claim.spec.volume_name.is_empty();
        return if may_provision {
            ClaimStep::Provision(Box::new(provisioned(claim)))
        } else {
            ClaimStep::Nothing
        };
    };
    let Some(reference) = &volume.spec.claim_ref else {
        let mut volume = volume.clone();
        volume.spec.claim_ref = Some(Box::new(reference(claim)));
        return ClaimStep::Take(Box::new(volume));
    };
    if reference.uid != meta.uid {
        return ClaimStep::Nothing;
    }
    if claim.spec.volume_name.is_empty() {
        let mut named = claim.clone();
        named.spec.volume_name = volume.metadata.name.clone();
        for annotation in [COMPLETED, BY_CONTROLLER] {
            let annotations = &mut named.metadata.annotations;
            annotations.insert(annotation.into(), "yes".into());
        }
        return ClaimStep::Name(Box::new(named));
    }
    if claim.status.phase != "Bound" {
        let mut bound = claim.clone();
        bound.status.phase = "Bound".into();
        bound
            .status
            .access_modes
            .clone_from(&volume.spec.access_modes);
        bound.status.capacity.clone_from(&volume.spec.capacity);
        return ClaimStep::Bind(Box::new(bound));
    }
    ClaimStep::Nothing
}

/// Returns the next step of a volume with the claim of its reference's name.
pub(super) fn of_volume(
    volume: &PersistentVolume,
    claim: Option<&PersistentVolumeClaim>,
) -> VolumeStep {
    let (meta, spec) = (&volume.metadata, &volume.spec);
    let uid = spec.claim_ref.as_ref().map(|it| &it.uid);
    let is_bound = claim.is_some_and(|it| Some(&it.metadata.uid) == uid);
    if volume.is_terminating() {
        let is_kept = meta.finalizers.iter().any(|it| *it == VOLUME_PROTECTION);
        return if is_kept && !is_bound {
            VolumeStep::Release
        } else {
            VolumeStep::Nothing
        };
    }
    let phase = match uid {
        Some(uid) if !uid.is_empty() && !is_bound => {
            if spec.persistent_volume_reclaim_policy == "Delete" {
                return VolumeStep::Delete;
            }
            "Released"
        }
        Some(_) if is_bound => "Bound",
        _ => "Available",
    };
    if volume.status.phase == phase {
        VolumeStep::Nothing
    } else {
        VolumeStep::Phase(phase)
    }
}

fn reference(claim: &PersistentVolumeClaim) -> ObjectReference {
    ObjectReference::of(claim)
}

/// Returns a volume for a claim.
fn provisioned(claim: &PersistentVolumeClaim) -> PersistentVolume {
    let name = volume_name(claim);
    let mut volume = PersistentVolume::default();
    let annotations = &mut volume.metadata.annotations;
    annotations.insert(PROVISIONED_BY.into(), PROVISIONER.into());
    let spec = &mut volume.spec;
    spec.capacity.clone_from(&claim.spec.resources.requests);
    spec.access_modes.clone_from(&claim.spec.access_modes);
    spec.claim_ref = Some(Box::new(reference(claim)));
    spec.persistent_volume_reclaim_policy = "Delete".into();
    let class = claim.spec.storage_class_name.clone();
    spec.storage_class_name = class.unwrap_or_default();
    spec.volume_mode.clone_from(&claim.spec.volume_mode);
    spec.host_path = Some(Box::new(HostPathVolumeSource {
        path: format!("/kubist/{name}").into(),
        ..HostPathVolumeSource::default()
    }));
    volume.metadata.name = name;
    volume
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::Time;

    fn claim() -> PersistentVolumeClaim {
        let mut claim = PersistentVolumeClaim::default();
        claim.metadata.name = "data".into();
        claim.metadata.namespace = "shop".into();
        claim.metadata.uid = "u".into();
        claim.spec.access_modes = vec!["ReadWriteOnce".into()];
        claim
    }

    #[test]
    fn a_claim_gets_a_volume_of_its_own_and_both_say_so() {
        let mut claim = claim();
        let ClaimStep::Provision(volume) = of_claim(&claim, None) else {
            panic!("it needs one");
        };
        assert_eq!(volume.metadata.name, "pvc-u");
        let ClaimStep::Name(named) = of_claim(&claim, Some(&volume)) else {
            panic!("it names it");
        };
        claim = *named;
        assert_eq!(claim.metadata.annotations[COMPLETED], "yes");
        let ClaimStep::Bind(bound) = of_claim(&claim, Some(&volume)) else {
            panic!("it is bound");
        };
        assert_eq!(bound.status.access_modes, claim.spec.access_modes);
        assert_eq!(of_claim(&bound, Some(&volume)), ClaimStep::Nothing);
        assert_eq!(of_volume(&volume, Some(&bound)), VolumeStep::Phase("Bound"));
        assert_eq!(of_volume(&volume, None), VolumeStep::Delete);
    }

    #[test]
    fn a_volume_that_a_claim_names_is_taken_unless_it_is_anothers() {
        let mut claim = claim();
        claim.spec.volume_name = "mine".into();
        assert_eq!(of_claim(&claim, None), ClaimStep::Nothing);
        let mut volume = PersistentVolume::default();
        assert_eq!(of_volume(&volume, None), VolumeStep::Phase("Available"));
        volume.spec.persistent_volume_reclaim_policy = "Retain".into();
        let ClaimStep::Take(mut taken) = of_claim(&claim, Some(&volume)) else {
            panic!("it is free");
        };
        assert!(matches!(of_claim(&claim, Some(&taken)), ClaimStep::Bind(_)));
        assert_eq!(of_volume(&taken, None), VolumeStep::Phase("Released"));
        claim.metadata.uid = "other".into();
        assert_eq!(of_claim(&claim, Some(&taken)), ClaimStep::Nothing);
        taken.metadata.finalizers.push(VOLUME_PROTECTION.into());
        taken.metadata.deletion_timestamp = Some(Time::from_unix(1));
        assert_eq!(of_volume(&taken, Some(&claim)), VolumeStep::Release);
    }

    #[test]
    fn what_is_deleted_is_released() {
        let mut claim = claim();
        claim.metadata.deletion_timestamp = Some(Time::from_unix(1));
        assert_eq!(of_claim(&claim, None), ClaimStep::Nothing);
        claim.metadata.finalizers.push(CLAIM_PROTECTION.into());
        assert_eq!(of_claim(&claim, None), ClaimStep::Release);
    }
}

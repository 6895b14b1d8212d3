//! Validation of the volumes of a Pod.

use crate::shared::rules::{self, Errors};
use crate::volume;
use crate::volume::sources::OF_PODS;
use kubist_api::core::v1::Volume;
use kubist_apimachinery::{FieldError, FieldPath, Str, validate_name};
use std::collections::{BTreeMap, BTreeSet};

/// The volumes that containers may mount.
#[derive(Debug, Default)]
pub(crate) struct Volumes {
    /// The volume names, and whether each volume is a claim.
    claims: BTreeMap<Str, bool>,
}

impl Volumes {
    /// Reports whether a volume of this name exists.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.claims.contains_key(name)
    }

    /// Reports whether the volume is a claim, which containers may also use as a device; `None` if
    /// there is no such volume.
    pub(crate) fn is_claim(&self, name: &str) -> Option<bool> {
        self.claims.get(name).copied()
    }
}

/// Checks all volumes and returns the valid ones. `pod` is the name of the Pod, or `None` for a
/// template.
pub(crate) fn check(
    errors: &mut Errors,
    all: &[Volume],
    pod: Option<&str>,
    path: &FieldPath,
) -> Volumes {
    let generated = generated_claims(all, pod);
    let mut names = Volumes::default();
    for (index, volume) in all.iter().enumerate() {
        let path = path.index(index);
        let before = errors.len();
        volume::source_validation::check(errors, volume, &OF_PODS, &path);
        check_other_rules(errors, volume, pod, &path);
        let at = path.child("name");
        if rules::required(errors, &volume.name, &at) {
            rules::text(errors, &volume.name, &at, validate_name::dns1123_label);
        }
        if names.contains(&volume.name) {
            errors.push(FieldError::duplicate(&at, &volume.name));
        }
        if errors.len() == before {
            let is_claim = volume.persistent_volume_claim.is_some() || volume.ephemeral.is_some();
            names.claims.insert(volume.name.clone(), is_claim);
        }
        if let Some(claim) = &volume.persistent_volume_claim
            && generated.contains(claim.claim_name.as_str())
        {
            let path = path.child("persistentVolumeClaim").child("claimName");
            let detail = "must not reference a PVC that gets created for an ephemeral volume";
            errors.push(FieldError::invalid(&path, &claim.claim_name, detail));
        }
    }
    names
}

/// Returns the names of the claims that are created for the Pod.
fn generated_claims(all: &[Volume], pod: Option<&str>) -> BTreeSet<String> {
    let Some(pod) = pod.filter(|it| !it.is_empty()) else {
        return BTreeSet::new();
    };
    let is_ephemeral = |volume: &&Volume| volume.ephemeral.is_some();
    let name = |volume: &Volume| format!("{pod}-{}", volume.name);
    all.iter().filter(is_ephemeral).map(name).collect()
}

/// Checks rules that involve more than the source.
fn check_other_rules(errors: &mut Errors, volume: &Volume, pod: Option<&str>, path: &FieldPath) {
    const INITIATOR_AND_NAME_MAX: usize = 64;
    if let Some(iscsi) = &volume.iscsi
        && iscsi.initiator_name.is_some()
        && volume.name.len() + 1 + iscsi.target_portal.len() > INITIATOR_AND_NAME_MAX
    {
        let detail = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 \
                      characters if iscsi.initiatorName is specified.";
        errors.push(FieldError::invalid(
            &path.child("name"),
            &volume.name,
            detail,
        ));
    }
    let Some(pod) = pod else {
        return;
    };
    let only_source = volume::source_validation::present(volume)
        .filter(|&it| it != "name")
        .count()
        == 1;
    if volume.ephemeral.is_some() && only_source && !pod.is_empty() && !volume.name.is_empty() {
        let claim = format!("{pod}-{}", volume.name);
        for problem in validate_name::dns1123_subdomain(&claim) {
            let detail = format!("PVC name {claim:?}: {problem}");
            errors.push(FieldError::invalid(
                &path.child("name"),
                &volume.name,
                detail,
            ));
        }
    }
    // Templates may omit the image, which admission can add when Pods are created.
    if let Some(image) = &volume.image
        && only_source
    {
        rules::required(
            errors,
            &image.reference,
            &path.child("image").child("reference"),
        );
    }
}

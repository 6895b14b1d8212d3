//! PersistentVolumeClaims.

pub(crate) mod status;
pub(crate) mod update;

use crate::volume;
use crate::volume::claim_spec::{self, Tolerated};
use crate::volume::defaults::default_claim;
use kubist_api::core::v1::{
    PersistentVolumeClaim, PersistentVolumeClaimSpec, PersistentVolumeClaimStatus,
    TypedLocalObjectReference, TypedObjectReference,
};
use kubist_apimachinery::{FieldError, FieldPath};
use kubist_registry::{
    ForKind, KindStrategy, RequestContext, StatusKeeps, Strategy, StrategyFacts, validate_metadata,
};

#[derive(Debug)]
pub(crate) struct PersistentVolumeClaims;

impl KindStrategy for PersistentVolumeClaims {
    type Kind = PersistentVolumeClaim;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        status_keeps: StatusKeeps::Nothing,
        returns_deleted: true,
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        (name == "status").then_some(&ForKind(PersistentVolumeClaimsStatus))
    }
    fn apply_defaults(&self, object: &mut PersistentVolumeClaim) {
        default_claim(object);
    }
    fn prepare_for_create(&self, _: &RequestContext, new: &mut PersistentVolumeClaim) {
        // The phase is filled in on read.
        new.status = PersistentVolumeClaimStatus::default();
        drop_sources(&mut new.spec, None);
        normalize_data_sources(&mut new.spec);
    }
    fn prepare_for_update(
        &self,
        _: &RequestContext,
        new: &mut PersistentVolumeClaim,
        old: &PersistentVolumeClaim,
    ) {
        drop_sources(&mut new.spec, Some(&old.spec));
        normalize_data_sources(&mut new.spec);
    }
    fn warnings(
        &self,
        new: &PersistentVolumeClaim,
        _: Option<&PersistentVolumeClaim>,
    ) -> Vec<String> {
        let mut found = volume::warnings::of_claim_metadata(&new.metadata);
        volume::warnings::of_claim(&mut found, &new.spec, &FieldPath::new("spec"));
        found
    }
    fn validate(&self, new: &PersistentVolumeClaim) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("spec");
        claim_spec::check(&mut errors, &new.spec, Tolerated::default(), &path);
        errors
    }
    fn validate_update(
        &self,
        new: &PersistentVolumeClaim,
        old: &PersistentVolumeClaim,
    ) -> Vec<FieldError> {
        // Upstream validates the metadata a second time.
        let mut errors = validate_metadata(
            &new.metadata,
            true,
            Self::FACTS.name_rule,
            Self::FACTS.metadata_rules,
        );
        let (path, tolerated) = (FieldPath::new("spec"), Tolerated::of(&old.spec));
        claim_spec::check(&mut errors, &new.spec, tolerated, &path);
        update::check(&mut errors, new, old);
        errors
    }
}

/// The status strategy of [`PersistentVolumeClaims`].
#[derive(Debug)]
struct PersistentVolumeClaimsStatus;

impl KindStrategy for PersistentVolumeClaimsStatus {
    type Kind = PersistentVolumeClaim;

    fn validate_update(
        &self,
        new: &PersistentVolumeClaim,
        _: &PersistentVolumeClaim,
    ) -> Vec<FieldError> {
        status::check(new)
    }
}

/// Drops data sources that upstream ignores, unless the stored claim already has one: sources in
/// other namespaces (upstream's gate CrossNamespaceVolumeDataSource is off by default), and in the
/// older field everything except claims and snapshots.
fn drop_sources(spec: &mut PersistentVolumeClaimSpec, old: Option<&PersistentVolumeClaimSpec>) {
    let has = |of: fn(&PersistentVolumeClaimSpec) -> bool| old.is_some_and(of);
    let elsewhere = |it: &TypedObjectReference| !it.namespace.as_deref().unwrap_or("").is_empty();
    if spec.data_source_ref.as_deref().is_some_and(elsewhere)
        && !has(|old| old.data_source_ref.is_some())
    {
        spec.data_source_ref = None;
    }
    if spec.data_source_ref.is_some()
        || has(|old| old.data_source.is_some() || old.data_source_ref.is_some())
    {
        return;
    }
    let is_known = |it: &TypedLocalObjectReference| {
        let group = it.api_group.as_deref().unwrap_or_default();
        let known = [
            ("", "PersistentVolumeClaim"),
            ("snapshot.storage.k8s.io", "VolumeSnapshot"),
        ];
        known.contains(&(group, it.kind.as_str()))
    };
    if !spec.data_source.as_deref().is_some_and(is_known) {
        spec.data_source = None;
    }
}

/// Synchronizes the two data source fields as far as possible.
fn normalize_data_sources(spec: &mut PersistentVolumeClaimSpec) {
    match (&spec.data_source, &spec.data_source_ref) {
        (Some(source), None) => {
            spec.data_source_ref = Some(Box::new(TypedObjectReference {
                api_group: source.api_group.clone(),
                kind: source.kind.clone(),
                name: source.name.clone(),
                namespace: None,
            }));
        }
        (None, Some(source)) if source.namespace.as_deref().unwrap_or_default().is_empty() => {
            spec.data_source = Some(Box::new(TypedLocalObjectReference {
                api_group: source.api_group.clone(),
                kind: source.kind.clone(),
                name: source.name.clone(),
            }));
        }
        _ => {}
    }
}

//! Namespaces. Their deletion is the store's business.

pub(crate) mod labels;

use crate::shared::metadata_checks;
use crate::shared::rules::Errors;
use kubist_api::core::v1::Namespace;
use kubist_apimachinery::{FieldError, FieldPath};
use kubist_registry::{
    ForKind, KindStrategy, MetadataUpdate, NameRule, RequestContext, StatusKeeps, Strategy,
    StrategyFacts,
};

#[derive(Debug)]
pub(crate) struct Namespaces;

/// By it namespaces can be selected by name.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";
/// What waits for the contents to be gone.
const FINALIZER: &str = "kubernetes";

impl KindStrategy for Namespaces {
    type Kind = Namespace;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        name_rule: NameRule::DnsLabel,
        metadata_on_update: MetadataUpdate::Whole,
        status_keeps: StatusKeeps::Nothing,
        returns_deleted: true,
        selectable_fields: &["status.phase"],
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        match name {
            "status" => Some(&ForKind(NamespacesStatus)),
            "finalize" => Some(&ForKind(NamespacesFinalize)),
            _ => None,
        }
    }
    fn apply_defaults(&self, object: &mut Namespace) {
        let name = object.metadata.name.clone();
        // A name that is to be generated is not known yet.
        if !name.is_empty() {
            object.metadata.labels.insert(NAME_LABEL.into(), name);
        }
        crate::shared::fill::text(&mut object.status.phase, "Active");
    }
    fn prepare_for_create(&self, _: &RequestContext, new: &mut Namespace) {
        new.status.phase = "Active".into();
        let name = new.metadata.name.clone();
        new.metadata.labels.insert(NAME_LABEL.into(), name);
        if !new.spec.finalizers.iter().any(|it| it == FINALIZER) {
            new.spec.finalizers.push(FINALIZER.into());
        }
    }
    fn prepare_for_update(&self, _: &RequestContext, new: &mut Namespace, old: &Namespace) {
        new.spec.finalizers.clone_from(&old.spec.finalizers);
        new.status = old.status.clone();
    }
    fn validate(&self, new: &Namespace) -> Vec<FieldError> {
        let mut errors = check_finalizers(new);
        check_labels(&mut errors, new, None);
        errors
    }
    fn validate_update(&self, new: &Namespace, old: &Namespace) -> Vec<FieldError> {
        let mut errors = check_finalizers(new);
        errors.extend(metadata_checks::change(self, new, old));
        check_labels(&mut errors, new, Some(old));
        errors
    }
}

/// `namespaces/finalize`, which changes what a namespace waits for.
#[derive(Debug)]
struct NamespacesFinalize;

impl KindStrategy for NamespacesFinalize {
    type Kind = Namespace;

    fn validate_update(&self, new: &Namespace, _: &Namespace) -> Vec<FieldError> {
        let path = FieldPath::new("spec").child("finalizers");
        let finalizers = new.spec.finalizers.iter().enumerate();
        finalizers
            .flat_map(|(index, it)| kubist_registry::validate_finalizer(it, &path.index(index)))
            .collect()
    }
}

/// Changes of the status of [`Namespaces`].
#[derive(Debug)]
struct NamespacesStatus;

impl KindStrategy for NamespacesStatus {
    type Kind = Namespace;

    fn validate_update(&self, new: &Namespace, _: &Namespace) -> Vec<FieldError> {
        let mut errors: Errors = Vec::new();
        // Upstream's path.
        let path = FieldPath::new("status").child("Phase");
        let (phase, detail) = if new.metadata.is_terminating() {
            let detail = "may only be 'Terminating' if `deletionTimestamp` is not empty";
            ("Terminating", detail)
        } else {
            let detail = "may only be 'Active' if `deletionTimestamp` is empty";
            ("Active", detail)
        };
        if new.status.phase != phase {
            errors.push(FieldError::invalid(&path, &new.status.phase, detail));
        }
        errors
    }
}

fn check_finalizers(namespace: &Namespace) -> Errors {
    let path = FieldPath::new("spec").child("finalizers");
    let finalizers = namespace.spec.finalizers.iter();
    finalizers
        .flat_map(|it| kubist_registry::validate_finalizer(it, &path))
        .collect()
}

/// Upstream looks at what labels mean once everything else is right.
fn check_labels(errors: &mut Errors, new: &Namespace, old: Option<&Namespace>) {
    if errors.is_empty() {
        labels::check(errors, &new.metadata, old.map(|it| &it.metadata));
    }
}

//! Namespaces. The store handles their deletion.

pub(crate) mod labels;

use crate::shared::metadata_checks;
use crate::shared::rules::Errors;
use kubist_api::core::v1::Namespace;
use kubist_apimachinery::{FieldError, FieldPath};
use kubist_registry::{
    ForKind, KindStrategy, MetadataUpdate, NameRule, RequestContext, ResetFields, StatusKeeps,
    Strategy, StrategyFacts,
};

#[derive(Debug)]
pub(crate) struct Namespaces;

/// The label by which a namespace can be selected by name.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";
/// The finalizer that is removed once the contents are deleted.
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
        // A generated name is not known yet.
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

/// The subresource `namespaces/finalize`, which changes the finalizers of a namespace.
#[derive(Debug)]
struct NamespacesFinalize;

impl KindStrategy for NamespacesFinalize {
    type Kind = Namespace;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        reset_fields: ResetFields::Paths(&[&["status"]]),
        ..StrategyFacts::PLAIN
    };

    fn validate_update(&self, new: &Namespace, _: &Namespace) -> Vec<FieldError> {
        let path = FieldPath::new("spec").child("finalizers");
        let finalizers = new.spec.finalizers.iter().enumerate();
        finalizers
            .flat_map(|(index, it)| kubist_registry::validate_finalizer(it, &path.index(index)))
            .collect()
    }
}

/// The status strategy of [`Namespaces`].
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

/// Upstream checks the meaning of labels only if there are no other errors.
fn check_labels(errors: &mut Errors, new: &Namespace, old: Option<&Namespace>) {
    if errors.is_empty() {
        labels::check(errors, &new.metadata, old.map(|it| &it.metadata));
    }
}

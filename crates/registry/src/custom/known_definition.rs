//! `KnownDefinition`: a stored definition as long as the server follows it.
//!
//! A decoded schema takes fifty times its stored bytes, so the whole definition is held only until
//! its change is processed. If it is needed later, it is read from storage again.

use crate::custom::approval;
use crate::custom::structural::Problem;
use crate::stored::Stored;
use kubist_api::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionSpec, CustomResourceDefinitionVersion,
};
use kubist_apimachinery::{AnyObject, ObjectMeta};
use std::any::Any;
use std::sync::OnceLock;

/// A stored definition.
#[derive(Clone)]
pub(crate) struct KnownDefinition {
    /// The whole definition, until it is settled.
    whole: Option<Stored>,
    revision: u64,
    is_settled: bool,
    /// The parts of the definition that decide what happens to it, with the status that the server
    /// has set last. Any change of the other parts of the spec increments the generation.
    pub(crate) outline: CustomResourceDefinition,
    /// Why its schemas are not structural, if they are not; found out when it is first asked for.
    problem: OnceLock<Option<Problem>>,
}

impl KnownDefinition {
    /// Returns the definition in a stored value; `None` if it cannot be decoded.
    pub(crate) fn of(stored: &Stored) -> Option<Self> {
        let definition = definition_in(stored)?;
        Some(Self {
            whole: Some(stored.clone()),
            revision: stored.revision(),
            is_settled: false,
            outline: outline(definition),
            problem: OnceLock::new(),
        })
    }

    /// Takes over a later state of the definition. Returns whether there is something to settle: a
    /// write of the server's own status, or of a label, changes nothing.
    pub(crate) fn follow(&mut self, later: Self) -> bool {
        let (before, now) = (&mut self.outline, &later.outline);
        let version = &now.metadata.resource_version;
        before.metadata.resource_version.clone_from(version);
        if self.is_settled && *before == *now {
            self.revision = later.revision;
            return false;
        }
        *self = later;
        true
    }

    /// Returns why its schemas are not structural, if they are not. It is known once the definition
    /// has been processed.
    pub(crate) fn problem(&self) -> Option<&Problem> {
        let find = || Problem::of(definition_in(self.whole.as_ref()?)?);
        self.problem.get_or_init(find).as_ref()
    }

    /// Notes that the definition, with this status, has been processed.
    pub(crate) fn settle(&mut self, definition: &CustomResourceDefinition) {
        self.outline.status.clone_from(&definition.status);
        self.is_settled = true;
        self.whole = None;
    }

    /// Returns whether the whole definition has to be read from storage.
    pub(crate) fn is_reduced(&self) -> bool {
        self.whole.is_none()
    }

    /// Returns the whole definition, with the status of the outline. `read`: what storage has, if
    /// it had to be read. If that is another version, there is none: an event follows.
    pub(crate) fn decode(&self, read: Option<&Stored>) -> Option<CustomResourceDefinition> {
        let whole = self.whole.as_ref().or(read)?;
        if whole.revision() != self.revision {
            return None;
        }
        let mut whole = definition_in(whole)?.clone();
        whole.status.clone_from(&self.outline.status);
        Some(whole)
    }

    /// Notes that the definition could not be processed.
    pub(crate) fn miss(&mut self) {
        self.is_settled = false;
    }
}

fn definition_in(stored: &Stored) -> Option<&CustomResourceDefinition> {
    let object: &dyn AnyObject = &**stored.object().ok()?;
    let object: &dyn Any = object;
    object.downcast_ref()
}

fn outline(whole: &CustomResourceDefinition) -> CustomResourceDefinition {
    let (meta, spec) = (&whole.metadata, &whole.spec);
    let approval = meta.annotations.get_key_value(approval::ANNOTATION);
    let approval = approval.map(|(name, text)| (name.clone(), text.clone()));
    let version = |it: &CustomResourceDefinitionVersion| CustomResourceDefinitionVersion {
        name: it.name.clone(),
        served: it.served,
        storage: it.storage,
        ..CustomResourceDefinitionVersion::default()
    };
    CustomResourceDefinition {
        metadata: ObjectMeta {
            name: meta.name.clone(),
            uid: meta.uid.clone(),
            resource_version: meta.resource_version.clone(),
            generation: meta.generation,
            deletion_timestamp: meta.deletion_timestamp,
            finalizers: meta.finalizers.clone(),
            annotations: approval.into_iter().collect(),
            ..ObjectMeta::default()
        },
        spec: CustomResourceDefinitionSpec {
            group: spec.group.clone(),
            names: spec.names.clone(),
            scope: spec.scope.clone(),
            versions: spec.versions.iter().map(version).collect(),
            conversion: spec.conversion.clone(),
            preserve_unknown_fields: spec.preserve_unknown_fields,
        },
        status: whole.status.clone(),
    }
}

//! CustomResourceDefinitions as objects. The resources that they define are served by `custom`.

pub(crate) mod conversion;
pub(crate) mod fields;
pub(crate) mod form;
pub(crate) mod names;
pub(crate) mod schemas;
pub(crate) mod validation;

use crate::shared::fill;
use kubist_api::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinition, CustomResourceDefinitionStatus,
};
use kubist_apimachinery::{FieldError, Time};
use kubist_registry::{
    ForKind, Generation, KindStrategy, MetadataRules, RequestContext, StatusKeeps, Strategy,
    StrategyFacts, custom,
};

#[derive(Debug)]
pub(crate) struct CustomResourceDefinitions;

impl KindStrategy for CustomResourceDefinitions {
    type Kind = CustomResourceDefinition;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_rules: MetadataRules::Lenient,
        generation: Generation::Spec,
        // Upstream intends to keep everything, but keeps nothing.
        status_keeps: StatusKeeps::Nothing,
        allow_unconditional_update: false,
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        (name == "status").then_some(&ForKind(CustomResourceDefinitionsStatus))
    }
    fn apply_defaults(&self, object: &mut CustomResourceDefinition) {
        let names = &mut object.spec.names;
        let kind = names.kind.clone();
        if !kind.is_empty() {
            fill::text(&mut names.singular, &kind.to_lowercase());
            fill::text(&mut names.list_kind, &format!("{kind}List"));
        }
        let conversion = object.spec.conversion.get_or_insert_with(|| {
            let strategy = "None".into();
            Box::new(CustomResourceConversion {
                strategy,
                ..CustomResourceConversion::default()
            })
        });
        let client = conversion
            .webhook
            .as_mut()
            .and_then(|it| it.client_config.as_mut());
        if let Some(service) = client.and_then(|it| it.service.as_mut()) {
            service.port.get_or_insert(443);
        }
    }
    fn prepare_for_create(&self, _: &RequestContext, new: &mut CustomResourceDefinition) {
        // Only the server sets the status: the stored versions and the conditions.
        new.status = CustomResourceDefinitionStatus::default();
        note_storage(new);
    }
    fn prepare_for_update(
        &self,
        _: &RequestContext,
        new: &mut CustomResourceDefinition,
        _: &CustomResourceDefinition,
    ) {
        note_storage(new);
    }
    fn validate(&self, new: &CustomResourceDefinition) -> Vec<FieldError> {
        validation::check(new)
    }
    fn validate_update(
        &self,
        new: &CustomResourceDefinition,
        old: &CustomResourceDefinition,
    ) -> Vec<FieldError> {
        validation::check_update(new, old)
    }
    fn name_problems(
        &self,
        object: &CustomResourceDefinition,
        name: &str,
        prefix: bool,
    ) -> Vec<String> {
        let mut problems = Self::FACTS.name_rule.check(name, prefix);
        let spec = &object.spec;
        if *name != format!("{}.{}", spec.names.plural, spec.group) {
            problems.push("must be spec.names.plural+\".\"+spec.group".to_owned());
        }
        problems
    }
    fn begin_deletion(&self, object: &mut CustomResourceDefinition, now: Time) -> bool {
        custom::mark(object, now);
        true
    }
}

/// The `status` subresource of [`CustomResourceDefinitions`].
#[derive(Debug)]
struct CustomResourceDefinitionsStatus;

impl KindStrategy for CustomResourceDefinitionsStatus {
    type Kind = CustomResourceDefinition;

    fn validate_update(
        &self,
        new: &CustomResourceDefinition,
        _: &CustomResourceDefinition,
    ) -> Vec<FieldError> {
        validation::check_names_of_status(new)
    }
}

/// Records the current storage version. If several versions are marked, it records the first one,
/// and validation refuses the object.
fn note_storage(definition: &mut CustomResourceDefinition) {
    if let Some(version) = definition.spec.versions.iter().find(|it| it.storage) {
        let stored = &mut definition.status.stored_versions;
        if !stored.contains(&version.name) {
            stored.push(version.name.clone());
        }
    }
}

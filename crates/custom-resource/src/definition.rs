//! The definition of one version of a kind, from its facts and the schemas of its parts.

use crate::facts::Facts;
use crate::structural::{Object, SchemaError, structural};
use crate::{CustomResource, Rule};
use kubist_api::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinition, CustomResourceDefinitionNames,
    CustomResourceDefinitionSpec, CustomResourceDefinitionVersion, CustomResourceSubresourceScale,
    CustomResourceSubresourceStatus, CustomResourceSubresources, CustomResourceValidation,
    JSONSchemaProps, SelectableField,
};
use kubist_apimachinery::wire::{DecodeContext, Wire as _, WireError};
use kubist_apimachinery::{CONDITION_TRUE, ObjectMeta, Resource, Scope, Str};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// A kind has no definition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// A type has no structural schema.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// A keyword of a schema has a value that definitions do not allow, as from
    /// `#[schemars(extend(...))]`.
    #[error("the schema does not fit a definition: {0}")]
    Keyword(#[from] WireError),
}

/// Reports whether a definition is there and served: its condition `Established` is true.
///
/// It is what to wait for after a definition was created, with the client's
/// `Api::wait_until_within`. `None` is a definition that does not exist.
pub fn is_established(definition: Option<&CustomResourceDefinition>) -> bool {
    let mut conditions = definition.into_iter().flat_map(|it| &it.status.conditions);
    conditions.any(|it| it.type_ == "Established" && it.status == CONDITION_TRUE)
}

/// Returns the structural schema of one type, with its subschemas in place.
fn schema_of<T: JsonSchema>(path: &str) -> Result<Value, SchemaError> {
    let settings = SchemaSettings::draft2020_12().with(|it| it.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>();
    structural(schema.as_value(), path).map(Value::Object)
}

fn root_schema<K: CustomResource>() -> Result<JSONSchemaProps, DefinitionError> {
    let facts = K::FACTS;
    let mut properties = Object::new();
    properties.insert("spec".to_owned(), schema_of::<K::Spec>("spec")?);
    if facts.has_status {
        let mut status = schema_of::<K::Status>("status")?;
        // Objects have no status before a controller writes one.
        if let Value::Object(status) = &mut status {
            status.insert("nullable".to_owned(), true.into());
        }
        properties.insert("status".to_owned(), status);
    }
    let mut root = json!({"type": "object", "required": ["spec"], "properties": properties});
    if !facts.description.is_empty() {
        root["description"] = facts.description.into();
    }
    let rules = (facts.rules)();
    if !rules.is_empty() {
        let rules: Vec<Value> = rules.iter().map(Rule::to_json).collect();
        root["x-kubernetes-validations"] = rules.into();
    }
    let text = root.to_string();
    Ok(JSONSchemaProps::from_json(
        text.as_bytes(),
        &mut DecodeContext::new(),
    )?)
}

pub(crate) fn definition<K: CustomResource>() -> Result<CustomResourceDefinition, DefinitionError> {
    let facts = K::FACTS;
    let names = CustomResourceDefinitionNames {
        plural: K::PLURAL.into(),
        singular: K::SINGULAR.into(),
        short_names: strings(facts.short_names),
        kind: K::KIND.into(),
        list_kind: K::LIST_KIND.into(),
        categories: strings(facts.categories),
    };
    let pairs = |pairs: &[(&str, &str)]| {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| (Str::from(*name), Str::from(*value)))
            .collect()
    };
    let metadata = ObjectMeta {
        name: K::definition_name().into(),
        annotations: pairs(facts.annotations),
        labels: pairs(facts.labels),
        ..ObjectMeta::default()
    };
    let namespaced = <<K as Resource>::Scope as Scope>::NAMESPACED;
    let spec = CustomResourceDefinitionSpec {
        group: K::GROUP.into(),
        names,
        scope: if namespaced { "Namespaced" } else { "Cluster" }.into(),
        versions: vec![version::<K>(&facts)?],
        ..CustomResourceDefinitionSpec::default()
    };
    Ok(CustomResourceDefinition {
        metadata,
        spec,
        ..CustomResourceDefinition::default()
    })
}

fn version<K: CustomResource>(
    facts: &Facts,
) -> Result<CustomResourceDefinitionVersion, DefinitionError> {
    let validation = CustomResourceValidation {
        open_api_v3_schema: Some(Box::new(root_schema::<K>()?)),
    };
    let columns = facts
        .columns
        .iter()
        .map(|column| CustomResourceColumnDefinition {
            name: column.name.into(),
            type_: column.kind.into(),
            format: column.format.into(),
            description: column.description.into(),
            priority: column.priority,
            json_path: column.json_path.into(),
        });
    let selectable = facts.selectable.iter();
    let selectable = selectable.map(|path| SelectableField {
        json_path: (*path).into(),
    });
    Ok(CustomResourceDefinitionVersion {
        name: K::VERSION.into(),
        served: facts.served,
        storage: facts.storage,
        deprecated: facts.deprecated,
        deprecation_warning: facts.deprecation_warning.map(Str::from),
        schema: Some(Box::new(validation)),
        subresources: subresources(facts).map(Box::new),
        additional_printer_columns: columns.collect(),
        selectable_fields: selectable.collect(),
    })
}

fn subresources(facts: &Facts) -> Option<CustomResourceSubresources> {
    let status = facts
        .has_status
        .then(|| Box::new(CustomResourceSubresourceStatus {}));
    let scale = facts.scale.map(|scale| {
        Box::new(CustomResourceSubresourceScale {
            spec_replicas_path: scale.spec_replicas.into(),
            status_replicas_path: scale.status_replicas.into(),
            label_selector_path: scale.label_selector.map(Str::from),
        })
    });
    let any = status.is_some() || scale.is_some();
    any.then_some(CustomResourceSubresources { status, scale })
}

fn strings(texts: &[&str]) -> Vec<Str> {
    texts.iter().map(|text| Str::from(*text)).collect()
}

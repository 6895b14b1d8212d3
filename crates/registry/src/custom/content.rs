//! `ServedContent`: the served content of a definition.

use super::static_texts::Shortage;
use crate::custom::CLEANUP;
use crate::custom::compiled_schema::schema_of;
use crate::custom::conversion::{Conversion, ConversionParts};
use crate::custom::pipeline::Pipeline;
use crate::custom::scale::ScalePaths;
use crate::custom::shape::Shape;
use crate::store::DefinedBy;
use crate::store::custom_version::CustomVersion;
use crate::store::field_managers::{ConvertVersions, FieldManagers};
use kubist_api::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionNames, CustomResourceDefinitionVersion,
};
use kubist_apimachinery::wire::to_json_value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The served content of a definition.
pub(crate) struct ServedContent {
    pub(crate) by: DefinedBy,
    /// The versions that are served.
    pub(crate) shapes: Vec<Arc<Shape>>,
    pub(crate) stored: Arc<Shape>,
    pub(crate) conversion: Arc<Conversion>,
    pub(crate) is_ending: bool,
    /// The generation of the definition, which any change of a schema increments.
    pub(crate) generation: i64,
    pub(crate) field_managers: Arc<FieldManagers>,
}

impl ServedContent {
    /// Returns the served content of a definition; `None` if it serves nothing. Without `parts`, no
    /// webhook is called.
    pub(crate) fn of(
        definition: &CustomResourceDefinition,
        parts: Option<&ConversionParts>,
    ) -> Result<Option<Self>, Shortage> {
        // Objects may still be stored in versions that are no longer served.
        let stored_in = &definition.status.stored_versions;
        let versions = definition.spec.versions.iter();
        let versions =
            versions.filter(|it| it.storage || it.served || stored_in.contains(&it.name));
        let versions = versions.map(|version| {
            let shape = Shape::of(definition, version)?;
            Ok((version, shape))
        });
        let versions = versions.collect::<Result<Vec<_>, Shortage>>()?;
        let Some((_, stored)) = versions.iter().find(|(version, _)| version.storage) else {
            return Ok(None);
        };
        let (mut pipelines, mut types) = (Vec::new(), BTreeMap::new());
        for (version, shape) in &versions {
            let schema = schema_of(version).map(|it| to_json_value(it));
            let pipeline = Pipeline::new(definition, version, schema.as_ref(), shape.kind);
            pipelines.push(pipeline);
            if version.storage || version.served {
                let api_version = shape.kind.facts().api_version;
                let replicas = shape.scale.as_ref().and_then(ScalePaths::replicas_path);
                types.insert(api_version.into(), CustomVersion::new(schema, replicas));
            }
        }
        let conversion = Arc::new(Conversion::of(definition, pipelines, parts));
        let converter: Arc<dyn ConvertVersions> = Arc::clone(&conversion) as _;
        let converter = conversion.has_webhook().then_some(converter);
        let field_managers = FieldManagers::custom(types, converter);
        let of_served = versions.iter().filter(|(version, _)| version.served);
        Ok(Some(Self {
            by: defined_by(definition),
            stored: Arc::clone(stored),
            shapes: of_served.map(|(_, shape)| Arc::clone(shape)).collect(),
            conversion,
            is_ending: is_ending(definition),
            generation: definition.metadata.generation,
            field_managers,
        }))
    }

    /// Returns a definition reduced to what the deletion of its objects needs.
    pub(crate) fn bare(definition: &CustomResourceDefinition) -> Option<Self> {
        let mut bare = definition.clone();
        let accepted = std::mem::take(&mut bare.status.accepted_names);
        let named = [accepted, std::mem::take(&mut bare.spec.names)];
        let named = named.into_iter().find(|it| !it.kind.is_empty())?;
        bare.spec.names = CustomResourceDefinitionNames {
            plural: definition.spec.names.plural.clone(),
            kind: named.kind,
            ..CustomResourceDefinitionNames::default()
        };
        let stored = bare.spec.versions.iter().position(|it| it.storage);
        let version = CustomResourceDefinitionVersion {
            name: bare.spec.versions.get(stored.unwrap_or(0))?.name.clone(),
            storage: true,
            ..CustomResourceDefinitionVersion::default()
        };
        let stored = Shape::of(&bare, &version).ok()?;
        Some(Self {
            by: defined_by(definition),
            shapes: Vec::new(),
            stored,
            conversion: Arc::new(Conversion::of(&bare, Vec::new(), None)),
            is_ending: true,
            generation: definition.metadata.generation,
            field_managers: FieldManagers::custom(BTreeMap::new(), None),
        })
    }
}

pub(crate) fn defined_by(definition: &CustomResourceDefinition) -> DefinedBy {
    DefinedBy {
        name: definition.metadata.name.clone(),
        uid: definition.metadata.uid.clone(),
    }
}

pub(crate) fn is_ending(definition: &CustomResourceDefinition) -> bool {
    let meta = &definition.metadata;
    meta.is_terminating() && meta.finalizers.iter().any(|it| it == CLEANUP)
}

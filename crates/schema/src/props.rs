//! Walks over the schema of a definition.

use crate::convert::SCHEMA_DEPTH_MAX;
use kubist_api::apiextensions::v1::JSONSchemaProps;

/// Reports whether a predicate holds for a schema or one within.
pub(crate) fn any(schema: &JSONSchemaProps, holds: &dyn Fn(&JSONSchemaProps) -> bool) -> bool {
    holds(schema) || any_child(schema, &|it| any(it, holds))
}

/// Reports whether a schema nests more than [`SCHEMA_DEPTH_MAX`] levels.
pub(crate) fn is_too_deep(schema: &JSONSchemaProps) -> bool {
    exceeds(schema, SCHEMA_DEPTH_MAX)
}

fn exceeds(schema: &JSONSchemaProps, depth: usize) -> bool {
    match depth.checked_sub(1) {
        None => true,
        Some(depth) => any_child(schema, &|it| exceeds(it, depth)),
    }
}

/// Reports whether a predicate holds for a schema directly within.
fn any_child(schema: &JSONSchemaProps, holds: &dyn Fn(&JSONSchemaProps) -> bool) -> bool {
    let items = schema.items.as_deref();
    let additional = [&schema.additional_properties, &schema.additional_items];
    let dependencies = schema.dependencies.values();
    items.and_then(|it| it.schema.as_deref()).is_some_and(holds)
        || items.is_some_and(|it| it.json_schemas.iter().any(holds))
        || [&schema.all_of, &schema.any_of, &schema.one_of]
            .into_iter()
            .flatten()
            .any(holds)
        || schema.not.as_deref().is_some_and(holds)
        || [
            &schema.properties,
            &schema.pattern_properties,
            &schema.definitions,
        ]
        .into_iter()
        .flat_map(|it| it.values())
        .any(|it| holds(it))
        || additional
            .into_iter()
            .filter_map(|it| it.as_deref()?.schema.as_deref())
            .any(holds)
        || dependencies
            .filter_map(|it| it.schema.as_deref())
            .any(holds)
}

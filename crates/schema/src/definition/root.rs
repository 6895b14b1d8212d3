//! Rules of the root of a schema.

use super::internal_form::internal_form;
use crate::place::{Place, Problems};
use kubist_api::apiextensions::v1::JSONSchemaProps;
use kubist_apimachinery::FieldError;

/// The keywords that the root may have if status is a subresource, as upstream lists them.
const ALLOWED: &str = "[Description Type Format Title Maximum ExclusiveMaximum Minimum \
                       ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems \
                       MultipleOf Required Items Properties ExternalDocs Example \
                       XPreserveUnknownFields XValidations]";

/// Checks the root. Errors show the whole schema, so there is at most one about keywords.
pub(super) fn check(
    problems: &mut Problems,
    schema: &JSONSchemaProps,
    has_status: bool,
    at: &Place<'_>,
) {
    let kind = &schema.type_;
    if has_status {
        // Upstream stops at the first keyword that is not allowed; a wrong type is one of them.
        let is_wrong = !kind.is_empty() && *kind != "object";
        if has_other(&before_type(schema)) || !is_wrong && has_other(&after_type(schema)) {
            problems.add_child(at, "openAPIV3Schema", |path| {
                let detail = format!(
                    "only {ALLOWED} fields are allowed at the root of the schema if the status \
                     subresource is enabled"
                );
                FieldError::invalid(path, internal_form(schema), detail)
            });
        } else if is_wrong {
            problems.add_child(at, "openAPIV3Schema.type", |path| {
                let detail = "only \"object\" is allowed as the type at the root of the schema if \
                              the status subresource is enabled";
                FieldError::invalid(path, kind, detail)
            });
        }
    }
    if schema.nullable {
        let detail = "nullable cannot be true at the root";
        problems.forbid(at, "openAPIV3Schema.nullable", detail);
    }
}

fn has_other(keywords: &[bool]) -> bool {
    keywords.contains(&true)
}

fn before_type(schema: &JSONSchemaProps) -> [bool; 3] {
    [
        !schema.id.is_empty(),
        !schema.schema.is_empty(),
        schema.ref_path.is_some(),
    ]
}

fn after_type(schema: &JSONSchemaProps) -> [bool; 19] {
    [
        schema.nullable,
        schema.default.is_some(),
        !schema.enum_.is_empty(),
        schema.max_properties.is_some(),
        schema.min_properties.is_some(),
        !schema.all_of.is_empty(),
        !schema.one_of.is_empty(),
        !schema.any_of.is_empty(),
        schema.not.is_some(),
        schema.additional_properties.is_some(),
        !schema.pattern_properties.is_empty(),
        !schema.dependencies.is_empty(),
        schema.additional_items.is_some(),
        !schema.definitions.is_empty(),
        schema.x_kubernetes_embedded_resource,
        schema.x_kubernetes_int_or_string,
        !schema.x_kubernetes_list_map_keys.is_empty(),
        schema.x_kubernetes_list_type.is_some(),
        schema.x_kubernetes_map_type.is_some(),
    ]
}

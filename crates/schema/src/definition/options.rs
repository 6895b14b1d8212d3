//! `SchemaOptions`: what an update may keep that a new definition may not have.

use super::default_pruning::prune_defaults;
use super::{keywords, list_rules};
use crate::place::{Place, Problems};
use crate::props::{any, is_too_deep};
use crate::schema::Schema;
use crate::structural::check_structural;
use kubist_api::apiextensions::v1::JSONSchemaProps;
use kubist_apimachinery::FieldPath;

/// Which rules apply. A rule that a schema of the old definition violates does not apply to the
/// new one, so that stored definitions stay valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
#[non_exhaustive]
pub struct SchemaOptions {
    /// Types are those of OpenAPI.
    pub requires_valid_types: bool,
    /// The schema is structural. With defaults or Kubernetes' extensions it always is.
    pub requires_structural_schema: bool,
    /// Defaults have no unknown fields.
    pub requires_pruned_defaults: bool,
    /// The items of sets are atomic.
    pub requires_atomic_sets: bool,
    /// The items of sets and maps are not null, and keys are required or have defaults.
    pub requires_list_keys: bool,
}

impl SchemaOptions {
    /// All rules: for a new definition.
    pub const CREATE: Self = Self {
        requires_valid_types: true,
        requires_structural_schema: true,
        requires_pruned_defaults: true,
        requires_atomic_sets: true,
        requires_list_keys: true,
    };

    /// Returns the rules for an update, from the schemas of all versions of the old definition.
    /// `preserves_unknown_fields` is `spec.preserveUnknownFields` of the new definition: without
    /// it, objects are pruned, which needs a structural schema.
    pub fn update<'a>(
        old: impl IntoIterator<Item = &'a JSONSchemaProps>,
        preserves_unknown_fields: bool,
    ) -> Self {
        let mut options = Self::CREATE;
        for schema in old {
            if is_too_deep(schema) {
                continue;
            }
            options.requires_valid_types &= !any(schema, &|it| !keywords::has_valid_type(it));
            let is_structural = is_structural(schema);
            options.requires_structural_schema &= is_structural || !preserves_unknown_fields;
            options.requires_pruned_defaults &= !(is_structural && has_unpruned_defaults(schema));
            options.requires_atomic_sets &= !any(schema, &list_rules::is_set_of_non_atomic);
            options.requires_list_keys &= !any(schema, &|it| {
                let mut problems = Problems::default();
                list_rules::check_keys(&mut problems, it, &Place::Root(&FieldPath::ROOT));
                !problems.is_empty()
            });
        }
        options
    }
}

fn is_structural(schema: &JSONSchemaProps) -> bool {
    Schema::convert(schema).is_ok() && check_structural(schema, &FieldPath::ROOT).is_empty()
}

fn has_unpruned_defaults(schema: &JSONSchemaProps) -> bool {
    let Ok(converted) = Schema::convert(schema) else {
        return false;
    };
    prune_defaults(&converted).is_ok_and(|pruned| pruned != converted)
}

/// Reports whether a schema has defaults or extensions, which only structural schemas may have.
pub(super) fn needs_structure(schema: &JSONSchemaProps) -> bool {
    any(schema, &|it| {
        it.default.is_some()
            || it.x_kubernetes_embedded_resource
            || it.x_kubernetes_preserve_unknown_fields.is_some()
            || it.x_kubernetes_int_or_string
            || !it.x_kubernetes_list_map_keys.is_empty()
            || it.x_kubernetes_list_type.is_some()
            || !it.x_kubernetes_validations.is_empty()
    })
}

//! Validation of the schemas in CustomResourceDefinitions, with what an update may keep.

use crate::shared::rules::Errors;
use kubist_api::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion, JSONSchemaProps,
};
use kubist_apimachinery::FieldPath;
use kubist_schema::{KnownExpressions, RuleChecker, SchemaOptions, check_schema};

/// What the stored definition allows its update to keep.
pub(super) struct Before<'a> {
    options: SchemaOptions,
    expressions: KnownExpressions,
    versions: &'a [CustomResourceDefinitionVersion],
}

impl<'a> Before<'a> {
    /// Returns what an update may keep; none for a new definition. `preserves_unknown_fields` is
    /// that of the update.
    pub(super) fn of(
        old: Option<&'a CustomResourceDefinition>,
        preserves_unknown_fields: bool,
    ) -> Self {
        let Some(old) = old else {
            return Self {
                options: SchemaOptions::CREATE,
                expressions: KnownExpressions::default(),
                versions: &[],
            };
        };
        let versions = old.spec.versions.as_slice();
        Self {
            options: SchemaOptions::update(
                versions.iter().filter_map(schema_of),
                preserves_unknown_fields,
            ),
            expressions: KnownExpressions::of(versions.iter().filter_map(schema_of)),
            versions,
        }
    }

    /// Reports whether a version has the schema that it had.
    fn has_schema_of(&self, version: &CustomResourceDefinitionVersion) -> bool {
        let old = self.versions.iter().find(|it| it.name == version.name);
        old.is_some_and(|old| schema_of(old) == schema_of(version))
    }
}

/// Checks the schema of one version or of all versions. `has_status` reports whether status is a
/// subresource.
pub(super) fn check(
    errors: &mut Errors,
    version: &CustomResourceDefinitionVersion,
    (has_status, before): (bool, &Before<'_>),
    path: &FieldPath,
) {
    if let Some(schema) = schema_of(version) {
        let is_unchanged = before.has_schema_of(version);
        let mut rules = RuleChecker::new(&before.expressions, is_unchanged);
        let options = before.options;
        let found = check_schema(schema, has_status, options, Some(&mut rules), path);
        errors.extend(found);
    }
}

/// Returns the schema of a version.
pub(super) fn schema_of(version: &CustomResourceDefinitionVersion) -> Option<&JSONSchemaProps> {
    version.schema.as_deref()?.open_api_v3_schema.as_deref()
}

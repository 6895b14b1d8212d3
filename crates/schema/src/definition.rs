//! Validation of the schema of a `CustomResourceDefinition`: what `spec.versions[*].schema` may
//! say, with upstream's errors.
//!
//! Names, versions, columns and the rest of a definition are validated elsewhere.

mod default_pruning;
mod default_values;
mod internal_form;
mod keywords;
mod list_rules;
mod options;
mod root;
mod rule_checker;
mod rule_costs;
mod rules;
mod surrounding;

pub use default_pruning::PruneDefaultsError;
pub use options::SchemaOptions;
pub use rule_checker::RuleChecker;

use crate::convert::ConvertError;
use crate::place::{Place, Problems};
use crate::props::is_too_deep;
use crate::schema::Schema;
use crate::structural::check_structural;
use keywords::Keywords;
use kubist_api::apiextensions::v1::JSONSchemaProps;
use kubist_apimachinery::{FieldError, FieldPath};

/// Returns the errors of the schema of one version. `path` is the path of the version's `schema`;
/// the paths of the errors continue with `openAPIV3Schema`. `has_status` reports whether status is
/// a subresource of the version.
///
/// Without a `checker`, CEL rules are not compiled.
pub fn check_schema(
    schema: &JSONSchemaProps,
    has_status: bool,
    options: SchemaOptions,
    mut checker: Option<&mut RuleChecker<'_>>,
    path: &FieldPath,
) -> Vec<FieldError> {
    let mut problems = Problems::default();
    let root = path.child("openAPIV3Schema");
    let at = Place::Root(&root);
    if is_too_deep(schema) {
        let detail = ConvertError::TooDeep.to_string();
        return vec![FieldError::invalid(&root, "", detail)];
    }
    root::check(&mut problems, schema, has_status, &Place::Root(path));
    let mut conversion = None;
    let mut compiles_rules = false;
    if options.requires_structural_schema || options::needs_structure(schema) {
        match Schema::convert(schema) {
            Err(error) => conversion = Some(error),
            Ok(converted) => {
                let mut found = check_structural(schema, &root);
                if found.is_empty() {
                    let is_pruned = options.requires_pruned_defaults;
                    let checker = checker.as_deref_mut();
                    found = default_values::check(&converted, is_pruned, checker, &root);
                }
                compiles_rules = found.is_empty();
                problems.extend(found);
            }
        }
    }
    if !compiles_rules {
        checker = None;
    }
    let mut keywords = Keywords::new(options, checker.as_deref_mut());
    keywords.check_root(schema, &at);
    let (of_schema, of_rules) = keywords.into_errors();
    problems.extend(of_schema);
    problems.extend(of_rules);
    if let Some(error) = conversion
        && problems.is_empty()
    {
        // These overlap with the errors above.
        problems.add(&at, |path| FieldError::invalid(path, "", error.to_string()));
    }
    if let Some(checker) = checker {
        problems.extend(checker.check_total(&root));
    }
    problems.into_list()
}

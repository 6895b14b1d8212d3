//! What junctors at the root mention is also specified outside of them.

use super::items;
use crate::place::{Place, Problems};
use kubist_api::apiextensions::v1::JSONSchemaProps;
use kubist_apimachinery::FieldError;

/// Checks the junctors of the root; like upstream, not those of other schemas.
pub(super) fn check(problems: &mut Problems, schema: &JSONSchemaProps, at: &Place<'_>) {
    junctors(problems, schema, schema, at, at);
}

/// Compares the junctors of `nested`, at the second place, with the structure of `schema`.
fn junctors(
    problems: &mut Problems,
    nested: &JSONSchemaProps,
    schema: &JSONSchemaProps,
    at: &Place<'_>,
    nested_at: &Place<'_>,
) {
    if let Some(not) = nested.not.as_deref() {
        let nested_at = Place::Child(nested_at, "not");
        compare(problems, not, Some(schema), at, &nested_at);
    }
    for (name, junctor) in [
        ("allOf", &nested.all_of),
        ("anyOf", &nested.any_of),
        ("oneOf", &nested.one_of),
    ] {
        let nested_at = Place::Child(nested_at, name);
        for (index, nested) in junctor.iter().enumerate() {
            let nested_at = Place::Index(&nested_at, index);
            compare(problems, nested, Some(schema), at, &nested_at);
        }
    }
}

fn compare(
    problems: &mut Problems,
    nested: &JSONSchemaProps,
    schema: Option<&JSONSchemaProps>,
    at: &Place<'_>,
    nested_at: &Place<'_>,
) {
    let Some(schema) = schema else {
        problems.add(at, |path| {
            let detail = format!("because it is defined in {}", nested_at.path());
            FieldError::required(path, detail)
        });
        return;
    };
    junctors(problems, nested, schema, at, nested_at);
    if let Some(of_items) = items(nested) {
        let (at, nested_at) = (Place::Child(at, "items"), Place::Child(nested_at, "items"));
        compare(problems, of_items, items(schema), &at, &nested_at);
    }
    let (at, nested_at) = (
        Place::Child(at, "properties"),
        Place::Child(nested_at, "properties"),
    );
    for (name, property) in &nested.properties {
        let (at, nested_at) = (Place::Key(&at, name), Place::Key(&nested_at, name));
        compare(
            problems,
            property,
            schema.properties.get(name).map(|it| &**it),
            &at,
            &nested_at,
        );
    }
}

//! The selectable fields of a custom resource. Each must be in the schema and have a single value:
//! a string, an integer or a boolean.

use crate::shared::rules::Errors;
use kubist_api::apiextensions::v1::{JSONSchemaProps, SelectableField};
use kubist_apimachinery::{FieldError, FieldPath};
use std::collections::BTreeSet;

/// The maximum number of fields of one version, as upstream.
const FIELDS_MAX: usize = 8;
/// The types that a selectable field may have.
const TYPES: [&str; 3] = ["string", "boolean", "integer"];
const NO_TYPE: &str = "must point to a field of type string, boolean or integer. Enum string \
                       fields and strings with formats are allowed.";

/// Checks fields against a schema. Without a usable schema, reports the error text in `Err`.
pub(crate) fn check(
    errors: &mut Errors,
    fields: &[SelectableField],
    schema: Result<&JSONSchemaProps, &'static str>,
    path: &FieldPath,
) {
    let schema = match schema {
        Ok(schema) => schema,
        Err(why) => {
            if !fields.is_empty() {
                errors.push(FieldError::invalid(path, "", why));
            }
            return;
        }
    };
    let mut unique = BTreeSet::new();
    for (index, field) in fields.iter().enumerate() {
        let (text, path) = (&field.json_path, path.index(index).child("jsonPath"));
        if text.is_empty() {
            errors.push(FieldError::required(&path, ""));
            continue;
        }
        let (names, found) = match find(text, schema) {
            Ok(found) => found,
            Err(why) => {
                let detail = format!("is an invalid path: {why}");
                errors.push(FieldError::invalid(&path, text, detail));
                continue;
            }
        };
        if names.first() == Some(&"metadata") {
            let detail = "must not point to fields in metadata";
            errors.push(FieldError::invalid(&path, text, detail));
        }
        if !found.is_some_and(|it| TYPES.contains(&it.type_.as_str())) {
            errors.push(FieldError::invalid(&path, text, NO_TYPE));
        }
        if !unique.insert(names) {
            errors.push(FieldError::duplicate(&path, text));
        }
    }
    if unique.len() > FIELDS_MAX {
        errors.push(FieldError::too_many(path, Some(unique.len()), FIELDS_MAX));
    }
}

/// The segments of a path and its schema. The schema is `None` where any value is allowed.
type Found<'a> = (Vec<&'a str>, Option<&'a JSONSchemaProps>);

/// Resolves a path in a schema, as upstream does for CEL rules.
fn find<'a>(path: &'a str, schema: &'a JSONSchemaProps) -> Result<Found<'a>, String> {
    const NO_FIELD: &str = "does not refer to a valid field";
    let (mut names, mut at) = (Vec::new(), Some(schema));
    let mut tokens = Tokens(path);
    while let Some(token) = tokens.next() {
        match token {
            "[" => return Err("array notation is not allowed".to_owned()),
            "." => {}
            other => return Err(format!("expected [ or . but got: {other}")),
        }
        let name = tokens.next().ok_or("unexpected end of JSON path")?;
        let within = at.ok_or(NO_FIELD)?;
        let more = within.additional_properties.as_deref();
        at = match (within.properties.get(name), more) {
            (Some(field), _) => Some(&**field),
            (None, Some(more)) if more.schema.is_some() || more.allows => more.schema.as_deref(),
            _ => return Err(NO_FIELD.to_owned()),
        };
        names.push(name);
    }
    Ok((names, at))
}

/// The tokens of a path: dots, brackets, and the text between them.
struct Tokens<'a>(&'a str);

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let is_mark = |it: char| matches!(it, '.' | '[' | ']');
        let end = match self.0.find(is_mark) {
            // The separators are one byte each.
            Some(0) => 1,
            Some(end) => end,
            None => self.0.len(),
        };
        let (token, rest) = self.0.split_at(end);
        self.0 = rest;
        (!token.is_empty()).then_some(token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::wire::{DecodeContext, merge_json};
    use serde_json::json;

    fn problems(paths: &[&str]) -> Vec<String> {
        let schema = json!({"type": "object", "properties": {
            "metadata": {"type": "object"},
            "spec": {"type": "object", "properties": {
                "a": {"type": "string"}, "n": {"type": "integer"}, "b": {"type": "boolean"},
                "num": {"type": "number"},
                "l": {"type": "array", "items": {"type": "string"}},
                "ios": {"x-kubernetes-int-or-string": true},
                "m": {"type": "object", "additionalProperties": {"type": "string"}},
                "ap": {"type": "object", "additionalProperties": true},
            }},
        }});
        let mut props = JSONSchemaProps::default();
        let text = schema.to_string();
        merge_json(&mut props, text.as_bytes(), &mut DecodeContext::new()).expect("it is valid");
        let fields = paths.iter().map(|path| SelectableField {
            json_path: (*path).into(),
        });
        let mut errors = Vec::new();
        let fields: Vec<_> = fields.collect();
        check(&mut errors, &fields, Ok(&props), &FieldPath::new("f"));
        errors.iter().map(ToString::to_string).collect()
    }

    /// Recorded from upstream.
    #[test]
    fn a_field_is_in_the_schema_and_has_one_value() {
        let fine = [".spec.a", ".spec.n", ".spec.b", ".spec.m.x"];
        assert_eq!(problems(&fine), [""; 0]);
        for (path, why) in [
            (".spec.zz", "does not refer to a valid field"),
            (".metadata.name", "does not refer to a valid field"),
            (".spec.m.x.y", "does not refer to a valid field"),
            (".spec.a ", "does not refer to a valid field"),
            ("..a", "does not refer to a valid field"),
            (".spec.['a']", "does not refer to a valid field"),
            (".spec['a']", "array notation is not allowed"),
            (".spec.l[0]", "array notation is not allowed"),
            (".spec.a[", "array notation is not allowed"),
            ("[spec]", "array notation is not allowed"),
            ("spec.a", "expected [ or . but got: spec"),
            (".", "unexpected end of JSON path"),
            (".spec.a.", "unexpected end of JSON path"),
        ] {
            let expected =
                format!("f[0].jsonPath: Invalid value: \"{path}\": is an invalid path: {why}");
            assert_eq!(problems(&[path]), [expected]);
        }
        for path in [
            ".spec",
            ".spec.num",
            ".spec.l",
            ".spec.ios",
            ".spec.m",
            ".spec.ap.k",
        ] {
            let expected = format!("f[0].jsonPath: Invalid value: \"{path}\": {NO_TYPE}");
            assert_eq!(problems(&[path]), [expected]);
        }
    }

    #[test]
    fn fields_are_not_of_the_metadata_and_different_and_few() {
        let of_metadata = problems(&[".metadata"]);
        assert!(of_metadata[0].ends_with("must not point to fields in metadata"));
        assert_eq!(of_metadata.len(), 2);
        let twice = "f[1].jsonPath: Duplicate value: \".spec.a\"";
        assert_eq!(problems(&[".spec.a", ".spec.a"]), [twice]);
        let many = ["1", "2", "3", "4", "5", "6", "7", "8", "9"].map(|it| format!(".spec.m.{it}"));
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(
            problems(&many),
            ["f: Too many: 9: must have at most 8 items"]
        );
        assert_eq!(problems(&[""]), ["f[0].jsonPath: Required value"]);
    }
}

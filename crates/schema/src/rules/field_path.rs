//! The `fieldPath` of a rule: a path of properties below a schema.

use crate::schema::{AdditionalProperties, Schema};
use kubist_api::apiextensions::v1::JSONSchemaProps;
use kubist_apimachinery::FieldPath;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

/// The schema below which the paths of its rules lead, converted at the first path.
pub(crate) struct Paths<'a> {
    schema: &'a JSONSchemaProps,
    /// None if the schema does not convert.
    converted: OnceCell<Option<Arc<Schema>>>,
}

impl<'a> Paths<'a> {
    pub(crate) fn of(schema: &'a JSONSchemaProps) -> Self {
        Self {
            schema,
            converted: OnceCell::new(),
        }
    }

    /// Reports whether a path such as `.a['b.c']` names a property that the schema has. A schema
    /// that does not convert has any.
    pub(crate) fn is_valid(&self, path: &str) -> bool {
        let converted = self
            .converted
            .get_or_init(|| Schema::convert(self.schema).ok());
        converted
            .as_deref()
            .is_none_or(|schema| normalized(path, schema).is_some())
    }
}

/// Returns a path as errors show it; none if it names no property of the schema.
pub(super) fn normalized(path: &str, schema: &Schema) -> Option<String> {
    let mut schema = Some(schema);
    let mut rest = path;
    let mut normal = FieldPath::ROOT;
    while !rest.is_empty() {
        let name: Cow<'_, str> = match token(&mut rest)? {
            "." => token(&mut rest)?.into(),
            "[" => {
                let quoted = token(&mut rest)?;
                let name = quoted.strip_prefix('\'')?.strip_suffix('\'')?;
                let name = unescape(name)?;
                if token(&mut rest)? != "]" {
                    return None;
                }
                name.into()
            }
            _ => return None,
        };
        let of = schema?;
        schema = member(of, &name)?;
        normal = if of.properties.is_empty() {
            normal.key(&name)
        } else {
            normal.child(&name)
        };
    }
    Some(normal.to_string())
}

/// Returns the schema of a member, which is any value if additional properties are just allowed.
#[expect(
    clippy::option_option,
    reason = "no member, and a member without a schema"
)]
fn member<'a>(schema: &'a Schema, name: &str) -> Option<Option<&'a Schema>> {
    if !schema.properties.is_empty() {
        return schema.property(name).map(|it| Some(&**it));
    }
    match schema.additional_properties.as_ref()? {
        AdditionalProperties::Schema(schema) => Some(Some(schema)),
        AdditionalProperties::Bool(_) => Some(None),
    }
}

/// Takes a delimiter, a quoted text, or the text up to a delimiter.
fn token<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let text = *rest;
    let length = match text.chars().next()? {
        '.' | '[' | ']' => 1,
        '\'' => {
            let bytes = text.as_bytes();
            let is_end = |at: &usize| bytes[*at] == b'\'' && bytes[*at - 1] != b'\\';
            (1..bytes.len())
                .find(is_end)
                .map_or(text.len(), |it| it + 1)
        }
        _ => text.find(['.', '[', ']']).unwrap_or(text.len()),
    };
    let (token, after) = text.split_at(length);
    *rest = after;
    Some(token)
}

fn unescape(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        out.push(match chars.next() {
            // A last backslash is not an escape.
            None => '\\',
            Some('a') => '\x07',
            Some('b') => '\x08',
            Some('f') => '\x0c',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('v') => '\x0b',
            Some(c @ ('\'' | '\\')) => c,
            Some(_) => return None,
        });
    }
    Some(out)
}

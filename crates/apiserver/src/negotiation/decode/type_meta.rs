//! `apiVersion` and `kind` of a JSON body, read as Go reads them and with its error texts.

use kubist_apimachinery::json_type;
use kubist_codec::go_json;
use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// Go's name of the type that it decodes first.
const TYPE_META: &str = "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind \
                         string \"json:\\\"kind,omitempty\\\"\" }";

/// The type that a body claims to have.
#[derive(Debug, Default)]
struct TypeMeta<'a> {
    /// As Go decodes into a struct: names are case-insensitive, the last of several wins, null is
    /// ignored.
    any_case: ApiVersionAndKind<'a>,
    /// As Go decodes into a map, which custom objects are: names are case-sensitive.
    exact: ApiVersionAndKind<'a>,
}

/// A string, borrowed if it can be.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for TypeMeta<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TypeMetaVisitor)
    }
}

struct TypeMetaVisitor;

impl<'de> Visitor<'de> for TypeMetaVisitor {
    type Value = TypeMeta<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E: de::Error>(self) -> Result<TypeMeta<'de>, E> {
        Ok(TypeMeta::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TypeMeta<'de>, A::Error> {
        let mut meta = TypeMeta::default();
        while let Some(Text(name)) = map.next_key()? {
            let (any_case, exact) = if name.eq_ignore_ascii_case("kind") {
                (&mut meta.any_case.1, &mut meta.exact.1)
            } else if name.eq_ignore_ascii_case("apiVersion") {
                (&mut meta.any_case.0, &mut meta.exact.0)
            } else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let text = map.next_value::<Option<Text<'_>>>()?.map(|Text(text)| text);
            if matches!(&*name, "kind" | "apiVersion") {
                exact.clone_from(&text);
            }
            if text.is_some() {
                *any_case = text;
            }
        }
        Ok(meta)
    }
}

/// The optional `apiVersion` and `kind`.
type ApiVersionAndKind<'a> = (Option<Cow<'a, str>>, Option<Cow<'a, str>>);

/// Returns `apiVersion` and `kind` of JSON, or Go's error.
pub(crate) fn json_type_meta(body: &[u8]) -> Result<ApiVersionAndKind<'_>, String> {
    type_meta(body).map(|meta| meta.any_case)
}

/// Returns `apiVersion` and `kind` of a custom object. Names in another case are ignored, but their
/// values must be strings.
pub(crate) fn custom_type_meta(body: &[u8]) -> Result<ApiVersionAndKind<'_>, String> {
    type_meta(body).map(|meta| meta.exact)
}

fn type_meta(body: &[u8]) -> Result<TypeMeta<'_>, String> {
    let error = match serde_json::from_slice::<TypeMeta<'_>>(body) {
        Ok(meta) => return Ok(meta),
        Err(error) => error,
    };
    let words = go_json::mistake(body).unwrap_or_else(|| type_meta_error(body, &error));
    Err(format!(
        "couldn't get version/kind; json parse error: {words}"
    ))
}

/// The error of well-formed JSON that is no object, or whose kind is no string.
fn type_meta_error(body: &[u8], error: &serde_json::Error) -> String {
    let found = match body.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{') => None,
        Some(b'[') => Some("array"),
        Some(b'"') => Some("string"),
        Some(b't' | b'f') => Some("bool"),
        _ => Some("number"),
    };
    if let Some(found) = found {
        return format!("json: cannot unmarshal {found} into Go value of type {TYPE_META}");
    }
    let Ok(Value::Object(members)) = serde_json::from_slice(body) else {
        return error.to_string();
    };
    for (name, value) in members.iter().filter(|(_, it)| !it.is_string()) {
        let fields = ["apiVersion", "kind"];
        let field = fields.iter().find(|it| it.eq_ignore_ascii_case(name));
        if let Some(field) = field.filter(|_| !value.is_null()) {
            let found = json_type(value);
            return format!(
                "json: cannot unmarshal {found} into Go struct field .{field} of type string"
            );
        }
    }
    error.to_string()
}

//! Request bodies into objects, with upstream's checks and texts.
//!
//! A body may leave out `apiVersion` and `kind`; if it names them, they must be those of the
//! resource. What to do about unknown and duplicate fields is the request's `fieldValidation`.

use crate::negotiation::go_decode::{self, go_type};
use kubist_api::{Kind, find_kind_by_api_version};
use kubist_apimachinery::go_text::quote;
use kubist_apimachinery::wire::{
    DecodeContext, Field, FieldType, Message, Schema, WireError, WireErrorKind, merge_json,
    merge_protobuf,
};
use kubist_apimachinery::{
    AnyObject, FieldError, FieldPath, FieldValidation, GroupKind, Status, json_type,
};
use kubist_codec::envelope::{Envelope, EnvelopeError};
use kubist_codec::{Format, go_json, yaml};
use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::{self, Write};

/// Bytes of a malformed body that an error shows.
const SHOWN_BYTES_MAX: usize = 30;
/// What upstream calls the table of its kinds, in texts that clients compare.
const SCHEME: &str = "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30";
/// Go's name for what it reads first.
const TYPE_META: &str = "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind \
                         string \"json:\\\"kind,omitempty\\\"\" }";

/// What a body says it is.
#[derive(Debug, Default)]
struct TypeMeta<'a> {
    /// As Go reads it into a struct: the case of names does not matter, the last of several counts,
    /// null says nothing.
    any_case: ApiVersionAndKind<'a>,
    /// As Go reads it into a map, which custom objects are: other names are content.
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

/// A decoded body.
#[derive(Debug)]
pub(crate) struct Decoded<T> {
    pub(crate) value: T,
    /// What `fieldValidation=Warn` tells the client.
    pub(crate) warnings: Vec<String>,
}

/// Decodes a body as an object with metadata. Text that is not quite Unicode is read as Go reads
/// it, once it has been refused as it stands.
pub(crate) fn object(
    body: &[u8],
    format: Format,
    kind: &'static Kind,
    validation: FieldValidation,
) -> Result<Decoded<Box<dyn AnyObject>>, Status> {
    let decoded = object_of(body, format, kind, validation);
    if decoded.is_err()
        && format == Format::Json
        && let Some(body) = go_json::replaced(body)
    {
        return object_of(&body, format, kind, validation);
    }
    decoded
}

fn object_of(
    body: &[u8],
    format: Format,
    kind: &'static Kind,
    validation: FieldValidation,
) -> Result<Decoded<Box<dyn AnyObject>>, Status> {
    let mut object = kind.new_object().ok_or_else(|| {
        let name = kind.facts().kind;
        Status::internal_error(format_args!("{name} is no object"))
    })?;
    let warnings = into_message(&mut *object, body, format, kind, validation)?;
    Ok(Decoded {
        value: object,
        warnings,
    })
}

/// Decodes a body as a message of a kind.
fn into_message(
    message: &mut dyn Message,
    body: &[u8],
    format: Format,
    kind: &'static Kind,
    validation: FieldValidation,
) -> Result<Vec<String>, Status> {
    match format {
        Format::Json => {
            let meta = if kind.is_custom() {
                custom_type_meta(body)
            } else {
                json_type_meta(body)
            };
            let meta = meta.map_err(|why| unrecognized(kind, &why, body))?;
            check_group_version(kind, meta.0.as_deref(), body)?;
            let name = || name_in(body);
            check_named(kind, meta.1.as_deref(), body)?;
            check_kind(kind, meta.0.as_deref(), meta.1.as_deref(), body, name)?;
            from_json(message, body, kind, validation, &[])
        }
        Format::Yaml => {
            let document = yaml_document(body).map_err(|why| unrecognized(kind, &why, body))?;
            let text = |key: &str| document.value.get(key).and_then(Value::as_str);
            check_group_version(kind, text("apiVersion"), body)?;
            check_named(kind, text("kind"), body)?;
            let json = serde_json::to_vec(&document.value).map_err(Status::internal_error)?;
            let name = || name_of(&document.value);
            check_kind(kind, text("apiVersion"), text("kind"), &json, name)?;
            from_json(message, &json, kind, validation, &document.duplicates)
        }
        Format::Protobuf => {
            let envelope = open(body, kind)?;
            let name = String::new;
            let (api_version, of) = (Some(envelope.api_version), Some(envelope.kind));
            check_kind(kind, api_version, of, &[], name)?;
            merge_protobuf(message, envelope.raw, &mut DecodeContext::new())
                .map_err(|error| refused(kind, &error.to_string()))?;
            Ok(Vec::new())
        }
    }
}

/// What a body says of itself, if it does.
type ApiVersionAndKind<'a> = (Option<Cow<'a, str>>, Option<Cow<'a, str>>);

/// `apiVersion` and `kind` of a JSON text, or Go's words about it.
pub(crate) fn json_type_meta(body: &[u8]) -> Result<ApiVersionAndKind<'_>, String> {
    type_meta(body).map(|meta| meta.any_case)
}

/// `apiVersion` and `kind` of a custom object. Names of another case are none of these, but what
/// they have must be text, too.
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

/// Well-formed JSON that is no object, or whose kind is no string.
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

/// The one document of a YAML text. Its parser's words, if it is none.
pub(crate) fn yaml_document(body: &[u8]) -> Result<yaml::Document, String> {
    yaml::parse(body).map_err(|error| format!("yaml: {}", go_yaml(&error)))
}

/// Upstream's parser names the line of some mistakes only; ours knows all.
fn go_yaml(error: &yaml::YamlError) -> String {
    error.kind.to_string()
}

fn open<'a>(body: &'a [u8], kind: &'static Kind) -> Result<Envelope<'a>, Status> {
    Envelope::open(body).map_err(|error| {
        let why = match error {
            EnvelopeError::NoMagic => "provided data does not appear to be a protobuf message, \
                                       expected prefix [107 56 115 0]"
                .to_owned(),
            other => other.to_string(),
        };
        unrecognized(kind, &why, body)
    })
}

fn from_json(
    message: &mut dyn Message,
    json: &[u8],
    kind: &'static Kind,
    validation: FieldValidation,
    duplicates: &[yaml::DuplicateKey],
) -> Result<Vec<String>, Status> {
    let mut cx = DecodeContext::new();
    if validation != FieldValidation::Ignore {
        cx = cx.strict();
    }
    merge_json(message, json, &mut cx)
        .map_err(|error| refused(kind, &decode_text(&error, json, kind.schema())))?;
    let unknown = cx.take_problems();
    let unknown = unknown.iter().map(ToString::to_string);
    match validation {
        FieldValidation::Ignore => Ok(Vec::new()),
        FieldValidation::Warn => {
            let duplicates = duplicates.iter().map(ToString::to_string);
            Ok(duplicates.chain(unknown).collect())
        }
        FieldValidation::Strict => {
            let mut problems: Vec<String> = unknown.collect();
            if !duplicates.is_empty() {
                let mut text = "yaml: unmarshal errors:".to_owned();
                for duplicate in duplicates {
                    // Writing to a string cannot fail.
                    let _ = write!(text, "\n  {duplicate}");
                }
                problems.insert(0, text);
            }
            if problems.is_empty() {
                return Ok(Vec::new());
            }
            let problems = problems.join(", ");
            Err(refused(kind, &format!("strict decoding error: {problems}")))
        }
    }
}

/// What Go says about JSON that is no message of a schema.
pub(crate) fn decode_text(error: &WireError, json: &[u8], schema: &'static Schema) -> String {
    let of_go = matches!(
        error.kind,
        WireErrorKind::TypeMismatch { .. }
            | WireErrorKind::Invalid { .. }
            | WireErrorKind::Syntax { .. }
    );
    if of_go && let Some(words) = go_decode::mistake(json, schema) {
        return words;
    }
    match &error.kind {
        WireErrorKind::TypeMismatch {
            found,
            expected,
            message,
        } => {
            let (path, field) = go_field(&error.path, schema);
            let expected = match field.and_then(|field| field.ty.schema()) {
                Some(item) if expected == item.name => go_type(item),
                Some(item) if expected.strip_prefix("[]") == Some(item.name) => {
                    format!("[]{}", go_type(item))
                }
                _ => expected.clone(),
            };
            format!(
                "json: cannot unmarshal {found} into Go struct field {message}.{path} of type \
                 {expected}"
            )
        }
        WireErrorKind::Invalid { reason } => reason.clone(),
        syntax @ WireErrorKind::Syntax { .. } => {
            go_json::refusal(json).unwrap_or_else(|| syntax.to_string())
        }
        other => other.to_string(),
    }
}

/// Go's name of a place, which has neither indexes of lists nor keys of maps, and the field there.
fn go_field(path: &str, root: &'static Schema) -> (String, Option<&'static Field>) {
    let mut schema = Some(root);
    let (mut names, mut last) = (Vec::new(), None);
    let mut segments = path.split('.');
    while let (Some(within), Some(segment)) = (schema, segments.next()) {
        let name = segment.split('[').next().unwrap_or_default();
        let Some(field) = within.field(name) else {
            break;
        };
        names.push(name);
        last = Some(field);
        if let FieldType::MessageMap(_) = field.ty {
            segments.next();
        }
        schema = field.ty.schema();
    }
    (names.join("."), last)
}

/// Refuses an `apiVersion` that has no group and version.
fn check_group_version(
    expected: &'static Kind,
    api_version: Option<&str>,
    body: &[u8],
) -> Result<(), Status> {
    let text = api_version.unwrap_or_default();
    if expected.is_custom() || text.matches('/').count() < 2 {
        return Ok(());
    }
    let why = format!("unexpected GroupVersion string: {text}");
    Err(unrecognized(expected, &why, body))
}

/// Bytes of a body without a kind that its refusal quotes.
const QUOTED_BYTES_MAX: usize = 64 << 10;

/// What a custom object is must be said.
fn check_named(expected: &'static Kind, kind: Option<&str>, body: &[u8]) -> Result<(), Status> {
    if !expected.is_custom() || kind.is_some_and(|it| !it.is_empty()) {
        return Ok(());
    }
    Err(unrecognized(expected, &missing_kind(body), body))
}

/// What is wrong with a custom object that does not say what it is.
pub(crate) fn missing_kind(json: &[u8]) -> String {
    let quoted = json.get(..QUOTED_BYTES_MAX).unwrap_or(json);
    let quoted = String::from_utf8_lossy(quoted);
    format!("Object 'Kind' is missing in '{quoted}'")
}

/// Whether a kind of an older version is read as it is now: it has the same fields.
fn is_deprecated_alias(expected: &'static Kind, api_version: &str, kind: &str) -> bool {
    let facts = expected.facts();
    (facts.group, facts.kind) == ("policy", "Eviction")
        && (api_version, kind) == ("policy/v1beta1", "Eviction")
}

/// Compares what a body says it is with what the resource has. Absent names are fine, except in
/// custom objects. `json` is the body if it is text.
fn check_kind(
    expected: &'static Kind,
    api_version: Option<&str>,
    kind: Option<&str>,
    json: &[u8],
    name: impl FnOnce() -> String,
) -> Result<(), Status> {
    let facts = expected.facts();
    let absent = if expected.is_custom() {
        ""
    } else {
        facts.api_version
    };
    let api_version = api_version.filter(|it| !it.is_empty()).unwrap_or(absent);
    let kind = kind.filter(|it| !it.is_empty()).unwrap_or(facts.kind);
    if (api_version, kind) == (facts.api_version, facts.kind)
        || is_deprecated_alias(expected, api_version, kind)
    {
        return Ok(());
    }
    if expected.is_custom() {
        return Err(other_custom(expected, api_version, kind, &name()));
    }
    let version = api_version.rsplit('/').next().unwrap_or_default();
    let found = find_kind_by_api_version(api_version, kind);
    // Kinds of one name are one to upstream, in whatever group: it can convert them.
    if found.is_some() && kind == facts.kind {
        return Err(Status::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version \
             ({})",
            facts.api_version
        )));
    }
    let text = foreign(expected, api_version, kind, json);
    let (expected, version) = (facts.kind, quote(version));
    Err(Status::bad_request(format!(
        "{kind} in version {version} cannot be handled as a {expected}: {text}"
    )))
}

/// Kinds that upstream knows in whichever version they say they are of.
const UNVERSIONED: [&str; 5] = [
    "Status",
    "APIVersions",
    "APIGroupList",
    "APIGroup",
    "APIResourceList",
];

/// Kinds of answers, which upstream decodes in clients only.
const OF_CLIENTS: [&str; 2] = ["PartialObjectMetadata", "PartialObjectMetadataList"];

/// Why an object of another kind cannot be one of a built-in kind. Upstream decodes it as what it
/// says it is before it finds that out.
pub(crate) fn foreign(
    expected: &'static Kind,
    api_version: &str,
    kind: &str,
    json: &[u8],
) -> String {
    let facts = expected.facts();
    let known_as = if UNVERSIONED.contains(&kind) {
        "v1"
    } else {
        api_version
    };
    let found = find_kind_by_api_version(known_as, kind);
    let Some(found) = found.filter(|_| !OF_CLIENTS.contains(&kind)) else {
        return not_registered(api_version, kind, SCHEME);
    };
    go_decode::mistake(json, found.schema()).unwrap_or_else(|| {
        let version = known_as.rsplit('/').next().unwrap_or_default();
        let (package, internal) = (internal_package(facts.group), facts.kind);
        format!("converting ({version}.{kind}) to ({package}.{internal}): unknown conversion")
    })
}

/// The kind of another version that a body says it is of, if upstream reads both as one.
pub(crate) fn other_version(
    expected: &'static Kind,
    api_version: &str,
    kind: &str,
) -> Option<&'static Kind> {
    let found = find_kind_by_api_version(api_version, kind)?;
    let internal = |kind: &'static Kind| {
        let facts = kind.facts();
        let package = match (facts.group, facts.kind) {
            ("extensions", "DaemonSet" | "Deployment" | "ReplicaSet") => "apps",
            ("extensions", "Ingress" | "NetworkPolicy") => "networking",
            (group, _) => internal_package(group),
        };
        (package, facts.kind)
    };
    (internal(found) == internal(expected)).then_some(found)
}

/// The refusal of an object that is of another kind or version than a custom resource.
fn other_custom(expected: &'static Kind, api_version: &str, kind: &str, name: &str) -> Status {
    let facts = expected.facts();
    if api_version != facts.api_version {
        return Status::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version \
             ({})",
            facts.api_version
        ));
    }
    let detail = format!("must be {}", facts.kind);
    let error = FieldError::invalid(&FieldPath::new("kind"), kind, detail);
    Status::invalid(&GroupKind::new(facts.group, kind), name, &[error])
}

/// The name in a body that is refused for another reason.
fn name_in(body: &[u8]) -> String {
    serde_json::from_slice(body).map_or_else(|_| String::new(), |value| name_of(&value))
}

fn name_of(value: &Value) -> String {
    let name = value["metadata"]["name"].as_str();
    name.unwrap_or_default().to_owned()
}

/// That a scheme does not know a kind.
pub(crate) fn not_registered(api_version: &str, kind: &str, scheme: &str) -> String {
    let (kind, version) = (quote(kind), quote(api_version));
    format!("no kind {kind} is registered for version {version} in scheme \"{scheme}\"")
}

/// The Go package of upstream's internal types of a group.
pub(crate) fn internal_package(group: &str) -> &str {
    match group {
        "" | "events.k8s.io" => "core",
        "internal.apiserver.k8s.io" => "apiserverinternal",
        _ => group.split('.').next().unwrap_or_default(),
    }
}

fn refused(kind: &'static Kind, why: &str) -> Status {
    let facts = kind.facts();
    let (kind, version) = (facts.kind, facts.version);
    Status::bad_request(format!(
        "{kind} in version \"{version}\" cannot be handled as a {kind}: {why}"
    ))
}

fn unrecognized(kind: &'static Kind, why: &str, body: &[u8]) -> Status {
    let kind = kind.facts().kind;
    let shown = shown(body);
    Status::bad_request(format!(
        "the object provided is unrecognized (must be of type {kind}): {why} ({shown})"
    ))
}

/// The beginning of a body: as text if it may be JSON, in hexadecimal otherwise.
fn shown(body: &[u8]) -> String {
    let (start, dots) = match body.get(..SHOWN_BYTES_MAX) {
        Some(start) if body.len() > SHOWN_BYTES_MAX => (start, " ..."),
        _ => (body, ""),
    };
    match body.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{dots}", String::from_utf8_lossy(start)),
        Some(_) => {
            let hex = start.iter().fold(String::new(), |mut hex, byte| {
                // Writing to a string cannot fail.
                let _ = write!(hex, "{byte:02x}");
                hex
            });
            format!("{hex}{dots}")
        }
    }
}

#[cfg(test)]
mod tests;

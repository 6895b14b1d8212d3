//! Request bodies into objects, with upstream's checks and texts.
//!
//! A body may omit `apiVersion` and `kind`; if it has them, they must be those of the resource.
//! Unknown and duplicate fields are handled as the request's `fieldValidation` says.

mod errors;
pub(crate) mod go_text;
pub(crate) mod kind_check;
pub(crate) mod type_meta;

pub(crate) use errors::unrecognized;
use errors::{refused, refused_as};
use go_text::{cbor_text, decode_text};
use kind_check::{check_group_version, check_kind, check_named};
use kubist_api::Kind;
use kubist_apimachinery::wire::{DecodeContext, merge_json, merge_protobuf};
use kubist_apimachinery::{AnyObject, FieldValidation, Status};
use kubist_codec::envelope::{Envelope, EnvelopeError};
use kubist_codec::{Format, go_json, yaml};
use serde_json::Value;
use std::fmt::Write;
use type_meta::{custom_type_meta, json_type_meta};

/// A decoded body.
#[derive(Debug)]
pub(crate) struct Decoded<T> {
    pub(crate) value: T,
    /// The warnings of `fieldValidation=Warn`.
    pub(crate) warnings: Vec<String>,
}

/// Why a body is no object of the resource.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: Status,
    /// What it would have been warned of.
    pub(crate) warnings: Vec<String>,
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        Self {
            status,
            warnings: Vec::new(),
        }
    }
}

/// Removes the fields of an object that its schema does not specify, and returns a message for each
/// if they are reported.
/// The text is the version that the object claims to be of.
pub(crate) type Prune<'a> =
    dyn Fn(&mut dyn AnyObject, &str, bool) -> Result<Vec<String>, Status> + 'a;

/// The version and the kind that a body names.
type Names<'a> = (Option<&'a str>, Option<&'a str>);

/// How a body is decoded.
#[derive(Clone, Copy)]
pub(crate) struct Decoding<'a> {
    pub(crate) format: Format,
    /// Whether the JSON is that of CBOR.
    pub(crate) cbor: bool,
    pub(crate) kind: &'static Kind,
    pub(crate) validation: FieldValidation,
    /// `None` for kinds that have only the fields that they declare.
    pub(crate) prune: Option<&'a Prune<'a>>,
}

/// Decodes a body as an object. JSON that is not valid Unicode is decoded again with replacement
/// characters, as Go does.
pub(crate) fn object(
    body: &[u8],
    decoding: Decoding<'_>,
) -> Result<Decoded<Box<dyn AnyObject>>, Refusal> {
    let decoded = decoding.object(body);
    if decoded.is_err()
        && decoding.format == Format::Json
        && let Some(body) = go_json::replaced(body)
    {
        return decoding.object(&body);
    }
    decoded
}

impl Decoding<'_> {
    fn object(self, body: &[u8]) -> Result<Decoded<Box<dyn AnyObject>>, Refusal> {
        let mut object = self.kind.new_object().ok_or_else(|| {
            let name = self.kind.facts().kind;
            Status::internal_error(format_args!("{name} is no object"))
        })?;
        let warnings = self.read(&mut *object, body)?;
        Ok(Decoded {
            value: object,
            warnings,
        })
    }

    /// Reads a body into an object of the kind. Returns warnings.
    fn read(self, object: &mut dyn AnyObject, body: &[u8]) -> Result<Vec<String>, Refusal> {
        let kind = self.kind;
        match self.format {
            Format::Json => {
                let meta = if kind.is_custom() {
                    custom_type_meta(body)
                } else {
                    json_type_meta(body)
                };
                let meta = meta.map_err(|why| unrecognized(kind, &why, body))?;
                check_group_version(kind, meta.0.as_deref(), body)?;
                let name = || name_in(body);
                let names = (meta.0.as_deref(), meta.1.as_deref());
                check_named(kind, names, self.validation, body)?;
                let is_it = check_kind(kind, names.0, names.1, body, name);
                self.read_json(object, (body, &[]), (names, is_it))
            }
            Format::Yaml => {
                let document = yaml_document(body).map_err(|why| unrecognized(kind, &why, body))?;
                let text = |key: &str| document.value.get(key).and_then(Value::as_str);
                check_group_version(kind, text("apiVersion"), body)?;
                let json = serde_json::to_vec(&document.value).map_err(Status::internal_error)?;
                let names = (text("apiVersion"), text("kind"));
                let read = match self.validation {
                    FieldValidation::Ignore => &json,
                    FieldValidation::Warn | FieldValidation::Strict => body,
                };
                check_named(kind, names, self.validation, read)?;
                let name = || name_of(&document.value);
                let is_it = check_kind(kind, names.0, names.1, &json, name);
                let duplicates = &document.duplicates;
                self.read_json(object, (&json, duplicates), (names, is_it))
            }
            Format::Protobuf => {
                let envelope = open(body, kind)?;
                let name = String::new;
                let (api_version, of) = (Some(envelope.api_version), Some(envelope.kind));
                check_kind(kind, api_version, of, &[], name)?;
                merge_protobuf(object, envelope.raw, &mut DecodeContext::new())
                    .map_err(|error| refused(kind, &error.to_string()))?;
                Ok(Vec::new())
            }
        }
    }

    /// Reads JSON, with the keys that its YAML repeated. It claims to be of a version, and is
    /// refused or not; a custom object that is refused is warned of first, as upstream does.
    fn read_json(
        self,
        object: &mut dyn AnyObject,
        (json, duplicates): (&[u8], &[yaml::DuplicateKey]),
        (names, is_it): (Names<'_>, Result<(), Status>),
    ) -> Result<Vec<String>, Refusal> {
        let Err(status) = is_it else {
            let api_version = self.kind.facts().api_version;
            return Ok(self.merge(object, (json, duplicates), api_version)?);
        };
        let facts = self.kind.facts();
        let is_of_group = |api_version: &str| {
            let parts = api_version.rsplit_once('/');
            parts.is_some_and(|(group, _)| group == facts.group)
        };
        let warnings = match names {
            (Some(api_version), Some(kind))
                if self.prune.is_some() && kind == facts.kind && is_of_group(api_version) =>
            {
                self.merge(object, (json, duplicates), api_version)?
            }
            _ => Vec::new(),
        };
        Err(Refusal { status, warnings })
    }

    fn merge(
        self,
        object: &mut dyn AnyObject,
        (json, duplicates): (&[u8], &[yaml::DuplicateKey]),
        api_version: &str,
    ) -> Result<Vec<String>, Status> {
        let (kind, validation) = (self.kind, self.validation);
        let mut cx = DecodeContext::new();
        if validation != FieldValidation::Ignore {
            cx = cx.strict();
        }
        merge_json(object, json, &mut cx).map_err(|error| {
            let schema = kind.schema();
            // Upstream decodes the metadata of custom objects as JSON.
            let why = if self.cbor && !kind.is_custom() {
                cbor_text(&error, json, (schema, kind.facts().version))
            } else {
                decode_text(&error, json, schema)
            };
            refused(kind, &why)
        })?;
        let unknown = cx.take_problems();
        let mut unknown: Vec<String> = unknown.iter().map(ToString::to_string).collect();
        if let Some(prune) = self.prune {
            let reports = validation != FieldValidation::Ignore;
            unknown.extend(prune(object, api_version, reports)?);
        }
        match validation {
            FieldValidation::Ignore => Ok(Vec::new()),
            FieldValidation::Warn => {
                let duplicates = duplicates.iter().map(ToString::to_string);
                Ok(duplicates.chain(unknown).collect())
            }
            FieldValidation::Strict => {
                let mut problems = unknown;
                if !duplicates.is_empty() {
                    problems.insert(0, duplicates_text(duplicates));
                }
                if problems.is_empty() {
                    return Ok(Vec::new());
                }
                let problems = problems.join(", ");
                let version = api_version.rsplit('/').next().unwrap_or_default();
                let why = format!("strict decoding error: {problems}");
                Err(refused_as(kind, version, &why))
            }
        }
    }
}

/// Returns a body as a tree, for what a decoded object does not tell; none of protobuf.
pub(crate) fn tree(format: Format, body: &[u8]) -> Option<Value> {
    match format {
        Format::Json => serde_json::from_slice(body).ok(),
        Format::Yaml => yaml::parse(body).ok().map(|it| it.value),
        Format::Protobuf => None,
    }
}

/// Parses the single document of a YAML body. The error has the parser's text.
pub(crate) fn yaml_document(body: &[u8]) -> Result<yaml::Document, String> {
    yaml::parse(body).map_err(|error| format!("yaml: {}", go_yaml(&error)))
}

/// Upstream's parser reports a line for some errors only; ours always knows it, and omits it.
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

/// Returns the error of repeated keys.
pub(crate) fn duplicates_text(duplicates: &[yaml::DuplicateKey]) -> String {
    let mut text = "yaml: unmarshal errors:".to_owned();
    for duplicate in duplicates {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n  {duplicate}");
    }
    text
}

/// Returns the name in a body that is refused for another reason.
fn name_in(body: &[u8]) -> String {
    serde_json::from_slice(body).map_or_else(|_| String::new(), |value| name_of(&value))
}

fn name_of(value: &Value) -> String {
    let name = value["metadata"]["name"].as_str();
    name.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;

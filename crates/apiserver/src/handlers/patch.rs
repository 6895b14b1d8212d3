//! PATCH: JSON patch, merge patch, strategic merge patch, and server-side apply.
//!
//! A patch is applied to the stored object, and again if another write intervenes.

mod apply;
mod quoted;

use crate::handlers::call::{Call, has_no_managers, mark_reset};
use crate::handlers::target::Target;
use crate::handlers::update;
use crate::negotiation::cbor_body::Expected;
use crate::negotiation::decode::go_text::decode_text;
use crate::negotiation::decode::kind_check::{missing_kind, other_version, wrong_kind_text};
use crate::negotiation::decode::type_meta::{custom_type_meta, json_type_meta};
use crate::negotiation::go_decode::conversion_error;
use crate::request::Request;
use crate::request::request_body::RequestBody;
use crate::response::ApiResponse;
use bytes::Bytes;
use kubist_api::Kind;
use kubist_apimachinery::go_text::{escape_html, quote};
use kubist_apimachinery::wire::{DecodeContext, merge_json, to_json_value};
use kubist_apimachinery::{
    AnyObject, FieldError, FieldPath, FieldValidation, GenericResponse, GroupKind, GroupResource,
    PatchOptions, Status, StatusReason, WriteVerb,
};
use kubist_codec::cbor;
use kubist_codec::negotiate::{Offer, PatchType};
use kubist_codec::patch::{self, PatchClass, PatchError, Reading};
use kubist_registry::{RequestContext, Scheme, UpdatedObject, remove_patched_duplicate_owners};
use serde_json::Value;

/// Supported patch types.
const SERVED: &[PatchType] = PatchType::ALL;
/// Supported patch types of custom resources, whose lists have no merge strategy.
const SERVED_CUSTOM: &[PatchType] = PatchType::CUSTOM;

fn served(kind: &'static Kind) -> &'static [PatchType] {
    if kind.is_custom() {
        SERVED_CUSTOM
    } else {
        SERVED
    }
}

pub(super) async fn handle(
    call: Call<'_>,
    target: Target,
    subresource: Option<&str>,
    body: &mut RequestBody,
) -> Result<ApiResponse, Status> {
    let patch_type = patch_type(call.request, target.rest.kind())?;
    let encoder = call.encoder(&target, &Offer::BUILT_IN)?;
    let bytes = call.bytes(body, Expected::Configuration).await?;
    let pairs = call.request.query.pairs();
    let verb = match patch_type {
        PatchType::Apply => WriteVerb::Apply,
        _ => WriteVerb::Patch,
    };
    let options = PatchOptions::from_query(verb, pairs);
    let options = options.map_err(|error| error.to_status())?;
    if patch_type == PatchType::Apply {
        let (call, target) = (&call, &target);
        let updated = apply::handle(call, target, &bytes, &options).await?;
        return update::encode(&encoder, &updated);
    }
    let options = options.post;
    let patched = Patched {
        cx: call.cx,
        target: &target,
        subresource,
        kind: target.rest.body_kind(),
        scheme: call.server.registry.scheme(),
        resource: target.rest.group_resource(),
        patch_type,
        bytes,
        validation: crate::request::validation_of(&options),
    };
    let (namespace, name) = (&target.namespace, &target.name);
    let updater = target.rest.updater().ok_or_else(|| call.no_such_verb())?;
    let updated = updater
        .update(call.cx, namespace, name, &patched, &options)
        .await?;
    update::encode(&encoder, &updated)
}

fn patch_type(request: &Request, kind: &'static Kind) -> Result<PatchType, Status> {
    let served = served(kind);
    PatchType::parse(request.content_type(), served).map_err(|_| {
        if kind.is_custom() {
            let mut types = media_types(served);
            types.extend(request.cbor.is_offered().then_some(cbor::APPLY_MEDIA_TYPE));
            return Status::unsupported_media_type(&types);
        }
        let message = "415: Unsupported Media Type";
        Status::failure(415, StatusReason::UnsupportedMediaType, message)
            .with_details(Default::default())
    })
}

fn media_types(types: &[PatchType]) -> Vec<&'static str> {
    types.iter().map(|it| it.media_type()).collect()
}

/// A patch as an update.
struct Patched<'a> {
    cx: &'a RequestContext,
    target: &'a Target,
    /// The subresource, if any.
    subresource: Option<&'a str>,
    kind: &'static Kind,
    scheme: &'static Scheme,
    resource: GroupResource,
    patch_type: PatchType,
    bytes: Bytes,
    validation: FieldValidation,
}

impl UpdatedObject for Patched<'_> {
    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let old = old.ok_or_else(|| Status::not_found(&self.resource, &self.target.name))?;
        let schema = Some(self.kind.schema());
        let reading = match self.validation {
            FieldValidation::Ignore => Reading::Loose,
            _ => Reading::Checked,
        };
        let tree = self.tree(old);
        if tree.is_null() {
            // A patch of nothing would replace the object by the patch.
            let why = "the stored object is nested too deeply to be patched";
            return Err(Status::internal_error(why));
        }
        let patched = patch::apply(self.patch_type, reading, tree, &self.bytes, schema)
            .map_err(|error| refusal(&error))?;
        let mut object = self.decode(&patched, old)?;
        if has_no_managers(&patched) {
            mark_reset(&mut *object);
        }
        self.target.set_namespace(&mut *object)?;
        self.target.check_name(&*object)?;
        remove_patched_duplicate_owners(self.cx, &mut *object);
        Ok(object)
    }
}

impl Patched<'_> {
    /// Encodes an object as clients see it.
    fn tree(&self, object: &dyn AnyObject) -> Value {
        let mut tree = to_json_value(object);
        (self.scheme.add_kinds_to_tree)(&mut tree, self.kind);
        tree
    }

    /// Decodes the patched tree as an object of the kind.
    fn decode(&self, patched: &Value, old: &dyn AnyObject) -> Result<Box<dyn AnyObject>, Status> {
        let json = serde_json::to_vec(patched).map_err(Status::internal_error)?;
        let found = self.check_kind(patched, &json, old)?;
        let of = match found {
            Found::Version(other) => other,
            Found::Kind | Found::Unversioned => self.kind,
        };
        let facts = of.facts();
        let kind = facts.kind;
        let mut object = of
            .new_object()
            .ok_or_else(|| Status::internal_error(format_args!("{kind} is no object")))?;
        let mut cx = DecodeContext::new();
        let mut problems = Vec::new();
        if self.validation != FieldValidation::Ignore {
            cx = cx.strict();
            problems = patch::strict_problems(self.patch_type, &self.bytes);
        }
        match found {
            Found::Kind | Found::Version(_) => {
                merge_json(&mut *object, &json, &mut cx).map_err(|error| {
                    let schema = of.schema();
                    let converted = match self.patch_type {
                        PatchType::Strategic => conversion_error(patched, schema),
                        _ => None,
                    };
                    let why = converted.unwrap_or_else(|| decode_text(&error, &json, schema));
                    self.unfit(patched, old, &why)
                })?;
                problems.extend(cx.take_problems().iter().map(ToString::to_string));
                if of.is_custom() {
                    let reports = self.validation != FieldValidation::Ignore;
                    problems.extend(self.target.rest.prune(
                        &mut *object,
                        facts.api_version,
                        reports,
                    )?);
                }
            }
            Found::Unversioned if self.validation != FieldValidation::Ignore => {
                problems.extend(unversioned_problems(patched));
            }
            Found::Unversioned => {}
        }
        if self.validation == FieldValidation::Strict && !problems.is_empty() {
            let why = format!("strict decoding error: {}", problems.join(", "));
            return Err(self.unfit(patched, old, &why));
        }
        for problem in problems {
            self.cx.warn(problem);
        }
        self.scheme.convert(object, of, self.kind)
    }

    /// The `apiVersion` and `kind` of the result.
    fn check_kind(
        &self,
        patched: &Value,
        json: &[u8],
        old: &dyn AnyObject,
    ) -> Result<Found, Status> {
        if self.patch_type == PatchType::Strategic {
            return self.check_strategic(patched, old);
        }
        if self.kind.is_custom() {
            return self.check_custom(patched, json, old);
        }
        let facts = self.kind.facts();
        let meta = json_type_meta(json).map_err(|why| self.unfit(patched, old, &why))?;
        let api_version = meta.0.unwrap_or_default();
        let kind = meta.1.filter(|it| !it.is_empty());
        let kind = kind.as_deref().unwrap_or(facts.kind);
        let why = if (&*api_version, kind) == (facts.api_version, facts.kind) {
            return Ok(Found::Kind);
        } else if api_version.matches('/').count() > 1 {
            format!("unexpected GroupVersion string: {api_version}")
        } else if api_version.is_empty() && kind == facts.kind {
            return Ok(Found::Unversioned);
        } else if let Some(other) = other_version(self.kind, &api_version, kind) {
            return Ok(Found::Version(other));
        } else {
            wrong_kind_text(self.kind, &api_version, kind, json)
        };
        Err(self.unfit(patched, old, &why))
    }

    /// A strategic patch cannot change the type: upstream converts the result into the Go type it
    /// knows, whatever the text says.
    fn check_strategic(&self, patched: &Value, old: &dyn AnyObject) -> Result<Found, Status> {
        let texts = patched["apiVersion"].is_string() && patched["kind"].is_string();
        if !texts && let Some(why) = conversion_error(patched, self.kind.schema()) {
            return Err(self.unfit(patched, old, &why));
        }
        Ok(Found::Kind)
    }

    fn check_custom(
        &self,
        patched: &Value,
        json: &[u8],
        old: &dyn AnyObject,
    ) -> Result<Found, Status> {
        let meta = custom_type_meta(json).map_err(|why| self.unfit(patched, old, &why))?;
        let (api_version, kind) = (meta.0.unwrap_or_default(), meta.1.unwrap_or_default());
        let why = if kind.is_empty() {
            missing_kind(json)
        } else if api_version.is_empty() {
            let why = "Object 'apiVersion' is missing in 'object has no apiVersion field'";
            return Err(Status::bad_request(why));
        } else if api_version.matches('/').count() > 1 {
            format!("unexpected GroupVersion string: {api_version}")
        } else {
            self.check_custom_kind(&api_version, &kind)?;
            return Ok(Found::Kind);
        };
        Err(self.unfit(patched, old, &why))
    }

    /// Refuses a patch that changes the type of a custom object, except of its status, as upstream.
    fn check_custom_kind(&self, api_version: &str, kind: &str) -> Result<(), Status> {
        let facts = self.kind.facts();
        if self.subresource == Some("status") {
            return Ok(());
        }
        let mut errors = Vec::new();
        for (field, found, expected) in [
            ("kind", kind, facts.kind),
            ("apiVersion", api_version, facts.api_version),
        ] {
            if found != expected {
                let detail = format!("must be {expected}");
                let path = FieldPath::new(field);
                errors.push(FieldError::invalid(&path, found, detail));
            }
        }
        if errors.is_empty() {
            return Ok(());
        }
        let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let kind = GroupKind::new(group, kind);
        Err(Status::invalid(&kind, &self.target.name, &errors))
    }

    /// 422: the result is not a valid object of the kind. As upstream, a strategic patch is quoted
    /// as Go prints it, and the others by their result.
    fn unfit(&self, patched: &Value, old: &dyn AnyObject, why: &str) -> Status {
        let shown = match (self.patch_type, patch::strategic::parse(&self.bytes)) {
            (PatchType::Strategic, Ok(patch)) => {
                let before = self.tree(old);
                let spent = patch::strategic::spent(&before, patch, self.kind.schema());
                patch::go_print(&spent)
            }
            _ if self.kind.is_custom() => escape_html(&patched.to_string()),
            _ => escape_html(&quoted::text(
                patched,
                self.patch_type,
                &self.bytes,
                self.kind.schema(),
            )),
        };
        let error = FieldError::invalid(&FieldPath::new("patch"), &shown, why);
        Status::invalid(&GroupKind::new("", ""), "", &[error])
    }
}

/// The type of a patched object.
#[derive(Clone, Copy)]
enum Found {
    /// The same type as before.
    Kind,
    /// Another version of it: decoded as that version, and served as the requested one.
    Version(&'static Kind),
    /// The kind without a version, of which no field can be decoded: upstream uses its internal
    /// type, whose fields have no JSON names.
    Unversioned,
}

/// Lists the unknown fields of an object without a version.
fn unversioned_problems(patched: &Value) -> Vec<String> {
    let mut names: Vec<&String> = patched
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name)
        .filter(|name| !matches!(name.as_str(), "apiVersion" | "kind"))
        .collect();
    names.sort_unstable();
    names
        .into_iter()
        .map(|name| format!("unknown field {}", quote(name)))
        .collect()
}

/// The error of a patch that cannot be applied.
fn refusal(error: &PatchError) -> Status {
    match error.class() {
        PatchClass::Malformed | PatchClass::Internal => Status::bad_request(error.to_string()),
        PatchClass::TooLarge => Status::request_entity_too_large(error),
        PatchClass::Unsupported => Status::unsupported_media_type(&[]),
        PatchClass::Unprocessable => Status::generic(&GenericResponse {
            code: 422,
            ..GenericResponse::default()
        }),
    }
}

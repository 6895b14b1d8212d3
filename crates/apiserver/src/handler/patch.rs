//! PATCH: JSON patch, merge patch, strategic merge patch.
//!
//! A patch is applied to the object as it is stored, again if somebody else writes in between.
//! Server-side apply is refused: 415.

mod quoted;

use super::{Call, Target, update};
use crate::answer::Answer;
use crate::decode::{decode_text, foreign};
use crate::go_decode::conversion_mistake;
use bytes::Bytes;
use hyper::body::Incoming;
use kubist_api::Kind;
use kubist_apimachinery::wire::{DecodeContext, merge_json, to_json_value};
use kubist_apimachinery::{
    AnyObject, BadValue, FieldError, FieldPath, FieldValidation, GenericResponse, GroupKind,
    GroupResource, PatchOptions, Status, StatusReason, WriteVerb,
};
use kubist_codec::negotiate::{Offer, PatchType};
use kubist_codec::patch::{self, PatchClass, PatchError};
use kubist_registry::{RequestContext, UpdatedObject};
use serde_json::Value;
use std::fmt::Write;

/// The patches that are served.
const SERVED: &[PatchType] = &[PatchType::Json, PatchType::Merge, PatchType::Strategic];
/// The patches of custom resources: nobody knows how their lists would be merged.
const SERVED_CUSTOM: &[PatchType] = &[PatchType::Json, PatchType::Merge];

fn served(kind: &'static Kind) -> &'static [PatchType] {
    if kind.is_custom() {
        SERVED_CUSTOM
    } else {
        SERVED
    }
}

pub(super) async fn answer(
    call: Call<'_>,
    target: Target,
    part: Option<&str>,
    body: &mut Incoming,
) -> Result<Answer, Status> {
    let served = served(target.rest.kind());
    let patch_type = patch_type(call.request.content_type(), served)?;
    let form = call.form(&target, &Offer::BUILT_IN)?;
    let bytes = call.bytes(body).await?;
    let pairs = call.request.query.pairs();
    let options = PatchOptions::from_query(WriteVerb::Patch, pairs);
    let options = options.map_err(|error| error.to_status())?.post;
    let patched = Patched {
        cx: call.cx,
        target: &target,
        part,
        kind: target.rest.body_kind(),
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
    update::represent(&form, &updated)
}

fn patch_type(
    content_type: Option<&str>,
    served: &'static [PatchType],
) -> Result<PatchType, Status> {
    let known = [PatchType::Apply, PatchType::Strategic];
    let found = PatchType::parse(content_type, &known);
    if found.is_ok_and(|found| !served.contains(&found)) {
        let accepted: Vec<&str> = served.iter().map(|it| it.media_type()).collect();
        return Err(Status::unsupported_media_type(&accepted));
    }
    PatchType::parse(content_type, served).map_err(|_| {
        let message = "415: Unsupported Media Type";
        Status::failure(415, StatusReason::UnsupportedMediaType, message)
            .with_details(Default::default())
    })
}

/// The update that a patch is.
struct Patched<'a> {
    cx: &'a RequestContext,
    target: &'a Target,
    /// The subresource, if it is one.
    part: Option<&'a str>,
    kind: &'static Kind,
    resource: GroupResource,
    patch_type: PatchType,
    bytes: Bytes,
    validation: FieldValidation,
}

impl UpdatedObject for Patched<'_> {
    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let old = old.ok_or_else(|| Status::not_found(&self.resource, &self.target.name))?;
        let schema = Some(self.kind.schema());
        let patched = patch::apply(self.patch_type, to_json_value(old), &self.bytes, schema)
            .map_err(|error| refusal(&error))?;
        let mut object = self.decode(&patched, old)?;
        self.target.check_name(&*object)?;
        self.target.place(&mut *object)?;
        Ok(object)
    }
}

impl Patched<'_> {
    /// The patched tree as an object of the kind.
    fn decode(&self, patched: &Value, old: &dyn AnyObject) -> Result<Box<dyn AnyObject>, Status> {
        self.check_kind(patched, old)?;
        let kind = self.kind.facts().kind;
        let mut cx = DecodeContext::new();
        let mut problems = Vec::new();
        if self.validation != FieldValidation::Ignore {
            cx = cx.strict();
            problems = patch::strict_problems(self.patch_type, &self.bytes);
        }
        let json = serde_json::to_vec(patched).map_err(Status::internal_error)?;
        let mut object = self
            .kind
            .new_object()
            .ok_or_else(|| Status::internal_error(format_args!("{kind} is no object")))?;
        merge_json(&mut *object, &json, &mut cx).map_err(|error| {
            let schema = self.kind.schema();
            let converted = match self.patch_type {
                PatchType::Strategic => conversion_mistake(patched, schema),
                _ => None,
            };
            let why = converted.unwrap_or_else(|| decode_text(&error, &json, schema));
            self.unfit(patched, old, &why)
        })?;
        problems.extend(cx.take_problems().iter().map(ToString::to_string));
        if self.validation == FieldValidation::Strict && !problems.is_empty() {
            let why = format!("strict decoding error: {}", problems.join(", "));
            return Err(self.unfit(patched, old, &why));
        }
        for problem in problems {
            self.cx.warn(problem);
        }
        Ok(object)
    }

    /// A strategic patch cannot change what the object is: upstream converts its outcome into the
    /// type that it knows, whatever text stands there.
    fn check_kind(&self, patched: &Value, old: &dyn AnyObject) -> Result<(), Status> {
        let facts = self.kind.facts();
        let text = |key: &str| patched.get(key).and_then(Value::as_str);
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        if self.patch_type == PatchType::Strategic {
            let texts = api_version.is_some() && kind.is_some();
            if !texts && let Some(why) = conversion_mistake(patched, self.kind.schema()) {
                return Err(self.unfit(patched, old, &why));
            }
            return Ok(());
        }
        if (api_version, kind) == (Some(facts.api_version), Some(facts.kind)) {
            return Ok(());
        }
        if self.kind.is_custom()
            && let (Some(api_version), Some(kind)) = (api_version, kind)
            && !api_version.is_empty()
            && !kind.is_empty()
        {
            return self.check_custom_kind(api_version, kind);
        }
        let why = match (api_version, kind) {
            (Some(api_version), Some(kind)) if kind != facts.kind && !self.kind.is_custom() => {
                let json = serde_json::to_vec(patched).map_err(Status::internal_error)?;
                foreign(self.kind, api_version, kind, &json)
            }
            _ => "the patch changes apiVersion or kind".to_owned(),
        };
        Err(self.unfit(patched, old, &why))
    }

    /// Refuses a patch that changes what a custom object is, except that nobody asks it of its
    /// status, as upstream.
    fn check_custom_kind(&self, api_version: &str, kind: &str) -> Result<(), Status> {
        let facts = self.kind.facts();
        if self.part == Some("status") {
            return Ok(());
        }
        let (field, found, expected) = if api_version == facts.api_version {
            ("kind", kind, facts.kind)
        } else {
            ("apiVersion", api_version, facts.api_version)
        };
        let detail = format!("must be {expected}");
        let error = FieldError::invalid(&FieldPath::new(field), found, detail);
        let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let kind = GroupKind::new(group, kind);
        Err(Status::invalid(&kind, &self.target.name, &[error]))
    }

    /// 422: what comes out is no object of the kind. A strategic patch is shown as Go prints it,
    /// the others by their outcome, as upstream does.
    fn unfit(&self, patched: &Value, old: &dyn AnyObject, why: &str) -> Status {
        let shown = match (self.patch_type, patch::strategic::parse(&self.bytes)) {
            (PatchType::Strategic, Ok(patch)) => {
                let before = to_json_value(old);
                let spent = patch::strategic::spent(&before, patch, self.kind.schema());
                let mut text = String::new();
                go_print(&spent, &mut text);
                text
            }
            _ if self.kind.is_custom() => patched.to_string(),
            _ => quoted::text(patched, self.patch_type, &self.bytes, self.kind.schema()),
        };
        let error = FieldError::invalid(&FieldPath::new("patch"), BadValue::json(&shown), why);
        Status::invalid(&GroupKind::new("", ""), "", &[error])
    }
}

/// The answer to a patch that cannot be applied.
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

/// A tree as Go prints maps and slices: `map[a:[1 2] b:x]`.
fn go_print(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("<nil>"),
        Value::String(text) => out.push_str(text),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(' ');
                }
                go_print(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push_str("map[");
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            for (index, key) in keys.into_iter().enumerate() {
                if index > 0 {
                    out.push(' ');
                }
                out.push_str(key);
                out.push(':');
                go_print(&map[key], out);
            }
            out.push(']');
        }
        // Writing to a string cannot fail.
        other => drop(write!(out, "{other}")),
    }
}

//! How an object is written in storage: a protobuf envelope, without resource version.

use crate::Stored;
use crate::stored::unreadable;
use bytes::Bytes;
use kubist_api::{Kind, find_kind_by_api_version};
use kubist_apimachinery::wire::{DecodeContext, merge_json, merge_protobuf};
use kubist_apimachinery::{AnyObject, Status, Str};
use kubist_codec::envelope::{self, Envelope};

/// The value for an object.
pub(super) fn encode(mut object: Box<dyn AnyObject>) -> Bytes {
    let meta = object.meta_mut();
    meta.resource_version = Str::default();
    meta.self_link = Str::default();
    envelope::encode(&*object).into()
}

/// The message in a value that [`encode`] made.
pub(super) fn raw_of(value: &Bytes) -> Bytes {
    match Envelope::open(value) {
        Ok(envelope) => value.slice_ref(envelope.raw),
        Err(_) => Bytes::new(),
    }
}

/// The object in a value, as `kind`. What cannot be read says so when somebody looks inside.
pub(super) fn decode(kind: &'static Kind, revision: u64, value: &Bytes) -> Stored {
    if let Ok(envelope) = Envelope::open(value)
        && names(kind, &envelope)
    {
        return Stored::from_raw(kind, revision, value.slice_ref(envelope.raw));
    }
    match decode_other(kind, value) {
        Ok(object) => Stored::from_object(kind, revision, object),
        Err(status) => Stored::from_error(kind, revision, status),
    }
}

fn names(kind: &Kind, envelope: &Envelope<'_>) -> bool {
    let facts = kind.facts();
    facts.kind == envelope.kind && facts.api_version == envelope.api_version
}

/// A value in another version of the kind, or in JSON.
fn decode_other(kind: &'static Kind, value: &Bytes) -> Result<Box<dyn AnyObject>, Status> {
    let cx = &mut DecodeContext::new();
    if value.starts_with(b"{") {
        let mut object = empty(kind)?;
        merge_json(&mut *object, value, cx).map_err(|error| unreadable(&error))?;
        return Ok(object);
    }
    let envelope = Envelope::open(value).map_err(|error| unreadable(&error))?;
    let found = find_kind_by_api_version(envelope.api_version, envelope.kind).ok_or_else(|| {
        let (version, name) = (envelope.api_version, envelope.kind);
        unreadable(&format_args!("unknown kind {version} {name}"))
    })?;
    let mut object = empty(found)?;
    merge_protobuf(&mut *object, envelope.raw, cx).map_err(|error| unreadable(&error))?;
    crate::convert::convert(object, found, kind)
}

fn empty(kind: &'static Kind) -> Result<Box<dyn AnyObject>, Status> {
    kind.new_object()
        .ok_or_else(|| unreadable(&format_args!("{} has no metadata", kind.facts().kind)))
}

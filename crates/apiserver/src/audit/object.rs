//! `Object`: the body of a request or a response, and what of it is recorded.

use kubist_api::find_kind_by_api_version;
use kubist_apimachinery::wire::{DecodeContext, merge_protobuf, to_json};
use kubist_audit::ObjectReference;
use kubist_codec::envelope::Envelope;
use kubist_codec::{Format, yaml};
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// A body, as it was sent.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) format: Format,
    pub(crate) bytes: bytes::Bytes,
    /// Its room in the queue.
    pub(super) room: Room,
}

/// Room for a body, shared by all events that have it.
pub(super) type Room = Arc<OwnedSemaphorePermit>;

impl Object {
    /// Returns it as JSON on one line, whatever it was sent as: a line break within an event would
    /// be the beginning of another. None if it cannot be decoded.
    pub(crate) fn json(&self, omit_managed_fields: bool) -> Option<Box<RawValue>> {
        let mut value: Value = serde_json::from_slice(&self.text()?).ok()?;
        if omit_managed_fields {
            drop_managed_fields(&mut value);
            if let Some(Value::Array(items)) = value.get_mut("items") {
                items.iter_mut().for_each(drop_managed_fields);
            }
        }
        serde_json::value::to_raw_value(&value).ok()
    }

    /// Adds to a reference what the object says of itself.
    pub(crate) fn complete(&self, about: &mut ObjectReference) {
        let text = self.text();
        let value: Option<Value> = text.and_then(|it| serde_json::from_slice(&it).ok());
        let Some(metadata) = value.as_ref().and_then(|it| it.get("metadata")) else {
            return;
        };
        let said = |key: &str| {
            metadata
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        for (field, key) in [
            (&mut about.name, "name"),
            (&mut about.namespace, "namespace"),
            (&mut about.uid, "uid"),
            (&mut about.resource_version, "resourceVersion"),
        ] {
            if field.is_empty() {
                said(key).clone_into(field);
            }
        }
    }

    fn text(&self) -> Option<Vec<u8>> {
        match self.format {
            Format::Json => Some(self.bytes.to_vec()),
            Format::Yaml => {
                let document = yaml::parse_all(&self.bytes).ok()?.into_iter().next()?;
                serde_json::to_vec(&document.value).ok()
            }
            Format::Protobuf => {
                let envelope = Envelope::open(&self.bytes).ok()?;
                let kind = find_kind_by_api_version(envelope.api_version, envelope.kind)?;
                let mut object = kind.new_object()?;
                let mut cx = DecodeContext::new();
                merge_protobuf(&mut *object, envelope.raw, &mut cx).ok()?;
                Some(to_json(&*object))
            }
        }
    }
}

fn drop_managed_fields(object: &mut Value) {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("managedFields");
    }
}

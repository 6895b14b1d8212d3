//! `Parts`: an object while it is decoded, before it is known to have a spec.

use crate::CustomResource;
use kubist_apimachinery::ObjectMeta;
use kubist_apimachinery::wire::{
    self, DecodeContext, EncodeError, Message, SerdeField, Slot, View, WireError, WireErrorKind,
};
use serde::de::{Deserialize, Deserializer, Error as _};

/// The parts of an object.
#[derive(Debug)]
pub struct Parts<K: CustomResource> {
    metadata: ObjectMeta,
    spec: Option<K::Spec>,
    status: Option<K::Status>,
}

impl<K: CustomResource> Default for Parts<K> {
    fn default() -> Self {
        Self {
            metadata: ObjectMeta::default(),
            spec: None,
            status: None,
        }
    }
}

impl<K: CustomResource> Message for Parts<K> {
    fn schema(&self) -> &'static wire::Schema {
        K::SCHEMA
    }
    fn slot(&mut self, index: usize) -> Option<Slot<'_>> {
        match index {
            0 => Some(Slot::Message(&mut self.metadata)),
            1 => Some(Slot::Serde(&mut self.spec)),
            2 => Some(Slot::Serde(&mut self.status)),
            _ => None,
        }
    }
    fn view(&self, index: usize) -> Option<View<'_>> {
        match index {
            0 => Some(View::Message(&self.metadata)),
            1 => Some(View::Serde(&self.spec)),
            2 => Some(View::Serde(&self.status)),
            _ => None,
        }
    }
}

impl<K: CustomResource> Parts<K> {
    /// Deserializes an object with serde.
    ///
    /// # Errors
    /// A value does not fit, or the spec is missing.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<K, D::Error> {
        let parts: Self = Deserialize::deserialize(deserializer)?;
        parts.build().map_err(D::Error::custom)
    }

    fn build(self) -> Result<K, WireError> {
        let Self {
            metadata,
            spec,
            status,
        } = self;
        let spec = match spec {
            Some(spec) => spec,
            None => empty_spec()?,
        };
        Ok(K::from_parts(metadata, spec, status))
    }
}

impl<'de, K: CustomResource> Deserialize<'de> for Parts<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}

/// A missing spec is one without fields, as in Go.
fn empty_spec<S: serde::de::DeserializeOwned + SerdeField>() -> Result<S, WireError> {
    serde_json::from_str("{}").map_err(|error| {
        let mut reason = error.to_string();
        if let Some(end) = reason.rfind(" at line ") {
            reason.truncate(end);
        }
        WireError {
            path: "spec".to_owned(),
            kind: WireErrorKind::Invalid { reason },
        }
    })
}

/// Decodes JSON.
///
/// # Errors
/// A value does not fit, or the spec is missing.
pub fn from_json<K: CustomResource>(bytes: &[u8], cx: &mut DecodeContext) -> Result<K, WireError> {
    let mut parts = Parts::<K>::default();
    wire::merge_json(&mut parts, bytes, cx)?;
    parts.build()
}

/// Decodes protobuf, a form internal to this project.
///
/// # Errors
/// A value does not fit, or the spec is missing.
pub fn from_protobuf<K: CustomResource>(
    bytes: &[u8],
    cx: &mut DecodeContext,
) -> Result<K, WireError> {
    let mut parts = Parts::<K>::default();
    wire::merge_protobuf(&mut parts, bytes, cx)?;
    parts.build()
}

/// Encodes for server-side apply.
///
/// # Errors
/// The spec or the status has no JSON form.
pub fn encode_wanted(object: &dyn Message, with_status: bool) -> Result<Vec<u8>, EncodeError> {
    Ok(wire::to_wanted(object, with_status)?
        .to_string()
        .into_bytes())
}

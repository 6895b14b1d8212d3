//! `ApplyBody`: what a client can apply as a kind: the kind itself, or its configuration.

use super::ApplyConfiguration;
use crate::wire::{Encode, EncodeError};
use crate::{Object, ObjectName};
use serde_json::{Map, Value};

/// A body of server-side apply for objects of the kind `K`.
pub trait ApplyBody<K>: Send + Sync {
    /// Returns the name of the object.
    fn applied_name(&self) -> ObjectName;

    /// Encodes the fields as JSON. A kind omits its status unless `with_status`; a configuration
    /// has exactly what was set.
    ///
    /// # Errors
    /// A kind that has no such form: raw bytes that are not JSON.
    fn encode_applied(&self, with_status: bool) -> Result<Vec<u8>, EncodeError>;
}

impl<K: Object + Encode> ApplyBody<K> for K {
    fn applied_name(&self) -> ObjectName {
        self.object_name()
    }

    fn encode_applied(&self, with_status: bool) -> Result<Vec<u8>, EncodeError> {
        self.encode_wanted(with_status)
    }
}

/// Returns the name in the metadata of a configuration.
#[doc(hidden)]
pub fn name_of(fields: &Map<String, Value>) -> ObjectName {
    let metadata = fields.get("metadata");
    let member = |name| metadata.and_then(|it| it.get(name)).and_then(Value::as_str);
    ObjectName::new(
        member("namespace").unwrap_or_default(),
        member("name").unwrap_or_default(),
    )
}

/// Encodes a configuration of a kind, whatever it was made from, as one of that kind.
#[doc(hidden)]
pub fn encode_kind<A: ApplyConfiguration>(configuration: &A) -> Result<Vec<u8>, EncodeError> {
    let mut typed = Map::new();
    super::add_type(A::SCHEMA, &mut typed);
    if typed
        .iter()
        .all(|(name, value)| configuration.fields().get(name) == Some(value))
    {
        return Ok(serde_json::to_vec(configuration.fields())?);
    }
    let mut fields = configuration.fields().clone();
    fields.extend(typed);
    Ok(serde_json::to_vec(&fields)?)
}

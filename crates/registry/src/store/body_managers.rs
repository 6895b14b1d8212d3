//! Managed fields of bodies that are not stored: reviews, and requests of tokens.
//!
//! As upstream, the response to a review says who set its fields, although nobody will ever change
//! them.

use crate::store::field_managers::FieldManagers;
use crate::store::tracking::manager_name;
use crate::strategy::context::RequestContext;
use kubist_api::Kind;
use kubist_apimachinery::{AnyObject, PostOptions};
use kubist_field_manager::{ConvertError, ObjectConverter, ObjectType, UpdateRequest};
use serde_json::Value;
use std::collections::BTreeMap;

/// A body comes in one version: the managers of others lose their fields.
struct NoVersions;

impl ObjectConverter for NoVersions {
    fn convert(&self, _object: &Value, _to: &str) -> Result<(Value, ObjectType), ConvertError> {
        Err(ConvertError::NoVersion)
    }
}

/// Sets the managed fields of a body. As upstream, it has none if they cannot be computed.
pub(crate) fn manage(
    managers: &FieldManagers,
    cx: &RequestContext,
    (kind, subresource): (&'static Kind, &'static str),
    options: &PostOptions,
    body: &mut dyn AnyObject,
) {
    let entries = managers
        .get(kind, subresource, BTreeMap::new)
        .ok()
        .and_then(|manager| {
            let request = UpdateRequest {
                live: None,
                new: body,
                manager: &manager_name(cx, options),
                now: cx.now(),
            };
            manager.update(&request, &NoVersions).ok()
        });
    body.meta_mut().managed_fields = entries.unwrap_or_default();
}

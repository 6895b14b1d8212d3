//! Patches on JSON trees: JSON patch, merge patch, strategic merge patch.
//!
//! They behave like upstream's server where that differs from the RFCs. They work on JSON trees:
//! the caller decodes and validates the result. Server-side apply is not included. For clients that
//! change typed objects, [`edited`], [`carry_over`](fn@carry_over) and [`difference`] make patches.

mod carry_over;
mod difference;
mod edited;
mod error;
mod go_value;
pub mod json;
pub mod merge;
pub mod strategic;
mod strict;

use kubist_apimachinery::json_type;
use kubist_apimachinery::wire::Schema;
use serde_json::Value;

pub use carry_over::carry_over;
pub use difference::difference;
pub use edited::edited;
pub use error::{PatchClass, PatchError};
pub use go_value::{print as go_print, type_name as go_type};
pub use strict::strict_problems;

use crate::go_json;
use crate::negotiate::PatchType;

/// How strictly a patch is read before it is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "each patch is read in one of two ways"
)]
pub enum Reading {
    /// The patch must have the form of its type.
    Checked,
    /// The patch is read only as far as needed, as upstream does for patches that are not validated
    /// (`fieldValidation=Ignore`).
    Loose,
}

/// Applies the body of a patch request. `schema` is the kind's schema, which strategic merge
/// patches need.
///
/// ```
/// use kubist_codec::negotiate::PatchType;
/// use kubist_codec::patch::{Reading, apply};
/// use serde_json::json;
/// let (before, patch) = (json!({"data": {"a": "1"}}), br#"{"data": {"a": null, "b": "2"}}"#);
/// let patched = apply(PatchType::Merge, Reading::Checked, before, patch, None)?;
/// assert_eq!(patched, json!({"data": {"b": "2"}}));
/// # Ok::<(), kubist_codec::patch::PatchError>(())
/// ```
///
/// # Errors
/// The patch is malformed or does not fit the object. An apply patch always fails.
pub fn apply(
    patch_type: PatchType,
    reading: Reading,
    object: Value,
    patch: &[u8],
    schema: Option<&'static Schema>,
) -> Result<Value, PatchError> {
    match patch_type {
        PatchType::Json => json::JsonPatch::parse(patch, reading)?.apply(object),
        PatchType::Merge => Ok(merge::merge(object, merge::parse(patch, reading)?)),
        PatchType::Strategic => match schema {
            Some(schema) => strategic::merge(object, strategic::parse(patch)?, schema),
            None => Err(PatchError::Unsupported {
                patch_type: patch_type.media_type(),
            }),
        },
        PatchType::Apply => Err(PatchError::Unsupported {
            patch_type: patch_type.media_type(),
        }),
    }
}

/// Parses the JSON of a patch; the error is Go's.
fn read(patch: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(patch).or_else(|error| {
        if let Some(text) = go_json::replaced(patch)
            && let Ok(tree) = serde_json::from_slice(&text)
        {
            return Ok(tree);
        }
        Err(go_json::refusal(patch).unwrap_or_else(|| error.to_string()))
    })
}

/// Returns Go's message about a patch that is not an object.
fn no_map(found: &Value) -> String {
    let (found, wanted) = (json_type(found), go_value::MAP);
    format!("json: cannot unmarshal {found} into Go value of type {wanted}")
}

/// The prefix of errors about JSON patches and merge patches that cannot be read.
fn decoding(reason: String) -> PatchError {
    let reason = format!("error decoding patch: {reason}");
    PatchError::Malformed { reason }
}

/// Removes null members: they would delete, and there is nothing to delete.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(drop_nulls);
        }
        Value::Array(list) => list.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

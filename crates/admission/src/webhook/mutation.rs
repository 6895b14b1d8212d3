//! `apply`: what the patch of a mutating webhook makes of the object of a request.

use super::answer::Patch;
use super::call::{Failure, UNAVAILABLE};
use super::hook::Hook;
use super::rejection;
use crate::asked;
use crate::matching::Matched;
use kubist_apimachinery::Status;
use kubist_apimachinery::go_text::quote;
use kubist_codec::patch::Reading;
use kubist_codec::patch::json::JsonPatch;
use kubist_registry::admission::{Attributes, Side};
use std::fmt;

/// The only type of patches.
const JSON_PATCH: &str = "JSONPatch";

/// Applies a patch to the new object, and reports whether it changed.
pub(super) async fn apply(
    attributes: &mut Attributes<'_>,
    hook: &Hook,
    matched: &Matched,
    patch: &Patch,
) -> Result<bool, Failure> {
    let not_called = |why: String| Failure::NotCalled {
        why: rejection::not_called(&hook.name, &why),
        code: UNAVAILABLE,
    };
    let parsed = JsonPatch::parse(&patch.bytes, Reading::Loose).map_err(|error| {
        not_called(format!(
            "received undecodable patch in webhook response: {error}"
        ))
    })?;
    if parsed.is_empty() {
        return Ok(false);
    }
    let name = quote(&hook.name);
    let unsupported = || {
        refused(format!(
            "admission webhook {name} attempted to modify the object, which is not supported for \
             this operation"
        ))
    };
    if attributes.object().is_none() {
        return Err(unsupported());
    }
    if patch.patch_type != JSON_PATCH {
        let found = quote(&patch.patch_type);
        return Err(not_called(format!("unsupported patch type {found}")));
    }
    let version = asked::api_version(matched);
    let before = attributes.json(Side::New, &version).await;
    let before = before.map_err(refused)?.ok_or_else(unsupported)?;
    let patched = parsed.apply((*before).clone()).map_err(refused)?;
    attributes.replace(patched).await.map_err(refused)?;
    let after = attributes.json(Side::New, &version).await;
    Ok(after.map_err(refused)?.as_deref() != Some(&*before))
}

fn refused(why: impl fmt::Display) -> Failure {
    Failure::Broken(Box::new(Status::internal_error(why)))
}

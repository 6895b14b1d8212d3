//! Writes objects again, unchanged.
//!
//! Each write is an apply of nothing, under the uid and the version that were listed: the server
//! writes it only if the object would be stored in another way. A conflict says that somebody else
//! has written the object, or that it is gone: either way it is done.
//!
//! A list that takes longer than the server keeps history goes on where it was, with objects as
//! they are then: those that have come since are stored as they should be.

use kubist_apimachinery::{
    ApiResource, ListOptions, ObjectMeta, PatchOptions, ResourceVersion, StatusReason, Str,
};
use kubist_cache::Metadata;
use kubist_client::{Api, ApiError, Client, Patch};
use serde_json::json;
use std::cmp::Ordering;

/// The field manager of upstream's controller.
const MANAGER: &str = "storage-version-migrator-controller";

/// Objects of a page.
const PAGE_OBJECTS: i64 = 500;

/// How a migration ended.
pub(super) enum Rewritten {
    /// Every object is stored as it should be.
    All,
    /// An object could not be read or written, and never will be.
    Stopped(ApiError),
    /// Nobody wants it any more.
    Unwanted,
}

/// Writes all objects of a resource that are not newer than `until`, as long as it is wanted.
///
/// # Errors
/// Some were not listed or written, and may be later.
pub(super) async fn all(
    client: &Client,
    resource: &ApiResource,
    until: &Str,
    is_wanted: impl Fn() -> bool,
) -> Result<Rewritten, ApiError> {
    let api = Api::<Metadata<()>>::dynamic(client.clone(), resource);
    let mut options = ListOptions {
        limit: PAGE_OBJECTS,
        ..ListOptions::default()
    };
    loop {
        let page = match api.list(&options).await {
            Ok(page) => page,
            Err(error) if is_unreadable(&error) => return Ok(Rewritten::Stopped(error)),
            Err(error) => match rest_of(&error) {
                Some(rest) if !options.continue_.is_empty() => {
                    options.continue_ = rest;
                    continue;
                }
                _ => return Err(error),
            },
        };
        for object in page.items {
            if !is_wanted() {
                return Ok(Rewritten::Unwanted);
            }
            if is_newer(&object.metadata.resource_version, until) {
                continue;
            }
            if let Some(error) = one(&api, resource, object.metadata).await? {
                return Ok(Rewritten::Stopped(error));
            }
        }
        options.continue_ = page.metadata.continue_;
        if options.continue_.is_empty() {
            return Ok(Rewritten::All);
        }
    }
}

/// Writes an object. Returns why it never will be written.
async fn one(
    api: &Api<Metadata<()>>,
    resource: &ApiResource,
    metadata: ObjectMeta,
) -> Result<Option<ApiError>, ApiError> {
    let own = match &*metadata.namespace {
        "" => api.clone(),
        _ => api.in_namespace(metadata.namespace),
    };
    let patch = Patch::Apply(json!({
        "apiVersion": resource.group_version().to_string(),
        "kind": resource.kind,
        "metadata": {"uid": metadata.uid, "resourceVersion": metadata.resource_version},
    }));
    let options = PatchOptions::managed_by(MANAGER);
    match own.patch_with(&metadata.name, &patch, &options).await {
        Ok(_) => Ok(None),
        Err(error) if error.is_conflict() || error.is_written() => Ok(None),
        Err(error) if error.retry().is_retryable() => Err(error),
        Err(error) => Ok(Some(error)),
    }
}

/// Returns where an expired list goes on, which the server says with the error.
fn rest_of(error: &ApiError) -> Option<Str> {
    let status = error.status().filter(|_| error.is_expired())?;
    let rest = &status.metadata.continue_;
    (!rest.is_empty()).then(|| rest.clone())
}

/// Reports whether the server cannot decode an object, which it will not learn by itself.
fn is_unreadable(error: &ApiError) -> bool {
    let status = error.status();
    status.is_some_and(|it| it.reason() == StatusReason::StorageReadError)
}

/// Versions that cannot be compared are not newer.
fn is_newer(version: &Str, until: &Str) -> bool {
    let version = ResourceVersion::from(version.clone());
    let until = ResourceVersion::from(until.clone());
    version.compare(&until) == Some(Ordering::Greater)
}

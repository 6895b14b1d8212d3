//! Patch: changes made by the server.

use super::Api;
use crate::endpoint::{Endpoint, encoded};
use crate::error::{ApiError, RequestError};
use crate::request::{Content, Target};
use kubist_apimachinery::apply::ApplyBody;
use kubist_apimachinery::{Object, PatchOptions};
use serde_json::Value;

/// A change in one of the four patch formats of the API.
///
/// ```
/// use kubist_client::Patch;
/// let scale = Patch::Merge(serde_json::json!({"spec": {"replicas": 3}}));
/// assert_eq!(scale.media_type(), "application/merge-patch+json");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "the API knows these four")]
pub enum Patch {
    /// JSON patch, a list of operations (RFC 6902).
    Json(Value),
    /// JSON merge patch; null removes a field (RFC 7386).
    Merge(Value),
    /// Strategic merge patch: like `Merge`, but lists merge by the keys in the kind's schema.
    /// Built-in kinds only.
    Strategic(Value),
    /// Server-side apply: the fields that the field manager in the options sets.
    Apply(Value),
}

impl Patch {
    /// Returns the `Content-Type`.
    pub fn media_type(&self) -> &'static str {
        match self {
            Self::Json(_) => "application/json-patch+json",
            Self::Merge(_) => "application/merge-patch+json",
            Self::Strategic(_) => "application/strategic-merge-patch+json",
            Self::Apply(_) => APPLY,
        }
    }

    /// Returns the body.
    pub fn value(&self) -> &Value {
        let (Self::Json(value) | Self::Merge(value) | Self::Strategic(value) | Self::Apply(value)) =
            self;
        value
    }

    pub(crate) fn content(&self) -> Content {
        Content {
            media_type: self.media_type(),
            bytes: self.value().to_string().into(),
        }
    }
}

/// JSON is valid YAML, and every server with apply reads this media type.
const APPLY: &str = "application/apply-patch+yaml";

impl<K: Object> Api<K> {
    /// Patches the named object and returns the result.
    ///
    /// # Errors
    /// [`is_not_found`](ApiError::is_not_found), [`is_invalid`](ApiError::is_invalid), …;
    /// [`is_written`](ApiError::is_written) if the patch was applied and `K` cannot hold the
    /// result. An `Api<Metadata<K>>` can patch such objects too.
    pub async fn patch(&self, name: &str, patch: &Patch) -> Result<K, ApiError> {
        self.patch_with(name, patch, &PatchOptions::default()).await
    }

    /// Same as [`Self::patch`], with options. [`Patch::Apply`] requires a field manager.
    pub async fn patch_with(
        &self,
        name: &str,
        patch: &Patch,
        options: &PatchOptions,
    ) -> Result<K, ApiError> {
        let target = self.endpoint.target(Some(name));
        self.endpoint.patch(target, patch.content(), options).await
    }

    /// Patches the status of the named object.
    pub async fn patch_status(&self, name: &str, patch: &Patch) -> Result<K, ApiError> {
        self.status().patch(name, patch).await
    }

    /// Applies the object (server-side apply): creates it, or sets these fields on the existing
    /// one. The options require a field manager.
    ///
    /// Empty fields are not sent, even if the kind requires them. Neither are `status` and the
    /// metadata that the server writes: `creationTimestamp`, `deletionTimestamp`,
    /// `deletionGracePeriodSeconds`, `generation`, `managedFields`, `selfLink`, `uid` and
    /// `resourceVersion`.
    ///
    /// An [apply configuration](kubist_apimachinery::apply) sends exactly what was set on it, zero
    /// or not: the types with `Apply` in their names in `kubist-api`, with its feature `apply`.
    /// [`Patch::Apply`] and [`Unstructured`](kubist_apimachinery::Unstructured) objects send any
    /// fields, unchecked.
    ///
    /// ```
    /// # use kubist_api::apps::v1::Deployment;
    /// # use kubist_apimachinery::PatchOptions;
    /// # use kubist_client::{Api, ApiError, Patch};
    /// # async fn example(deployments: Api<Deployment>) -> Result<(), ApiError> {
    /// let mut wanted = Deployment::default();
    /// wanted.metadata.name = "web".into();
    /// wanted.spec.replicas = Some(3);
    /// let mine = PatchOptions::managed_by("example.com/scaler");
    /// let web = deployments.apply(&wanted, &mine).await?;
    ///
    /// let if_same = Patch::Apply(serde_json::json!({ // only if it is still that Deployment
    ///     "apiVersion": "apps/v1", "kind": "Deployment",
    ///     "metadata": {"name": "web", "uid": web.metadata.uid}, "spec": {"replicas": 5},
    /// }));
    /// deployments.patch_with("web", &if_same, &mine).await?;
    /// # Ok(()) }
    /// ```
    pub async fn apply<A>(&self, object: &A, options: &PatchOptions) -> Result<K, ApiError>
    where
        A: ApplyBody<K>,
    {
        apply(&self.endpoint, object, options).await
    }

    /// Same as [`Self::apply`], for the status.
    pub async fn apply_status<A>(&self, object: &A, options: &PatchOptions) -> Result<K, ApiError>
    where
        A: ApplyBody<K>,
    {
        self.status().apply(object, options).await
    }
}

/// Applies an object, or a subresource of it, by the name in its metadata. An endpoint of all
/// namespaces takes that of the object.
pub(super) async fn apply<K: Object>(
    endpoint: &Endpoint<K>,
    object: &impl ApplyBody<K>,
    options: &PatchOptions,
) -> Result<K, ApiError> {
    if options.post.field_manager.is_empty() {
        return Err(RequestError::NoFieldManager.into());
    }
    let body = object.encode_applied(endpoint.subresource == "status");
    let name = object.applied_name();
    let namespace = endpoint.namespace.as_deref().or(Some(&name.namespace));
    let target = Target {
        namespace,
        ..endpoint.target(Some(&name.name))
    };
    let bytes = encoded(&endpoint.kind, body)?.into();
    let content = Content {
        media_type: APPLY,
        bytes,
    };
    endpoint.patch(target, content, options).await
}

//! Patch: a change to an object, made by the server.

use http::Method;
use kubist_apimachinery::wire::Encode;
use kubist_apimachinery::{Object, PatchOptions};
use serde_json::Value;

use super::Api;
use crate::endpoint::encoded;
use crate::error::ApiError;
use crate::request::Content;

/// A change, in one of the four ways that the API knows.
///
/// ```
/// use kubist_client::Patch;
/// let scale = Patch::Merge(serde_json::json!({"spec": {"replicas": 3}}));
/// assert_eq!(scale.media_type(), "application/merge-patch+json");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "the API knows these four")]
pub enum Patch {
    /// A list of operations (RFC 6902).
    Json(Value),
    /// A part of the object; null removes (RFC 7386).
    Merge(Value),
    /// As `Merge`, but lists merge by the keys that the kind's schema names. Built-in kinds only.
    Strategic(Value),
    /// What the field manager of the options wants (server-side apply).
    Apply(Value),
}

impl Patch {
    /// The `Content-Type`.
    pub fn media_type(&self) -> &'static str {
        match self {
            Self::Json(_) => "application/json-patch+json",
            Self::Merge(_) => "application/merge-patch+json",
            Self::Strategic(_) => "application/strategic-merge-patch+json",
            Self::Apply(_) => APPLY,
        }
    }

    /// The change itself.
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

/// JSON is YAML; every server with apply reads this.
const APPLY: &str = "application/apply-patch+yaml";

impl<K: Object> Api<K> {
    /// Changes the object of this name; the answer is the object after it.
    ///
    /// # Errors
    /// [`is_not_found`](ApiError::is_not_found), [`is_invalid`](ApiError::is_invalid), …;
    /// [`is_written`](ApiError::is_written) if the change was made and `K` cannot hold the object
    /// after it. An `Api<Metadata<K>>` patches such objects too.
    pub async fn patch(&self, name: &str, patch: &Patch) -> Result<K, ApiError> {
        self.patch_with(name, patch, &PatchOptions::default()).await
    }

    /// As [`Self::patch`], with options. [`Patch::Apply`] needs a field manager in them.
    pub async fn patch_with(
        &self,
        name: &str,
        patch: &Patch,
        options: &PatchOptions,
    ) -> Result<K, ApiError> {
        let target = self.endpoint.target(Some(name));
        let (query, content) = (options.to_query(), Some(patch.content()));
        let sent = self
            .endpoint
            .call(Method::PATCH, target, &query, content)
            .await;
        self.endpoint.written(sent?, options.post.dry_run)
    }

    /// Changes the status of the object of this name.
    pub async fn patch_status(&self, name: &str, patch: &Patch) -> Result<K, ApiError> {
        self.status().patch(name, patch).await
    }

    /// Applies the object (server-side apply): creates it, or makes it have these fields. The
    /// options need a field manager.
    ///
    /// Fields that are empty are not wanted, though the kind requires them; nor are `status` and
    /// what else the server writes into an object that was read from it: `creationTimestamp`,
    /// `deletionTimestamp`, `deletionGracePeriodSeconds`, `generation`, `managedFields` and
    /// `selfLink`, and `uid` and `resourceVersion` too, because an apply is about fields and not
    /// about a state. As preconditions those two want to be said: to apply exactly what you say,
    /// use [`Patch::Apply`] or an [`Unstructured`](kubist_apimachinery::Unstructured) object.
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
    pub async fn apply(&self, object: &K, options: &PatchOptions) -> Result<K, ApiError>
    where
        K: Encode,
    {
        let target = self.target_of(object, Some(object.name()));
        let with_status = self.endpoint.subresource == "status";
        let wanted = object.encode_wanted(with_status);
        let bytes = encoded(&self.endpoint.kind, wanted)?.into();
        let content = Some(Content {
            media_type: APPLY,
            bytes,
        });
        let sent = self
            .endpoint
            .call(Method::PATCH, target, &options.to_query(), content)
            .await;
        self.endpoint.written(sent?, options.post.dry_run)
    }
}

//! `Subresource<S>`: a subresource with objects of its own kind.
//!
//! For status, scale and similar: read, replaced and patched by the name of the parent object. It
//! does not cover streams such as logs and exec.

use super::Patch;
use crate::endpoint::Endpoint;
use crate::error::ApiError;
#[cfg(feature = "policy-v1")]
use crate::error::RequestError;
use http::Method;
use kubist_apimachinery::apply::ApplyBody;
use kubist_apimachinery::wire::Encode;
use kubist_apimachinery::{ApiResource, KubeObject, Object, PatchOptions, PostOptions};
use std::fmt;

/// A subresource of a resource; see [`Api::subresource`](crate::Api::subresource). Cheap to clone.
pub struct Subresource<S> {
    pub(crate) endpoint: Endpoint<S>,
}

impl<S: Object> Subresource<S> {
    /// Reads the subresource of the named object.
    pub async fn get(&self, name: &str) -> Result<S, ApiError> {
        let target = self.endpoint.target(Some(name));
        let sent = self
            .endpoint
            .call(Method::GET, target, &Vec::new(), None)
            .await;
        self.endpoint.object(sent?)
    }

    /// Replaces the subresource of the named object.
    pub async fn replace(&self, name: &str, value: &S) -> Result<S, ApiError>
    where
        S: Encode,
    {
        self.replace_with(name, value, &PostOptions::default())
            .await
    }

    /// Same as [`Self::replace`], with options.
    pub async fn replace_with(
        &self,
        name: &str,
        value: &S,
        options: &PostOptions,
    ) -> Result<S, ApiError>
    where
        S: Encode,
    {
        let target = self.endpoint.target(Some(name));
        self.endpoint
            .save(Method::PUT, target, value, options)
            .await
    }

    /// Patches the subresource of the named object.
    pub async fn patch(&self, name: &str, patch: &Patch) -> Result<S, ApiError> {
        self.patch_with(name, patch, &PatchOptions::default()).await
    }

    /// Same as [`Self::patch`], with options.
    pub async fn patch_with(
        &self,
        name: &str,
        patch: &Patch,
        options: &PatchOptions,
    ) -> Result<S, ApiError> {
        let target = self.endpoint.target(Some(name));
        self.endpoint.patch(target, patch.content(), options).await
    }

    /// Applies the subresource (server-side apply) of the object that the metadata names. The
    /// options require a field manager. See [`Api::apply`](crate::Api::apply).
    pub async fn apply<A>(&self, object: &A, options: &PatchOptions) -> Result<S, ApiError>
    where
        A: ApplyBody<S>,
    {
        super::patch::apply(&self.endpoint, object, options).await
    }

    /// Posts a value and returns the answered one, as for `serviceaccounts/token`.
    pub async fn create(&self, name: &str, value: &S) -> Result<S, ApiError>
    where
        S: Encode,
    {
        let target = self.endpoint.target(Some(name));
        self.endpoint
            .save(Method::POST, target, value, &PostOptions::default())
            .await
    }

    /// Posts a value and ignores the answer, which is a plain success, as for `pods/binding`.
    pub async fn submit<B: KubeObject>(&self, name: &str, value: &B) -> Result<(), ApiError> {
        let (target, kind) = (self.endpoint.target(Some(name)), ApiResource::of::<B>());
        let none = Vec::new();
        self.endpoint
            .write(Method::POST, target, &none, value, &kind)
            .await
            .map(drop)
    }
}

#[cfg(feature = "autoscaling-v1")]
impl<K: Object> super::Api<K> {
    /// Returns the `scale` subresource, which exists for kinds with a replica count.
    pub fn scale(&self) -> Subresource<kubist_api::autoscaling::v1::Scale> {
        self.subresource("scale")
    }
}

#[cfg(feature = "policy-v1")]
impl<K: Object> super::Api<K> {
    /// Evicts a Pod: deletes it if its disruption budget allows. For other kinds the server answers
    /// 404.
    ///
    /// # Errors
    /// [`is_too_many_requests`](ApiError::is_too_many_requests) if the budget does not allow it
    /// now. If the server sends a retry time, the client waits and retries up to
    /// [`Config::retries_max`](crate::Config::retries_max) times.
    pub async fn evict(
        &self,
        name: &str,
        options: &kubist_apimachinery::DeleteOptions,
    ) -> Result<(), ApiError> {
        use kubist_api::policy::v1::Eviction;
        use kubist_apimachinery::wire::{DecodeContext, Wire};
        // The generated type differs but has the same fields.
        let options = Wire::from_protobuf(&options.to_protobuf(), &mut DecodeContext::new());
        let options = options.map_err(|error| RequestError::Http {
            reason: error.to_string(),
        })?;
        let mut eviction = Eviction {
            delete_options: Some(Box::new(options)),
            ..Eviction::default()
        };
        eviction.metadata.name = name.into();
        eviction.metadata.namespace = self.namespace().cloned().unwrap_or_default();
        self.subresource::<Eviction>("eviction")
            .submit(name, &eviction)
            .await
    }
}

impl<S> Clone for Subresource<S> {
    fn clone(&self) -> Self {
        Self {
            endpoint: self.endpoint.clone(),
        }
    }
}

impl<S> fmt::Debug for Subresource<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Subresource").field(&self.endpoint).finish()
    }
}

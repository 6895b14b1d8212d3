//! `Subresource<S>`: a path below the objects of a resource, with objects of its own.
//!
//! Status, scale and the like: read, replaced and patched by the name of the object above. It is
//! not for streams such as logs and exec.

use std::fmt;

use http::Method;
use kubist_apimachinery::wire::Encode;
use kubist_apimachinery::{ApiResource, KubeObject, Object, PatchOptions, PostOptions};

use crate::Patch;
use crate::endpoint::Endpoint;
use crate::error::ApiError;
#[cfg(feature = "policy-v1")]
use crate::error::RequestError;

/// A subresource; see [`Api::subresource`](crate::Api::subresource). Cheap to clone.
pub struct Subresource<S> {
    pub(crate) endpoint: Endpoint<S>,
}

impl<S: Object> Subresource<S> {
    /// That of the object of this name.
    pub async fn get(&self, name: &str) -> Result<S, ApiError> {
        let target = self.endpoint.target(Some(name));
        let sent = self
            .endpoint
            .call(Method::GET, target, &Vec::new(), None)
            .await;
        self.endpoint.object(sent?)
    }

    /// Replaces that of the object of this name.
    pub async fn replace(&self, name: &str, value: &S) -> Result<S, ApiError>
    where
        S: Encode,
    {
        self.replace_with(name, value, &PostOptions::default())
            .await
    }

    /// As [`Self::replace`], with options.
    pub async fn replace_with(
        &self,
        name: &str,
        value: &S,
        options: &PostOptions,
    ) -> Result<S, ApiError>
    where
        S: Encode,
    {
        let endpoint = &self.endpoint;
        let (target, query) = (endpoint.target(Some(name)), options.to_query());
        let sent = endpoint
            .write(Method::PUT, target, &query, value, &endpoint.kind)
            .await;
        endpoint.written(sent?, options.dry_run)
    }

    /// Changes that of the object of this name.
    pub async fn patch(&self, name: &str, patch: &Patch) -> Result<S, ApiError> {
        self.patch_with(name, patch, &PatchOptions::default()).await
    }

    /// As [`Self::patch`], with options.
    pub async fn patch_with(
        &self,
        name: &str,
        patch: &Patch,
        options: &PatchOptions,
    ) -> Result<S, ApiError> {
        let target = self.endpoint.target(Some(name));
        let (query, content) = (options.to_query(), Some(patch.content()));
        let sent = self
            .endpoint
            .call(Method::PATCH, target, &query, content)
            .await;
        self.endpoint.written(sent?, options.post.dry_run)
    }

    /// Posts a value and gives the answer of the same kind, as `serviceaccounts/token` has it.
    pub async fn create(&self, name: &str, value: &S) -> Result<S, ApiError>
    where
        S: Encode,
    {
        let endpoint = &self.endpoint;
        let target = endpoint.target(Some(name));
        let sent = endpoint
            .write(Method::POST, target, &Vec::new(), value, &endpoint.kind)
            .await;
        endpoint.written(sent?, false)
    }

    /// Posts a value to where the answer says no more than that it was taken, as `pods/binding`.
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
impl<K: Object> crate::Api<K> {
    /// The number of replicas, of any kind that has one.
    pub fn scale(&self) -> Subresource<kubist_api::autoscaling::v1::Scale> {
        self.subresource("scale")
    }
}

#[cfg(feature = "policy-v1")]
impl<K: Object> crate::Api<K> {
    /// Evicts a Pod: deletes it, if its disruption budget allows that. Other kinds answer that
    /// they are not found.
    ///
    /// # Errors
    /// [`is_too_many_requests`](ApiError::is_too_many_requests) if the budget does not, now. If
    /// the server then says when to try again, that time is waited for, up to
    /// [`Config::retries_max`](crate::Config::retries_max) times.
    pub async fn evict(
        &self,
        name: &str,
        options: &kubist_apimachinery::DeleteOptions,
    ) -> Result<(), ApiError> {
        use kubist_api::policy::v1::Eviction;
        use kubist_apimachinery::wire::{DecodeContext, Wire};
        // The generated type is another one with the same fields.
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

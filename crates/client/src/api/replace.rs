//! Replace: an object's next state, whole (the verb `update`).

use http::Method;
use kubist_apimachinery::wire::Encode;
use kubist_apimachinery::{Object, PostOptions};

use super::Api;
use crate::error::ApiError;

impl<K: Object> Api<K> {
    /// Replaces the object of the same name. If the object has a resource version, the server
    /// refuses it unless that is still the newest.
    ///
    /// # Errors
    /// [`is_conflict`](ApiError::is_conflict): read again, change again, replace again;
    /// [`is_written`](ApiError::is_written): it was replaced, and `K` cannot hold what it became.
    pub async fn replace(&self, object: &K) -> Result<K, ApiError>
    where
        K: Encode,
    {
        self.replace_with(object, &PostOptions::default()).await
    }

    /// As [`Self::replace`], with options.
    pub async fn replace_with(&self, object: &K, options: &PostOptions) -> Result<K, ApiError>
    where
        K: Encode,
    {
        let target = self.target_of(object, Some(object.name()));
        let (endpoint, query) = (&self.endpoint, options.to_query());
        let sent = endpoint
            .write(Method::PUT, target, &query, object, &endpoint.kind)
            .await;
        endpoint.written(sent?, options.dry_run)
    }

    /// Replaces the object's status; the server takes nothing else from it.
    pub async fn replace_status(&self, object: &K) -> Result<K, ApiError>
    where
        K: Encode,
    {
        let target = self.target_of(object, Some(object.name()));
        let target = crate::request::Target {
            subresource: "status",
            ..target
        };
        let endpoint = &self.endpoint;
        let sent = endpoint
            .write(Method::PUT, target, &Vec::new(), object, &endpoint.kind)
            .await;
        endpoint.written(sent?, false)
    }
}

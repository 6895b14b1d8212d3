//! Replace: writes a whole object (the verb `update`).

use super::Api;
use crate::error::ApiError;
use http::Method;
use kubist_apimachinery::wire::Encode;
use kubist_apimachinery::{Object, PostOptions};

impl<K: Object> Api<K> {
    /// Replaces the object with the same name. If the object has a resource version, the server
    /// refuses it with a conflict unless that is the latest.
    ///
    /// # Errors
    /// [`is_conflict`](ApiError::is_conflict): read, change and replace again;
    /// [`is_written`](ApiError::is_written): it was replaced, and `K` cannot hold the result.
    pub async fn replace(&self, object: &K) -> Result<K, ApiError>
    where
        K: Encode,
    {
        self.replace_with(object, &PostOptions::default()).await
    }

    /// Same as [`Self::replace`], with options.
    pub async fn replace_with(&self, object: &K, options: &PostOptions) -> Result<K, ApiError>
    where
        K: Encode,
    {
        let target = self.target_of(object.namespace(), Some(object.name()));
        self.endpoint
            .save(Method::PUT, target, object, options)
            .await
    }

    /// Replaces the object's status; the server ignores the other fields.
    pub async fn replace_status(&self, object: &K) -> Result<K, ApiError>
    where
        K: Encode,
    {
        let target = self.target_of(object.namespace(), Some(object.name()));
        let target = crate::request::Target {
            subresource: "status",
            ..target
        };
        self.endpoint
            .save(Method::PUT, target, object, &PostOptions::default())
            .await
    }
}

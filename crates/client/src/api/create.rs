//! Create: a new object.

use super::Api;
use crate::error::ApiError;
use http::Method;
use kubist_apimachinery::wire::Encode;
use kubist_apimachinery::{Object, PostOptions};

impl<K: Object> Api<K> {
    /// Creates an object and returns it as the server stored it.
    ///
    /// # Errors
    /// [`is_already_exists`](ApiError::is_already_exists), [`is_invalid`](ApiError::is_invalid), …;
    /// [`is_written`](ApiError::is_written) if the object was created and `K` cannot hold the
    /// result.
    pub async fn create(&self, object: &K) -> Result<K, ApiError>
    where
        K: Encode,
    {
        self.create_with(object, &PostOptions::default()).await
    }

    /// Same as [`Self::create`], with options.
    pub async fn create_with(&self, object: &K, options: &PostOptions) -> Result<K, ApiError>
    where
        K: Encode,
    {
        let target = self.target_of(object.namespace(), None);
        self.endpoint
            .save(Method::POST, target, object, options)
            .await
    }
}

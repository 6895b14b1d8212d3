//! Create: a new object.

use http::Method;
use kubist_apimachinery::wire::Encode;
use kubist_apimachinery::{Object, PostOptions};

use super::Api;
use crate::error::ApiError;

impl<K: Object> Api<K> {
    /// Creates an object; the answer is as the server stored it.
    ///
    /// # Errors
    /// [`is_already_exists`](ApiError::is_already_exists), [`is_invalid`](ApiError::is_invalid), …;
    /// [`is_written`](ApiError::is_written) if it is there, and `K` cannot hold what it became.
    pub async fn create(&self, object: &K) -> Result<K, ApiError>
    where
        K: Encode,
    {
        self.create_with(object, &PostOptions::default()).await
    }

    /// As [`Self::create`], with options.
    pub async fn create_with(&self, object: &K, options: &PostOptions) -> Result<K, ApiError>
    where
        K: Encode,
    {
        let target = self.target_of(object, None);
        let (endpoint, query) = (&self.endpoint, options.to_query());
        let sent = endpoint
            .write(Method::POST, target, &query, object, &endpoint.kind)
            .await;
        endpoint.written(sent?, options.dry_run)
    }
}

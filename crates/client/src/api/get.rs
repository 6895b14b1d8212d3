//! Get: one object by its name.

use http::Method;
use kubist_apimachinery::{Object, QueryPairs, ResourceVersion};

use super::Api;
use crate::error::ApiError;

impl<K: Object> Api<K> {
    /// The object, in its newest state.
    ///
    /// # Errors
    /// [`is_not_found`](ApiError::is_not_found) if there is none.
    pub async fn get(&self, name: &str) -> Result<K, ApiError> {
        self.get_at(name, &ResourceVersion::default()).await
    }

    /// The object, or `None` if there is none.
    pub async fn get_opt(&self, name: &str) -> Result<Option<K>, ApiError> {
        match self.get(name).await {
            Err(error) if error.is_not_found() => Ok(None),
            object => object.map(Some),
        }
    }

    /// The object, in a state that is not older than a version; `0` is any that the server has at
    /// hand.
    pub async fn get_at(&self, name: &str, version: &ResourceVersion) -> Result<K, ApiError> {
        let mut query = QueryPairs::new();
        if !version.is_unset() {
            query.push(("resourceVersion", version.to_string()));
        }
        let target = self.endpoint.target(Some(name));
        let sent = self.endpoint.call(Method::GET, target, &query, None).await;
        self.endpoint.object(sent?)
    }

    /// The object, read through its status.
    pub async fn get_status(&self, name: &str) -> Result<K, ApiError> {
        self.status().get(name).await
    }
}

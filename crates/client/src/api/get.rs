//! Get: reads one object by name.

use super::Api;
use crate::error::ApiError;
use http::Method;
use kubist_apimachinery::{Object, QueryPairs, ResourceVersion};

impl<K: Object> Api<K> {
    /// Reads the latest state of the object.
    ///
    /// # Errors
    /// [`is_not_found`](ApiError::is_not_found) if it does not exist.
    pub async fn get(&self, name: &str) -> Result<K, ApiError> {
        self.get_at(name, &ResourceVersion::default()).await
    }

    /// Reads the object; `None` if it does not exist.
    pub async fn get_opt(&self, name: &str) -> Result<Option<K>, ApiError> {
        match self.get(name).await {
            Err(error) if error.is_not_found() => Ok(None),
            object => object.map(Some),
        }
    }

    /// Reads the object in a state no older than a resource version; `0` accepts any state that the
    /// server has cached.
    pub async fn get_at(&self, name: &str, version: &ResourceVersion) -> Result<K, ApiError> {
        let mut query = QueryPairs::new();
        if !version.is_unset() {
            query.push(("resourceVersion", version.to_string()));
        }
        let target = self.endpoint.target(Some(name));
        let sent = self.endpoint.call(Method::GET, target, &query, None).await;
        self.endpoint.object(sent?)
    }

    /// Reads the object through its status subresource.
    pub async fn get_status(&self, name: &str) -> Result<K, ApiError> {
        self.status().get(name).await
    }
}

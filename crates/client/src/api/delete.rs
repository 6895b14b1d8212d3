//! Delete: one object, or all that options select.

use bytes::Bytes;
use http::Method;
use kubist_apimachinery::wire::Wire as _;
use kubist_apimachinery::{DeleteOptions, ListOptions, Object, Status};

use super::Api;
use crate::error::ApiError;
use crate::request::{Content, JSON};

/// What a server answers to a delete. Kinds differ in this.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has these two")]
pub enum DeleteAnswer<K> {
    /// The object as it is now, or as it was last. If it
    /// [`is_terminating`](Object::is_terminating), it may be there until its grace period is over
    /// and its finalizers are gone.
    Object(Box<K>),
    /// It is gone.
    Status(Box<Status>),
}

impl<K: Object> Api<K> {
    /// Deletes the object, as its kind does it.
    ///
    /// # Errors
    /// [`is_not_found`](ApiError::is_not_found) if there is none.
    pub async fn delete(&self, name: &str) -> Result<DeleteAnswer<K>, ApiError> {
        self.delete_with(name, &DeleteOptions::default()).await
    }

    /// As [`Self::delete`], with options: grace period, preconditions, dependents.
    pub async fn delete_with(
        &self,
        name: &str,
        options: &DeleteOptions,
    ) -> Result<DeleteAnswer<K>, ApiError> {
        let target = self.endpoint.target(Some(name));
        let content = content(options);
        let sent = self
            .endpoint
            .call(Method::DELETE, target, &Vec::new(), content)
            .await?;
        if let Some(status) = sent.0.status() {
            return Ok(DeleteAnswer::Status(Box::new(status)));
        }
        self.endpoint
            .object(sent)
            .map(|object| DeleteAnswer::Object(Box::new(object)))
    }

    /// Deletes every object that `selected` selects: in the namespace, or in all.
    pub async fn delete_collection(
        &self,
        selected: &ListOptions,
        options: &DeleteOptions,
    ) -> Result<(), ApiError> {
        let query = ListOptions {
            watch: false,
            ..selected.clone()
        }
        .to_query();
        let target = self.endpoint.target(None);
        self.endpoint
            .call(Method::DELETE, target, &query, content(options))
            .await
            .map(drop)
    }
}

/// JSON, whatever the objects are in: servers of custom resources read no other options.
fn content(options: &DeleteOptions) -> Option<Content> {
    let said = *options != DeleteOptions::default();
    said.then(|| Content {
        media_type: JSON,
        bytes: Bytes::from(options.to_json()),
    })
}

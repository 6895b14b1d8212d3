//! Delete: one object, or all that options select.

use bytes::Bytes;
use http::Method;
use kubist_apimachinery::wire::Wire as _;
use kubist_apimachinery::{DeleteOptions, ListOptions, Object, ObjectName, Status};
use kubist_cache::Written;

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
    /// Objects that `K` cannot hold are best deleted through an `Api<Metadata<K>>`, which reads
    /// nothing else of them.
    ///
    /// # Errors
    /// [`is_not_found`](ApiError::is_not_found) if there is none;
    /// [`is_written`](ApiError::is_written) if it was deleted (or is terminating now) and `K`
    /// cannot hold the object that the server answered with.
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
        let dry_run = !options.dry_run.is_empty();
        if let Some(status) = sent.0.status() {
            if !dry_run {
                self.endpoint.record(|| self.gone(name, &status));
            }
            return Ok(DeleteAnswer::Status(Box::new(status)));
        }
        let object = self.endpoint.written_as(sent, dry_run, deleted)?;
        Ok(DeleteAnswer::Object(Box::new(object)))
    }

    fn gone(&self, name: &str, status: &Status) -> Written {
        let namespace = self.namespace().cloned().unwrap_or_default();
        let uid = status.details.as_ref().map(|it| it.uid.clone());
        Written::deleted(ObjectName::new(namespace, name), uid.unwrap_or_default())
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

/// An object that is terminating may be there for long: the version is what will be seen of it. If
/// it is gone all the same, that was the version of its deletion.
fn deleted<K: Object>(object: &K) -> Written {
    if object.is_terminating() {
        Written::saved(object)
    } else {
        Written::deleted_object(object)
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

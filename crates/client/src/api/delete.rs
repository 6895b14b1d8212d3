//! Delete: one object, or all objects that the options select.

use super::Api;
use crate::error::ApiError;
use crate::request::{Content, JSON};
use bytes::Bytes;
use http::Method;
use kubist_apimachinery::wire::Wire as _;
use kubist_apimachinery::{DeleteOptions, ListOptions, Object, ObjectName, Status};
use kubist_cache::Written;
use std::borrow::Cow;

/// The answer to a delete; kinds differ in it.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has these two")]
pub enum DeleteAnswer<K> {
    /// The object in its current or final state. If it [`is_terminating`](Object::is_terminating),
    /// it may remain until its grace period is over and its finalizers are removed.
    Object(Box<K>),
    /// The object has been removed.
    Status(Box<Status>),
}

impl<K: Object> Api<K> {
    /// Deletes the object, with the defaults of its kind.
    ///
    /// To delete objects that `K` cannot hold, use an `Api<Metadata<K>>`, which decodes only
    /// metadata.
    ///
    /// # Errors
    /// [`is_not_found`](ApiError::is_not_found) if it does not exist;
    /// [`is_written`](ApiError::is_written) if it was deleted (or is terminating) and `K` cannot
    /// hold the answered object.
    pub async fn delete(&self, name: &str) -> Result<DeleteAnswer<K>, ApiError> {
        self.delete_with(name, &DeleteOptions::default()).await
    }

    /// Same as [`Self::delete`], with options: grace period, preconditions, dependents.
    pub async fn delete_with(
        &self,
        name: &str,
        options: &DeleteOptions,
    ) -> Result<DeleteAnswer<K>, ApiError> {
        let target = self.endpoint.target(Some(name));
        let options = &*self.dry(options);
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

    /// Deletes every object that `selected` selects, in the namespace or in all.
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
            .call(Method::DELETE, target, &query, content(&self.dry(options)))
            .await
            .map(drop)
    }

    /// Makes a dry run of a delete if the client's writes are. It is in the body, because servers
    /// ignore the query if there is one.
    fn dry<'a>(&self, options: &'a DeleteOptions) -> Cow<'a, DeleteOptions> {
        let mut options = Cow::Borrowed(options);
        if self.client().is_dry_run() && options.dry_run.is_empty() {
            options.to_mut().dry_run = vec!["All".into()];
        }
        options
    }
}

/// Records the write: an object that is terminating will be observed at its resource version. If it
/// is already gone, that was the version of its deletion.
fn deleted<K: Object>(object: &K) -> Written {
    if object.is_terminating() {
        Written::saved(object)
    } else {
        Written::deleted_object(object)
    }
}

/// Encodes the options as JSON regardless of the object encoding: servers of custom resources
/// accept nothing else.
fn content(options: &DeleteOptions) -> Option<Content> {
    let is_set = *options != DeleteOptions::default();
    is_set.then(|| Content {
        media_type: JSON,
        bytes: Bytes::from(options.to_json()),
    })
}

//! Edit: read, change, and send only what changed.

use super::Api;
use crate::error::{AnswerError, ApiError};
use crate::request::{Content, JSON};
use crate::retry_on::Retries;
use http::Method;
use kubist_apimachinery::wire::{DecodeContext, Encode, Encoding, WireErrorKind};
use kubist_apimachinery::{Object, PatchOptions, PostOptions};
use kubist_codec::patch::{carry_over, difference};
use serde_json::{Value, json};

/// The media type of the patch.
const JSON_PATCH: &str = "application/json-patch+json";
/// Where the version stands that the change was made to.
const VERSION: &str = "/metadata/resourceVersion";

/// The options of [`Api::edit_with`].
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct EditOptions {
    /// How often the object is read and changed again after a conflict. Default:
    /// [`Retries::CONFLICT`].
    pub retries: Retries,
    /// Whether the whole object is sent (`PUT`, the verb `update`) and not a patch: for roles that
    /// allow no patches. Default: no.
    pub replace: bool,
    /// The options of the write.
    pub post: PostOptions,
}

impl Default for EditOptions {
    fn default() -> Self {
        Self {
            retries: Retries::CONFLICT,
            replace: false,
            post: PostOptions::default(),
        }
    }
}

/// What one attempt came to.
enum Attempt<K> {
    Done(K),
    /// Another write came between the read and this write.
    Overtaken(ApiError),
}

impl<K: Object + Encode> Api<K> {
    /// Reads the named object, changes it with `change`, and sends only what changed, with the
    /// resource version that was read as precondition. After a conflict, all of it is repeated, so
    /// `change` may be called several times, each time with the latest object. If nothing changes,
    /// nothing is sent.
    ///
    /// Fields that `K` does not have survive, even in the items of lists, because they are neither
    /// changed nor sent: a program built for one version of an API does not destroy what a newer
    /// one added.
    ///
    /// ```
    /// # use kubist_api::apps::v1::Deployment;
    /// # use kubist_client::{Api, ApiError};
    /// # async fn example(deployments: Api<Deployment>) -> Result<(), ApiError> {
    /// let web = deployments
    ///     .edit("web", |web| {
    ///         web.metadata.labels.insert("tier".into(), "front".into());
    ///         web.spec.replicas = Some(3);
    ///     })
    ///     .await?;
    /// # drop(web); Ok(()) }
    /// ```
    ///
    /// It changes an object that exists. A controller that declares what it wants uses
    /// [`Self::apply`].
    ///
    /// Cancel safety: dropping the future cancels the current request; the server may have acted on
    /// it already.
    ///
    /// # Errors
    /// [`is_not_found`](ApiError::is_not_found); [`is_conflict`](ApiError::is_conflict) when the
    /// attempts are used up; any other error of the read or the write.
    pub async fn edit(&self, name: &str, change: impl FnMut(&mut K)) -> Result<K, ApiError> {
        self.edit_with(name, &EditOptions::default(), change).await
    }

    /// Same as [`Self::edit`], with options.
    pub async fn edit_with(
        &self,
        name: &str,
        options: &EditOptions,
        mut change: impl FnMut(&mut K),
    ) -> Result<K, ApiError> {
        let mut attempts = 1;
        loop {
            match self.try_edit(name, options, &mut change).await? {
                Attempt::Done(object) => return Ok(object),
                Attempt::Overtaken(error) if attempts >= options.retries.attempts => {
                    return Err(error);
                }
                Attempt::Overtaken(_) => {
                    let chance = self.client().ambient();
                    tokio::time::sleep(options.retries.pause_after(attempts, chance)).await;
                    attempts += 1;
                }
            }
        }
    }

    /// Same as [`Self::edit`], for the status: other changes are ignored by the server.
    pub async fn edit_status(&self, name: &str, change: impl FnMut(&mut K)) -> Result<K, ApiError> {
        let mut endpoint = self.endpoint.clone();
        endpoint.subresource = "status".into();
        Self { endpoint }.edit(name, change).await
    }

    async fn try_edit(
        &self,
        name: &str,
        options: &EditOptions,
        change: &mut impl FnMut(&mut K),
    ) -> Result<Attempt<K>, ApiError> {
        let (raw, mut object) = self.read_raw(name).await?;
        let before = self.tree_of(&object)?;
        change(&mut object);
        let after = self.tree_of(&object)?;
        if before == after {
            return Ok(Attempt::Done(object));
        }
        let mut wanted = carry_over(&raw, &before, &after);
        let version = raw.pointer(VERSION).cloned().unwrap_or_default();
        if let Some(place) = wanted.pointer_mut(VERSION) {
            place.clone_from(&version);
        }
        match self.send_edit(name, options, &raw, &wanted).await {
            Ok(object) => Ok(Attempt::Done(object)),
            Err(error) if error.is_conflict() => Ok(Attempt::Overtaken(error)),
            // A patch of list items may not fit another version, which servers report as invalid.
            Err(error) if error.is_invalid() && !options.replace => {
                let (now, _) = self.read_raw(name).await?;
                if now.pointer(VERSION) == Some(&version) {
                    return Err(error);
                }
                Ok(Attempt::Overtaken(error))
            }
            Err(error) => Err(error),
        }
    }

    /// Reads an object as JSON: as the server sent it, and decoded.
    async fn read_raw(&self, name: &str) -> Result<(Value, K), ApiError> {
        let endpoint = self.endpoint.in_json();
        let target = endpoint.target(Some(name));
        let (answer, request) = endpoint
            .call(Method::GET, target, &Vec::new(), None)
            .await?;
        answer
            .expect_kind(&endpoint.kind.kind)
            .map_err(|source| ApiError::answer(&request, source))?;
        let broken = |source| ApiError::answer(&request, AnswerError::Object(source));
        let cx = &mut DecodeContext::new();
        let bytes = answer.bytes.clone();
        let object = (endpoint.form.decode)(bytes, Encoding::Json, &endpoint.kind, cx);
        let object = object.map_err(broken)?;
        let raw = serde_json::from_slice(&answer.bytes).map_err(|error| {
            broken(
                WireErrorKind::Syntax {
                    reason: error.to_string(),
                    line: error.line(),
                    column: error.column(),
                }
                .into(),
            )
        })?;
        Ok((raw, object))
    }

    fn tree_of(&self, object: &K) -> Result<Value, ApiError> {
        let text = crate::endpoint::encoded(&self.endpoint.kind, object.encode(Encoding::Json))?;
        serde_json::from_slice(&text).map_err(|error| {
            let (kind, source) = (self.endpoint.kind.kind.clone(), error.into());
            crate::RequestError::Encode { kind, source }.into()
        })
    }

    async fn send_edit(
        &self,
        name: &str,
        options: &EditOptions,
        raw: &Value,
        wanted: &Value,
    ) -> Result<K, ApiError> {
        let target = self.endpoint.target(Some(name));
        if options.replace {
            let content = Content {
                media_type: JSON,
                bytes: wanted.to_string().into(),
            };
            let query = options.post.to_query();
            let sent = self
                .endpoint
                .call(Method::PUT, target, &query, Some(content))
                .await;
            return self.endpoint.written(sent?, options.post.dry_run);
        }
        let version = raw.pointer(VERSION);
        let precondition = json!({"op": "replace", "path": VERSION, "value": version});
        let mut operations = vec![precondition];
        operations.extend(difference(raw, wanted));
        let content = Content {
            media_type: JSON_PATCH,
            bytes: Value::from(operations).to_string().into(),
        };
        let options = PatchOptions {
            post: options.post.clone(),
            force: None,
        };
        self.endpoint.patch(target, content, &options).await
    }
}

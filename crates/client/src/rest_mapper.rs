//! `RestMapper`: finds the resource of a kind, or of what a user calls it, in a cached discovery.
//!
//! The name is upstream's. It asks the server when it is first needed, and again when something is
//! not found, since a definition may have been added meanwhile; it does not watch. One discovery
//! serves all callers that wait for it.

use crate::error::ApiError;
use crate::{Client, DiscoveredResource, Discovery};
use kubist_apimachinery::{
    ApiResource, GroupKind, GroupVersion, GroupVersionKind, GroupVersionResource, Str,
};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The settings of a [`RestMapper`].
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct RestMapperConfig {
    /// The age at which the discovery is renewed in any case. Default: 10 minutes, as long as
    /// kubectl's cache was by default before it could find out about changes.
    pub age_max: Duration,
    /// The time that must pass after a discovery before something that is not found causes
    /// another, so that a word that names nothing does not become a request each time. Default:
    /// 1 s.
    pub renewal_pause: Duration,
}

impl Default for RestMapperConfig {
    fn default() -> Self {
        Self {
            age_max: Duration::from_secs(600),
            renewal_pause: Duration::from_secs(1),
        }
    }
}

/// Why no resource was found.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MappingError {
    /// The server does not serve it.
    #[error("the server has no resource for {what}{}", unknown(.failed))]
    NoMatch {
        /// The kind, resource or word.
        what: Str,
        /// The group versions that the server could not tell about; it may be in one of them.
        failed: Vec<GroupVersion>,
    },
    /// The server did not tell what it serves.
    #[error(transparent)]
    Discovery(#[from] ApiError),
}

impl MappingError {
    /// Reports whether the server answered and does not serve it.
    pub fn is_no_match(&self) -> bool {
        matches!(self, Self::NoMatch { .. })
    }
}

fn unknown(failed: &[GroupVersion]) -> String {
    if failed.is_empty() {
        return String::new();
    }
    let names: Vec<String> = failed.iter().map(ToString::to_string).collect();
    let names = names.join(", ");
    format!("; it could not tell about {names}")
}

/// Finds resources in a cached discovery. Cheap to clone; clones share the cache.
///
/// ```
/// # use kubist_apimachinery::Unstructured;
/// # use kubist_client::{Api, Client, RestMapper};
/// # async fn example(client: Client) -> Result<(), Box<dyn std::error::Error>> {
/// let mapper = RestMapper::new(client.clone());
/// let found = mapper.resolve("deploy").await?; // as kubectl resolves it
/// let deployments: Api<Unstructured> = Api::dynamic(client, &found.resource);
/// # drop(deployments); Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct RestMapper {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    client: Client,
    config: RestMapperConfig,
    known: Mutex<Option<Known>>,
    /// Held by the caller that asks the server.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Clone, Debug)]
struct Known {
    discovery: Arc<Discovery>,
    since: Instant,
}

impl RestMapper {
    /// Creates one that knows nothing yet; the first call asks the server.
    pub fn new(client: Client) -> Self {
        Self::with_config(client, RestMapperConfig::default())
    }

    /// Same as [`Self::new`], with settings.
    pub fn with_config(client: Client, config: RestMapperConfig) -> Self {
        let shared = Shared {
            client,
            config,
            known: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Returns the resource of a kind in exactly this version.
    ///
    /// # Errors
    /// See [`MappingError`].
    pub async fn of_kind(&self, gvk: &GroupVersionKind) -> Result<ApiResource, MappingError> {
        let find = |known: &Discovery| known.of_kind(gvk).map(|it| it.resource.clone());
        self.find(&gvk.to_string(), find).await
    }

    /// Returns the resource of a kind in the version that the server prefers.
    ///
    /// # Errors
    /// See [`MappingError`].
    pub async fn of_group_kind(&self, kind: &GroupKind) -> Result<ApiResource, MappingError> {
        let find = |known: &Discovery| {
            let resources = known.resources().iter().map(|it| &it.resource);
            let mut of_kind = resources.filter(|it| it.kind == kind.kind && it.group == kind.group);
            of_kind.next().cloned()
        };
        self.find(&kind.to_string(), find).await
    }

    /// Returns the resource with a plural name in exactly this version.
    ///
    /// # Errors
    /// See [`MappingError`].
    pub async fn of_resource(
        &self,
        gvr: &GroupVersionResource,
    ) -> Result<ApiResource, MappingError> {
        let find = |known: &Discovery| known.of_resource(gvr).map(|it| it.resource.clone());
        self.find(&gvr.to_string(), find).await
    }

    /// Returns the resource that a word names, as [`Discovery::resolve`].
    ///
    /// # Errors
    /// See [`MappingError`].
    pub async fn resolve(&self, word: &str) -> Result<DiscoveredResource, MappingError> {
        let find = |known: &Discovery| known.resolve(word).cloned();
        self.find(&format!("{word:?}"), find).await
    }

    /// Returns what the server serves, as far as it is known; asks the server if that is too old.
    ///
    /// # Errors
    /// The server did not answer.
    pub async fn discovery(&self) -> Result<Arc<Discovery>, ApiError> {
        Ok(self.known(None).await?.discovery)
    }

    /// Forgets what is known, so that the next call asks the server: for whoever hears that a kind
    /// was added or removed, such as a handler of definitions.
    pub fn invalidate(&self) {
        *self.shared.known.lock() = None;
    }

    async fn find<T>(
        &self,
        what: &str,
        find: impl Fn(&Discovery) -> Option<T>,
    ) -> Result<T, MappingError> {
        let known = self.known(None).await?;
        if let Some(found) = find(&known.discovery) {
            return Ok(found);
        }
        let renewed = self.known(Some(known.since)).await?;
        find(&renewed.discovery).ok_or_else(|| {
            let failed = renewed.discovery.failed().iter();
            MappingError::NoMatch {
                what: what.into(),
                failed: failed.map(|it| it.group_version.clone()).collect(),
            }
        })
    }

    /// Returns a discovery that is fresh enough: newer than one in which something was missing,
    /// unless that is too young to be renewed.
    async fn known(&self, missing_in: Option<Instant>) -> Result<Known, ApiError> {
        let Shared { client, config, .. } = &*self.shared;
        let usable = || {
            let known = self.shared.known.lock().clone();
            known.filter(|it| {
                let age = it.since.elapsed();
                let renewed = missing_in.is_none_or(|missing| it.since > missing);
                age < config.age_max && (renewed || age < config.renewal_pause)
            })
        };
        if let Some(known) = usable() {
            return Ok(known);
        }
        let asking = self.shared.asking.lock().await;
        // Another caller may have asked meanwhile.
        if let Some(known) = usable() {
            return Ok(known);
        }
        let since = Instant::now();
        let known = Known {
            discovery: Arc::new(client.discover().await?),
            since,
        };
        *self.shared.known.lock() = Some(known.clone());
        drop(asking);
        Ok(known)
    }
}

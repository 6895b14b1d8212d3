//! `Discovered`: what the servers of other group versions serve, by their own account.
//!
//! Each is asked when it appears, and then once a minute. One that does not answer keeps what it
//! said last, marked as stale.

use crate::aggregation::documents::{GroupList, ResourceList};
use crate::aggregation::fetch::Fetched;
use crate::aggregation::remote::Remote;
use crate::aggregation::{Aggregation, Surroundings};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// How often a server is asked, as upstream.
const INTERVAL: Duration = Duration::from_secs(60);
/// What tells an aggregated document from the others.
const AS_LIST: &str = "as=APIGroupDiscoveryList";
const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                      application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
const JSON: &str = "application/json";

/// What a server says of a group version.
#[derive(Clone, Debug, Default)]
pub(super) struct Discovered {
    /// The resources, as in aggregated discovery.
    pub(super) resources: Value,
    /// Whether the server has said it when it was asked last.
    pub(super) current: bool,
    /// The URL of its document in `/openapi/v3`.
    pub(super) open_api: Option<String>,
}

impl Aggregation {
    /// Asks all servers again and again. Never returns.
    pub(super) async fn discover(&self, surroundings: Surroundings<'_>) {
        let is_same = |one: &Remote, other: &Remote| {
            Arc::ptr_eq(&one.spec, &other.spec) && one.available == other.available
        };
        self.rounds(&self.appeared, is_same, async |remote| {
            self.ask(surroundings, &remote).await;
            INTERVAL
        })
        .await;
    }

    async fn ask(&self, surroundings: Surroundings<'_>, remote: &Remote) {
        let answered = if remote.available {
            self.resources(surroundings, remote).await
        } else {
            Err("it is not available".to_owned())
        };
        let known = self.discovered.lock().get(&remote.name).cloned();
        let discovered = match answered {
            Ok(resources) => Discovered {
                resources,
                current: true,
                open_api: self.open_api(surroundings, remote).await,
            },
            Err(why) => {
                tracing::debug!(name = remote.name, why, "discovery of an APIService failed");
                Discovered {
                    current: false,
                    ..known.as_deref().cloned().unwrap_or_default()
                }
            }
        };
        // It may have been deleted meanwhile.
        if self.table().is_some_and(|it| it.has(&remote.name)) {
            let mut all = self.discovered.lock();
            all.insert(remote.name.clone(), Arc::new(discovered));
        }
    }

    /// Returns the resources of a group version.
    async fn resources(
        &self,
        surroundings: Surroundings<'_>,
        remote: &Remote,
    ) -> Result<Value, String> {
        let fetched = self.fetch(surroundings, remote, "/apis", ACCEPT).await?;
        if fetched.is_success() && fetched.content_type.contains(AS_LIST) {
            let (group, version) = (&remote.spec.group, &remote.spec.version);
            let document: GroupList = parsed(&fetched)?;
            let found = document.version(group, version);
            let found = found.map_err(|error| error.to_string())?;
            return found.ok_or_else(|| format!("it does not serve {}", remote.group_version()));
        }
        let root = remote.root();
        let fetched = self.fetch(surroundings, remote, &root, JSON).await?;
        if !fetched.is_success() {
            let code = fetched.code.as_u16();
            return Err(format!(
                "failed to download legacy discovery for {root}: {code}"
            ));
        }
        let document: ResourceList = parsed(&fetched)?;
        Ok(document.resources())
    }

    /// Returns the URL of a group version's document, if the server has one.
    async fn open_api(&self, surroundings: Surroundings<'_>, remote: &Remote) -> Option<String> {
        let fetched = self.fetch(surroundings, remote, "/openapi/v3", JSON).await;
        let index: Value = parsed(&fetched.ok().filter(Fetched::is_success)?).ok()?;
        let path = remote.root();
        let entry = &index["paths"][path.trim_start_matches('/')];
        let url = entry["serverRelativeURL"].as_str()?;
        let expected = format!("/openapi/v3{path}");
        let is_that = url.split('?').next() == Some(expected.as_str());
        is_that.then(|| url.to_owned())
    }
}

fn parsed<T: DeserializeOwned>(fetched: &Fetched) -> Result<T, String> {
    serde_json::from_slice(&fetched.body).map_err(|error| error.to_string())
}

//! Maintains the objects of every cluster while a server runs, as upstream: once a minute, and the
//! API server endpoints every ten seconds. Restores objects that were deleted, even if the whole
//! store was emptied.

use super::server_endpoints::{self, ENDPOINTS_EVERY};
use super::{Cluster, bootstrap};
use kubist_api::core::v1::ConfigMap;
use kubist_apimachinery::{AnyObject, KubeObject, ObjectMeta, Status, Str};
use kubist_registry::{Announcement, RequestContext, Stores, UpdatePath, UpdatedObject};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::time::{MissedTickBehavior, interval};

/// The number of endpoint rounds between two rounds of everything else: one minute, as upstream.
const ROUNDS: usize = 6;
const SYSTEM: &str = "kube-system";
/// The ConfigMap with the trusted client CAs.
const AUTHENTICATION: &str = "extension-apiserver-authentication";
const CLIENT_CA: &str = "client-ca-file";
/// The ConfigMap with the date since which the use of legacy tokens is tracked.
const LEGACY_TOKENS: &str = "kube-apiserver-legacy-service-account-token-tracking";
const SINCE: &str = "since";

/// Maintains all objects until the future is dropped.
pub(super) async fn run(stores: &Arc<Stores>, cluster: &Cluster, announcement: &Announcement) {
    let mut rounds = interval(ENDPOINTS_EVERY);
    rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for round in 0_usize.. {
        rounds.tick().await;
        let maintained = maintain(stores, cluster, announcement, round % ROUNDS == 0).await;
        if let Err(status) = maintained {
            tracing::warn!(why = %status.message, "system objects could not be maintained");
        }
    }
}

async fn maintain(
    stores: &Arc<Stores>,
    cluster: &Cluster,
    announcement: &Announcement,
    all: bool,
) -> Result<(), Status> {
    if all {
        bootstrap::run(stores, cluster).await?;
        let cx = &bootstrap::request(stores);
        authentication(stores, cx, announcement).await?;
        legacy_tokens(stores, cx).await?;
    }
    server_endpoints::renew(stores, cluster, announcement).await
}

/// The update of an object: applies `change` to the stored object, or to `new` if there is none.
struct Desired<K, F> {
    new: K,
    change: F,
}

impl<K: KubeObject, F: Fn(&mut K) + Send + Sync> UpdatedObject for Desired<K, F> {
    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let old = old.and_then(|old| (old as &dyn Any).downcast_ref::<K>());
        let mut object = old.unwrap_or(&self.new).clone();
        (self.change)(&mut object);
        Ok(Box::new(object))
    }

    fn creates(&self) -> bool {
        true
    }
}

/// Applies `change` to the stored object, or creates the object from `new`.
pub(super) async fn create_or_update<K: KubeObject>(
    stores: &Arc<Stores>,
    cx: &RequestContext,
    new: K,
    change: impl Fn(&mut K) + Send + Sync,
) -> Result<(), Status> {
    let Some(store) = stores.resource(K::GROUP, K::PLURAL) else {
        return Ok(());
    };
    let meta = new.metadata();
    let (namespace, name) = (meta.namespace.clone(), meta.name.clone());
    let desired = Desired { new, change };
    store
        .update(cx, (&namespace, &name), &desired, UpdatePath::Whole, false)
        .await
        .map(drop)
}

pub(super) fn named(namespace: &str, name: &str) -> ObjectMeta {
    ObjectMeta {
        name: name.into(),
        namespace: namespace.into(),
        ..ObjectMeta::default()
    }
}

/// Publishes the client CAs and the proxies that are believed, in addition to those that other
/// servers publish.
async fn authentication(
    stores: &Arc<Stores>,
    cx: &RequestContext,
    announcement: &Announcement,
) -> Result<(), Status> {
    let map = ConfigMap {
        metadata: named(SYSTEM, AUTHENTICATION),
        ..ConfigMap::default()
    };
    create_or_update(stores, cx, map, |map| {
        add_authorities(&mut map.data, CLIENT_CA, &announcement.client_ca);
        let Some(proxies) = &announcement.proxies else {
            return;
        };
        add_authorities(
            &mut map.data,
            "requestheader-client-ca-file",
            &proxies.client_ca,
        );
        for (key, own) in [
            ("requestheader-allowed-names", &proxies.allowed_names),
            ("requestheader-username-headers", &proxies.username_headers),
            ("requestheader-uid-headers", &proxies.uid_headers),
            ("requestheader-group-headers", &proxies.group_headers),
            (
                "requestheader-extra-headers-prefix",
                &proxies.extra_header_prefixes,
            ),
        ] {
            // As upstream, the headers of uids are only published where there are some.
            if !own.is_empty() || key != "requestheader-uid-headers" {
                add_texts(&mut map.data, key, own);
            }
        }
    })
    .await
}

fn add_authorities(data: &mut BTreeMap<Str, Str>, key: &str, own: &str) {
    let own = own.trim();
    let known = data.get(key).map_or("", |it| it.trim());
    if own.is_empty() || known.contains(own) {
        return;
    }
    let all = match known {
        "" => format!("{own}\n"),
        known => format!("{known}\n{own}\n"),
    };
    data.insert(key.into(), all.into());
}

/// Adds texts to a JSON list of them. What is no list is replaced.
fn add_texts(data: &mut BTreeMap<Str, Str>, key: &str, own: &[String]) {
    let known = data.get(key).map_or("", |it| it);
    let mut all: Vec<String> = serde_json::from_str(known).unwrap_or_default();
    for text in own {
        if !all.contains(text) {
            all.push(text.clone());
        }
    }
    // A list of texts can always be written.
    let all = serde_json::to_string(&all).unwrap_or_default();
    if all != known {
        data.insert(key.into(), all.into());
    }
}

/// Publishes the date since which legacy tokens are tracked: the date of the first server.
async fn legacy_tokens(stores: &Arc<Stores>, cx: &RequestContext) -> Result<(), Status> {
    let map = ConfigMap {
        metadata: named(SYSTEM, LEGACY_TOKENS),
        ..ConfigMap::default()
    };
    let now = cx.now().to_string();
    let today = now.split('T').next().unwrap_or_default();
    create_or_update(stores, cx, map, |map| {
        let since = map.data.get(SINCE).map_or("", |it| it);
        if !is_date(since) {
            map.data.insert(SINCE.into(), today.into());
        }
    })
    .await
}

/// Reports whether a text has the form of a date such as 2024-02-29.
fn is_date(text: &str) -> bool {
    let form = "0000-00-00";
    let digit = |(it, form): (char, char)| match form {
        '-' => it == '-',
        _ => it.is_ascii_digit(),
    };
    text.len() == form.len() && text.chars().zip(form.chars()).all(digit)
}

//! Follows the stored objects of a kind, for what the server does by them.
//!
//! A follower sees everything at once when it begins and whenever it begins anew, and then each
//! change, within a millisecond of its write.

use kubist_apimachinery::{AnyObject, ListOptions, Resource, ResourceVersion, Status};
use kubist_registry::{Registry, RequestContext, Rest, User, WatchEvent};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// The pause after a storage error.
const RETRY: Duration = Duration::from_secs(1);

/// Who follows a kind.
pub(crate) trait Follower<K>: Send + Sync {
    /// These are all objects that there are.
    fn replace(&self, all: &[&K]);

    /// An object was created or changed.
    fn put(&self, object: &K);

    /// An object was deleted.
    fn remove(&self, object: &K);
}

/// Reads all objects once, so that a server obeys them from its first request.
///
/// # Errors
/// Those of the storage.
pub(crate) async fn load<K: Resource + Any>(
    registry: &Registry,
    follower: &impl Follower<K>,
) -> Result<(), Status> {
    match rest::<K>(registry) {
        Some((rest, cx)) => list::<K>(&rest, &cx, follower).await.map(drop),
        None => Ok(()),
    }
}

/// Follows all objects of a kind. Never returns.
///
/// # Cancel safety
/// Can be dropped at any time.
pub(crate) async fn follow<K: Resource + Any>(registry: &Registry, follower: &impl Follower<K>) {
    let Some((rest, cx)) = rest::<K>(registry) else {
        return std::future::pending().await;
    };
    loop {
        // It ends only with a storage error, or when the watch is over; the next round begins with
        // all objects.
        drop(follow_once::<K>(&rest, &cx, follower).await);
        tokio::time::sleep(RETRY).await;
    }
}

fn rest<K: Resource>(registry: &Registry) -> Option<(Arc<Rest>, RequestContext)> {
    let rest = registry.resource(K::GROUP, K::VERSION, K::PLURAL)?;
    let mut cx = registry.request(User {
        name: "system:apiserver".into(),
        ..User::default()
    });
    // What cannot be decoded cannot be obeyed.
    cx.skip_unreadable = true;
    Some((rest, cx))
}

async fn list<K: Resource + Any>(
    rest: &Rest,
    cx: &RequestContext,
    follower: &impl Follower<K>,
) -> Result<ResourceVersion, Status> {
    let page = rest.list(cx, "", &ListOptions::default()).await?;
    let objects = page.items.iter().filter_map(|it| it.object().ok());
    let all: Vec<&K> = objects.filter_map(|it| typed(&**it)).collect();
    follower.replace(&all);
    Ok(page.metadata.resource_version.to_string().into())
}

async fn follow_once<K: Resource + Any>(
    rest: &Rest,
    cx: &RequestContext,
    follower: &impl Follower<K>,
) -> Result<(), Status> {
    let options = ListOptions {
        resource_version: list::<K>(rest, cx, follower).await?,
        ..ListOptions::default()
    };
    let mut events = rest.watch(cx, "", None, &options, None).await?;
    while let Some(batch) = events.next().await {
        for event in batch {
            let (stored, is_there) = match event {
                WatchEvent::Added(stored) | WatchEvent::Modified(stored) => (stored, true),
                WatchEvent::Deleted(stored) => (stored, false),
                WatchEvent::Bookmark(_) => continue,
                WatchEvent::Error(status) => return Err(*status),
            };
            let Some(object) = stored.object().ok().and_then(|it| typed::<K>(&**it)) else {
                continue;
            };
            if is_there {
                follower.put(object);
            } else {
                follower.remove(object);
            }
        }
    }
    Ok(())
}

fn typed<K: Any>(object: &dyn AnyObject) -> Option<&K> {
    (object as &dyn Any).downcast_ref()
}

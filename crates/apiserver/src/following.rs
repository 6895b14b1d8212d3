//! Follows stored objects of one kind, and keeps what is made of them up to date: roles in the
//! policy of an authorizer, webhooks and policies in the tables of admission.
//!
//! A change counts within the time that a watch event needs, which is far below 10 ms.

use kubist_apimachinery::{ListOptions, Resource, ResourceVersion, Status};
use kubist_registry::{Registry, RequestContext, Rest, Stored, User, WatchEvent};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// The pause after a storage error.
const RETRY: Duration = Duration::from_secs(1);

/// A kind of objects of which `T` is made.
pub(crate) trait Followed<T>: Resource + Any + Sized {
    /// Adds or replaces one.
    fn put(&self, to: &T);
    /// Removes one.
    fn remove(from: &T, namespace: &str, name: &str);
    /// Replaces all of the kind, in one step.
    fn replace(of: &T, all: &[&Self]);
}

/// Reads all objects of a kind once.
///
/// # Errors
/// Those of the storage.
pub(crate) async fn load<K: Followed<T>, T: Sync>(
    registry: &Registry,
    of: &T,
) -> Result<(), Status> {
    let Some((rest, cx)) = rest::<K, T>(registry) else {
        return Ok(());
    };
    list::<K, T>(&rest, &cx, of).await.map(drop)
}

/// Follows a kind. Never returns.
///
/// # Cancel safety
/// Can be dropped at any time; what was made stays as it is.
pub(crate) async fn follow<K: Followed<T>, T: Sync>(registry: &Registry, of: &T) {
    loop {
        // It ends only with a storage error, or when the watch is over; the next round begins with
        // all objects.
        drop(follow_once::<K, T>(registry, of).await);
        tokio::time::sleep(RETRY).await;
    }
}

fn rest<K: Followed<T>, T>(registry: &Registry) -> Option<(Arc<Rest>, RequestContext)> {
    let rest = registry.resource(K::GROUP, K::VERSION, K::PLURAL)?;
    let mut cx = registry.request(User {
        name: "system:apiserver".into(),
        ..User::default()
    });
    // What cannot be decoded counts as absent.
    cx.skip_unreadable = true;
    Some((rest, cx))
}

/// Replaces all of a kind by what is stored, and returns the version of it.
async fn list<K: Followed<T>, T>(
    rest: &Rest,
    cx: &RequestContext,
    of: &T,
) -> Result<ResourceVersion, Status> {
    let page = rest.list(cx, "", &ListOptions::default()).await?;
    let all: Vec<&K> = page.items.iter().filter_map(typed).collect();
    K::replace(of, &all);
    Ok(page.metadata.resource_version.to_string().into())
}

async fn follow_once<K: Followed<T>, T>(registry: &Registry, of: &T) -> Result<(), Status> {
    let Some((rest, cx)) = rest::<K, T>(registry) else {
        return std::future::pending().await;
    };
    let options = ListOptions {
        resource_version: list::<K, T>(&rest, &cx, of).await?,
        ..ListOptions::default()
    };
    let mut events = rest.watch(&cx, "", None, &options, None).await?;
    while let Some(batch) = events.next().await {
        for event in batch {
            match event {
                WatchEvent::Added(stored) | WatchEvent::Modified(stored) => {
                    if let Some(object) = typed::<K>(&stored) {
                        object.put(of);
                    }
                }
                WatchEvent::Deleted(stored) => {
                    if let Ok(object) = stored.object() {
                        let meta = object.meta();
                        K::remove(of, &meta.namespace, &meta.name);
                    }
                }
                WatchEvent::Bookmark(_) => {}
                WatchEvent::Error(status) => return Err(*status),
            }
        }
    }
    Ok(())
}

fn typed<K: Any>(stored: &Stored) -> Option<&K> {
    let object: &dyn Any = &**stored.object().ok()?;
    object.downcast_ref()
}

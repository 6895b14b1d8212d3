//! Counts the usage of quotas anew, as upstream's controller: when a quota is new or changed, after
//! objects that it counts were deleted or changed, and every five minutes.
//!
//! It follows the quotas, and only the resources that some quota counts. Admission raises usage
//! before objects are stored, so a count may come between the two; therefore it is repeated shortly
//! after admission has changed a quota.

use crate::amounts::only;
use crate::objects::typed;
use crate::resource_quota::recount::{Resource, counted_by, used_by};
use futures_util::stream::{FuturesUnordered, StreamExt};
use kubist_api::core::v1::ResourceQuota;
use kubist_apimachinery::{
    AnyObject, GroupResource, ListOptions, Preconditions, ResourceVersion, Status, Str,
};
use kubist_registry::{
    BoxFuture, EventStream, Registry, RequestContext, Rest, UpdatePath, UpdatedObject, User,
    WatchEvent,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// How long changes are collected before a count.
const COLLECT: Duration = Duration::from_millis(50);
/// After what time a count is repeated.
const REPEAT: Duration = Duration::from_secs(1);
/// The time between two counts of everything.
const RESYNC: Duration = Duration::from_secs(300);

/// Counts usage for ever.
///
/// # Cancel safety
/// Can be dropped at any time.
pub async fn run_quotas(registry: &Registry) {
    let mut quotas = Quotas {
        registry,
        known: BTreeMap::new(),
        due: BTreeMap::new(),
        followed: BTreeSet::new(),
    };
    let mut watches = FuturesUnordered::new();
    let own: Resource = (String::new(), "resourcequotas".to_owned());
    watches.push(begin(registry, own.clone(), Instant::now()));
    let mut resync = Instant::now() + RESYNC;
    loop {
        let next = quotas.due.values().copied().min().unwrap_or(resync);
        tokio::select! {
            Some(event) = watches.next() => {
                let Event { resource, watch, seen } = event;
                let own = resource == own;
                match seen {
                    Seen::All(objects) if own => quotas.replace(&objects),
                    Seen::All(_) => quotas.changed(&resource, None),
                    Seen::Batch(batch) => batch.iter().for_each(|it| quotas.take(&resource, it)),
                    Seen::Ended => {}
                }
                match watch {
                    Some(events) => watches.push(next_event(resource, events)),
                    None if own || quotas.counts(&resource) => {
                        watches.push(begin(registry, resource, Instant::now() + REPEAT));
                    }
                    None => {
                        quotas.followed.remove(&resource);
                    }
                }
            }
            () = sleep_until(next.min(resync)) => {
                if Instant::now() >= resync {
                    resync = Instant::now() + RESYNC;
                    quotas.all_due();
                }
                quotas.count_due().await;
            }
        }
        for resource in quotas.unfollowed() {
            watches.push(begin(registry, resource, Instant::now()));
        }
    }
}

/// Namespace and name.
type Key = (Str, Str);

/// The quotas and what is to be counted.
struct Quotas<'a> {
    registry: &'a Registry,
    known: BTreeMap<Key, Arc<dyn AnyObject>>,
    /// When which quota is counted.
    due: BTreeMap<Key, Instant>,
    followed: BTreeSet<Resource>,
}

impl Quotas<'_> {
    /// Takes all quotas.
    fn replace(&mut self, all: &[Arc<dyn AnyObject>]) {
        self.known.clear();
        for object in all {
            self.know(object);
        }
    }

    fn know(&mut self, object: &Arc<dyn AnyObject>) {
        let Some(quota) = typed::<ResourceQuota>(&**object) else {
            return;
        };
        let key = key_of(&**object);
        let is_counted = quota.status.hard == quota.spec.hard && !quota.status.used.is_empty();
        let wait = if is_counted { REPEAT } else { Duration::ZERO };
        let before = self.known.insert(key.clone(), Arc::clone(object));
        let before = before.as_deref().and_then(typed::<ResourceQuota>);
        let same = before.is_some_and(|it| it.spec == quota.spec && it.status == quota.status);
        if !same {
            self.expect(key, wait);
        }
    }

    /// Notes that a quota is counted in this time at the latest.
    fn expect(&mut self, key: Key, wait: Duration) {
        let at = Instant::now() + wait;
        let due = self.due.entry(key).or_insert(at);
        *due = at.min(*due);
    }

    fn all_due(&mut self) {
        let keys: Vec<Key> = self.known.keys().cloned().collect();
        for key in keys {
            self.expect(key, Duration::ZERO);
        }
    }

    /// Takes an event of a resource.
    fn take(&mut self, resource: &Resource, event: &WatchEvent) {
        let is_quota = resource.0.is_empty() && resource.1 == "resourcequotas";
        let (stored, gone) = match event {
            WatchEvent::Added(stored) | WatchEvent::Modified(stored) => (stored, false),
            WatchEvent::Deleted(stored) => (stored, true),
            WatchEvent::Bookmark(_) | WatchEvent::Error(_) => return,
        };
        let Ok(object) = stored.object() else {
            return;
        };
        if is_quota && gone {
            let key = key_of(&**object);
            self.known.remove(&key);
            self.due.remove(&key);
        } else if is_quota {
            self.know(object);
        }
        // Admission has counted what is new.
        if !matches!(event, WatchEvent::Added(_)) {
            self.changed(resource, Some(&object.meta().namespace));
        }
    }

    /// Notes that objects of a resource have changed, in one namespace or in all.
    fn changed(&mut self, resource: &Resource, namespace: Option<&Str>) {
        let concerned = self.known.iter().filter(|((of, _), quota)| {
            namespace.is_none_or(|it| it == of)
                && typed::<ResourceQuota>(&***quota)
                    .is_some_and(|it| counted_by(it).contains(resource))
        });
        let keys: Vec<Key> = concerned.map(|(key, _)| key.clone()).collect();
        for key in keys {
            self.expect(key, COLLECT);
        }
    }

    /// Reports whether any quota counts a resource.
    fn counts(&self, resource: &Resource) -> bool {
        let mut quotas = self.known.values();
        quotas.any(|it| {
            typed::<ResourceQuota>(&**it).is_some_and(|it| counted_by(it).contains(resource))
        })
    }

    /// Returns the resources that are to be followed from now on.
    fn unfollowed(&mut self) -> Vec<Resource> {
        let quotas = self.known.values();
        let quotas = quotas.filter_map(|it| typed::<ResourceQuota>(&**it));
        let wanted: BTreeSet<Resource> = quotas.flat_map(counted_by).collect();
        let own = |it: &Resource| it.0.is_empty() && it.1 == "resourcequotas";
        let new = wanted.into_iter().filter(|it| !own(it));
        let new: Vec<_> = new.filter(|it| !self.followed.contains(it)).collect();
        self.followed.extend(new.iter().cloned());
        new
    }

    /// Counts the quotas that are due.
    async fn count_due(&mut self) {
        let now = Instant::now();
        let due = self.due.iter().filter(|(_, at)| **at <= now);
        let keys: Vec<Key> = due.map(|(key, _)| key.clone()).collect();
        for key in keys {
            self.due.remove(&key);
            let counted = count(self.registry, &key).await;
            if counted.is_err_and(|it| !it.is_not_found()) {
                self.expect(key, REPEAT);
            }
        }
    }
}

fn key_of(object: &dyn AnyObject) -> Key {
    let meta = object.meta();
    (meta.namespace.clone(), meta.name.clone())
}

/// Counts one quota, and writes its status if that differs.
async fn count(registry: &Registry, (namespace, name): &Key) -> Result<(), Status> {
    let resource = GroupResource::new("", "resourcequotas");
    let missing = || Status::not_found(&resource, name);
    let quotas = registry.stores().resource("", "resourcequotas");
    let quotas = quotas.ok_or_else(missing)?;
    let stored = quotas.get(namespace, name).await?.ok_or_else(missing)?;
    let object = stored.to_object()?;
    let quota = typed::<ResourceQuota>(&*object).ok_or_else(missing)?;
    let cx = own_request(registry);
    let hard = quota.spec.hard.clone();
    let mut used = quota.status.used.clone();
    for resource in counted_by(quota) {
        let objects = objects_of(registry, &cx, &resource, namespace).await?;
        let objects = objects.iter().map(|it| &**it);
        used.extend(used_by(quota, &resource, objects, cx.now()));
    }
    let used = only(&used, |name| hard.contains_key(name));
    if hard == quota.status.hard && used == quota.status.used {
        return Ok(());
    }
    let mut counted = quota.clone();
    counted.status.hard = hard;
    counted.status.used = used;
    let written = Counted(counted);
    let at = (namespace.as_str(), name.as_str());
    let path = UpdatePath::Status;
    quotas.update(&cx, at, &written, path, false).await?;
    Ok(())
}

/// Returns the objects of a resource in a namespace; none if it is not served.
async fn objects_of(
    registry: &Registry,
    cx: &RequestContext,
    resource: &Resource,
    namespace: &str,
) -> Result<Vec<Arc<dyn AnyObject>>, Status> {
    let Some(rest) = served(registry, resource) else {
        return Ok(Vec::new());
    };
    let page = rest.list(cx, namespace, &ListOptions::default()).await?;
    let objects = page.items.iter().filter_map(|it| it.object().ok());
    Ok(objects.map(Arc::clone).collect())
}

/// The context of what the controller does.
fn own_request(registry: &Registry) -> RequestContext {
    let mut cx = registry.request(User {
        name: "system:serviceaccount:kube-system:resourcequota-controller".into(),
        ..User::default()
    });
    cx.user_agent = "kube-controller-manager".into();
    // What cannot be decoded uses nothing that can be told.
    cx.skip_unreadable = true;
    cx
}

/// The update of a status that was counted for one version of a quota.
struct Counted(ResourceQuota);

impl UpdatedObject for Counted {
    fn preconditions(&self) -> Preconditions {
        let meta = &self.0.metadata;
        Preconditions {
            uid: Some(meta.uid.clone()),
            resource_version: Some(meta.resource_version.clone()),
        }
    }

    fn updated(&self, _old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        Ok(Box::new(self.0.clone()))
    }
}

/// What a watch has brought.
enum Seen {
    /// All objects, from the list that it begins with.
    All(Vec<Arc<dyn AnyObject>>),
    Batch(Vec<WatchEvent>),
    /// It could not begin, or is over.
    Ended,
}

struct Event {
    resource: Resource,
    /// The rest of the watch.
    watch: Option<EventStream>,
    seen: Seen,
}

/// Lists a resource, and begins to watch it.
fn begin(registry: &Registry, resource: Resource, at: Instant) -> BoxFuture<'_, Event> {
    Box::pin(async move {
        sleep_until(at).await;
        let begun = list_and_watch(registry, &resource).await;
        let (seen, watch) = match begun {
            Ok((objects, events)) => (Seen::All(objects), Some(events)),
            Err(_) => (Seen::Ended, None),
        };
        Event {
            resource,
            watch,
            seen,
        }
    })
}

fn next_event<'a>(resource: Resource, mut events: EventStream) -> BoxFuture<'a, Event> {
    Box::pin(async move {
        let batch = events.next().await;
        let failed =
            |batch: &Vec<WatchEvent>| batch.iter().any(|it| matches!(it, WatchEvent::Error(_)));
        match batch {
            Some(batch) if !failed(&batch) => Event {
                resource,
                watch: Some(events),
                seen: Seen::Batch(batch),
            },
            _ => Event {
                resource,
                watch: None,
                seen: Seen::Ended,
            },
        }
    })
}

async fn list_and_watch(
    registry: &Registry,
    resource: &Resource,
) -> Result<(Vec<Arc<dyn AnyObject>>, EventStream), Status> {
    let unserved = || Status::not_found(&GroupResource::new("", ""), &resource.1);
    let rest = served(registry, resource).ok_or_else(unserved)?;
    let cx = own_request(registry);
    let page = rest.list(&cx, "", &ListOptions::default()).await?;
    let options = ListOptions {
        resource_version: ResourceVersion::from(page.metadata.resource_version.to_string()),
        ..ListOptions::default()
    };
    let objects = page.items.iter().filter_map(|it| it.object().ok());
    let objects = objects.map(Arc::clone).collect();
    Ok((objects, rest.watch(&cx, "", None, &options, None).await?))
}

/// Returns a resource in any served version.
fn served(registry: &Registry, (group, plural): &Resource) -> Option<Arc<Rest>> {
    let groups = registry.groups();
    let group = groups.iter().find(|it| it.name.as_str() == group)?;
    let mut versions = group.versions.iter();
    versions.find_map(|it| registry.resource(&group.name, &it.version, plural))
}

//! Undecodable objects: some versions of some objects, wherever they are delivered.
//!
//! The version is corrupt, so lists, watches and all informers agree. Deletions are corrupt
//! independently, like other events. For a few events neither type nor name can be determined; the
//! next list repairs them.

use crate::faults::Faults;
use crate::rng::SimRng;
use kubist_apimachinery::wire::WireErrorKind;
use kubist_apimachinery::{Object, ObjectName, ResourceVersion};
use kubist_cache::{EventType, InvalidEvent, InvalidItem, ListItem, WatchItem};

/// Decides whether this version of this object is undecodable while faults are injected.
pub(crate) fn is_unreadable(faults: &Faults, name: &ObjectName, version: &str) -> bool {
    let percent = faults.trouble.unreadable;
    percent > 0
        && !faults.is_calm()
        && SimRng::new(faults.trouble.unreadable_seed)
            .fork(&format!("{name}@{version}"))
            .chance(percent)
}

fn item(name: Option<ObjectName>) -> InvalidItem {
    InvalidItem {
        name,
        error: WireErrorKind::Truncated.into(),
    }
}

/// Converts a list item.
pub(crate) fn listed<K: Object>(faults: &Faults, listed: ListItem<K>) -> ListItem<K> {
    let ListItem::Object(object) = listed else {
        return listed;
    };
    let name = object.object_name();
    if is_unreadable(faults, &name, object.resource_version()) {
        return ListItem::Invalid(item(Some(name)));
    }
    ListItem::Object(object)
}

/// Converts an event.
pub(crate) fn watched<K: Object>(faults: &Faults, event: WatchItem<K>) -> WatchItem<K> {
    let (kind, name, version) = match &event {
        WatchItem::Added(object) => observed(EventType::Added, object),
        WatchItem::Modified(object) => observed(EventType::Modified, object),
        WatchItem::Deleted(object) => observed(EventType::Deleted, object),
        // The state would never be complete.
        WatchItem::Bookmark {
            initial_events_end: true,
            ..
        }
        | WatchItem::Invalid(_) => return event,
        WatchItem::Bookmark {
            resource_version, ..
        } => {
            let name = ObjectName::default();
            (EventType::Bookmark, name, resource_version.clone())
        }
    };
    if !is_unreadable(faults, &name, version.as_str()) {
        return event;
    }
    if kind == EventType::Bookmark {
        return WatchItem::Invalid(InvalidEvent {
            event: Some(kind),
            resource_version: ResourceVersion::default(),
            item: item(None),
        });
    }
    let mut rng = SimRng::new(faults.trouble.unreadable_seed).fork(version.as_str());
    let is_lost = rng.chance(faults.trouble.lost);
    WatchItem::Invalid(InvalidEvent {
        event: (!is_lost).then_some(kind),
        resource_version: if is_lost || rng.chance(20) {
            ResourceVersion::default()
        } else {
            version
        },
        item: item((!is_lost).then_some(name)),
    })
}

fn observed<K: Object>(kind: EventType, object: &K) -> (EventType, ObjectName, ResourceVersion) {
    let version = object.resource_version().into();
    (kind, object.object_name(), version)
}

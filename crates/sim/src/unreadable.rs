//! What cannot be read: some versions of some objects, wherever they come by.
//!
//! It is the version that is broken, so lists and watches agree, and so do all informers. Deletions
//! are broken as other events are, each for itself. Of a few events not even the type or the name
//! can be made out; those the next list repairs.

use crate::dice::Dice;
use crate::faults::Faults;
use kubist_apimachinery::wire::WireErrorKind;
use kubist_apimachinery::{Object, ObjectName, ResourceVersion};
use kubist_cache::{EventType, InvalidEvent, InvalidItem, ListItem, WatchItem};

/// Whether this version of this object cannot be read, as long as there is trouble.
pub(crate) fn is_unreadable(faults: &Faults, name: &ObjectName, version: &str) -> bool {
    let percent = faults.trouble.unreadable;
    percent > 0
        && !faults.is_calm()
        && Dice::new(faults.trouble.unreadable_seed)
            .fork(&format!("{name}@{version}"))
            .chance(percent)
}

fn item(name: Option<ObjectName>) -> InvalidItem {
    InvalidItem {
        name,
        error: WireErrorKind::Truncated.into(),
    }
}

/// An item of a list as it arrives.
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

/// An event as it arrives.
pub(crate) fn watched<K: Object>(faults: &Faults, event: WatchItem<K>) -> WatchItem<K> {
    let (kind, name, version) = match &event {
        WatchItem::Added(object) => observed(EventType::Added, object),
        WatchItem::Modified(object) => observed(EventType::Modified, object),
        WatchItem::Deleted(object) => observed(EventType::Deleted, object),
        // The state would never be whole.
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
    let mut dice = Dice::new(faults.trouble.unreadable_seed).fork(version.as_str());
    let is_lost = dice.chance(faults.trouble.lost);
    WatchItem::Invalid(InvalidEvent {
        event: (!is_lost).then_some(kind),
        resource_version: if is_lost || dice.chance(20) {
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

//! The driver's handling of watches and their events.

use super::{Io, Out, Reflector};
use crate::Report;
use crate::machine::{Event, EventAction, WatchEnd};
use kubist_apimachinery::{Object, ObjectName};
use kubist_cache::{EventType, FetchError, InvalidEvent, WatchItem, WatchStream};
use std::time::Duration;

impl<K: Object> Reflector<K> {
    pub(super) fn watch_opened(
        &mut self,
        opened: Result<WatchStream<K>, FetchError>,
        out: &mut Out<'_, K>,
    ) -> bool {
        match opened {
            Ok(stream) => {
                self.machine.watch_opened(self.now());
                self.io = Io::Watch(stream);
                false
            }
            Err(error) => self.watch_end(&WatchEnd::Failed(&error), out),
        }
    }

    pub(super) fn watch_item(
        &mut self,
        item: Option<Result<Vec<WatchItem<K>>, FetchError>>,
        out: &mut Out<'_, K>,
    ) -> bool {
        match item {
            Some(Ok(items)) => {
                let (before, now) = (out.queue.len(), self.now());
                for item in items {
                    if self.event(now, item, out) == EventAction::Stale {
                        self.stale(out);
                        return true;
                    }
                }
                out.queue.len() > before
            }
            Some(Err(error)) => self.watch_end(&WatchEnd::Failed(&error), out),
            None => self.watch_end(&WatchEnd::Clean, out),
        }
    }

    pub(super) fn watch_end(&mut self, end: &WatchEnd<'_>, out: &mut Out<'_, K>) -> bool {
        self.io = Io::None;
        self.list_buffer.clear();
        let was_refused = self.machine.is_streaming_refused();
        let known = self.machine.is_not_served();
        let ended = self.machine.watch_ended(self.now(), end);
        self.share(was_refused);
        let reported = match end {
            WatchEnd::Failed(error @ FetchError::NotServed { .. }) => {
                return self.not_served((*error).clone(), known, out);
            }
            WatchEnd::Clean if !ended.is_failure => return false,
            WatchEnd::Clean => Report::WatchTooShort,
            WatchEnd::Failed(error) => Report::WatchFailed((*error).clone(), ended.recovery),
            WatchEnd::Silent => Report::WatchSilent(ended.recovery),
        };
        self.stats.failures += 1;
        (out.report)(reported);
        true
    }

    fn event(&mut self, now: Duration, item: WatchItem<K>, out: &mut Out<'_, K>) -> EventAction {
        let event = match &item {
            WatchItem::Added(object) => Event::Added(object.resource_version()),
            WatchItem::Modified(object) => Event::Modified(object.resource_version()),
            WatchItem::Deleted(object) => Event::Deleted(object.resource_version()),
            WatchItem::Bookmark {
                resource_version,
                initial_events_end,
            } => Event::Bookmark {
                version: resource_version.as_str(),
                initial_events_end: *initial_events_end,
            },
            WatchItem::Invalid(item) => invalid(item),
        };
        let action = self.machine.event(now, event);
        match (action, item) {
            (action, WatchItem::Invalid(event)) => {
                self.unread(action, &event, out);
                self.invalid(event.item, out);
            }
            (EventAction::Complete, _) => self.complete(out),
            (EventAction::Buffer, WatchItem::Added(object) | WatchItem::Modified(object)) => {
                self.list_buffer.add(object);
            }
            (EventAction::Buffer, WatchItem::Deleted(object)) => {
                self.list_buffer.remove(object.object_name());
            }
            (EventAction::Deliver, item) => self.deliver(item, out),
            (EventAction::Ignore | EventAction::Stale | EventAction::Buffer, _) => {}
        }
        action
    }

    /// Queues what is known of an event whose object cannot be decoded: an object of this name, or
    /// an unknown one, exists or was deleted.
    fn unread(&mut self, action: EventAction, event: &InvalidEvent, out: &mut Out<'_, K>) {
        let version = event.resource_version.clone();
        if event.event == Some(EventType::Bookmark) {
            return;
        }
        match (action, event.deleted(), event.saved().cloned()) {
            (EventAction::Buffer, Some(name), _) => self.list_buffer.remove(name.clone()),
            (EventAction::Buffer, None, Some(name)) => self.list_buffer.add_unreadable(name),
            (EventAction::Buffer, None, None) => {
                // The event may be for this name; its stored state is kept as well.
                for name in event.item.name.iter().cloned() {
                    self.list_buffer.add_unreadable(name);
                }
                self.list_buffer.add_unreadable(ObjectName::default());
            }
            (EventAction::Deliver, Some(name), _) => out.queue.delete_unread(name.clone(), version),
            (EventAction::Deliver, None, saved) => {
                out.queue.unreadable(saved.unwrap_or_default(), version);
            }
            _ => {}
        }
    }

    fn deliver(&mut self, item: WatchItem<K>, out: &mut Out<'_, K>) {
        self.stats.events += 1;
        match item {
            WatchItem::Added(object) => out.queue.add(self.list_buffer.transformed(object)),
            WatchItem::Modified(object) => out.queue.update(self.list_buffer.transformed(object)),
            WatchItem::Deleted(object) => out.queue.delete(self.list_buffer.transformed(object)),
            WatchItem::Bookmark {
                resource_version, ..
            } => {
                self.stats.events -= 1;
                self.stats.bookmarks += 1;
                out.queue.bookmark(resource_version);
            }
            WatchItem::Invalid(_) => {}
        }
    }
}

/// Converts an event for the machine, for which it does not matter whether the object can be
/// decoded.
fn invalid(event: &InvalidEvent) -> Event<'_> {
    let version = event.resource_version.as_str();
    match (event.event, &event.item.name) {
        (Some(EventType::Added), Some(_)) => Event::Added(version),
        (Some(EventType::Modified), Some(_)) => Event::Modified(version),
        (Some(EventType::Deleted), Some(_)) => Event::Deleted(version),
        (Some(EventType::Bookmark), _) => Event::Nothing,
        _ => Event::Lost,
    }
}

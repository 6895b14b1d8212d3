//! What the driver does with a watch and its events.

use kubist_apimachinery::{Object, ObjectName};
use kubist_cache::{EventType, FetchError, InvalidEvent, WatchItem, WatchStream};

use super::{Io, Out, Reflector};
use crate::Report;
use crate::machine::{End, Event, Verdict};

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
            Err(error) => self.watch_end(&End::Failed(&error), out),
        }
    }

    pub(super) fn watch_item(
        &mut self,
        item: Option<Result<Vec<WatchItem<K>>, FetchError>>,
        out: &mut Out<'_, K>,
    ) -> bool {
        match item {
            Some(Ok(items)) => {
                let before = out.queue.len();
                for item in items {
                    if self.event(item, out) == Verdict::Behind {
                        self.behind(out);
                        return true;
                    }
                }
                out.queue.len() > before
            }
            Some(Err(error)) => self.watch_end(&End::Failed(&error), out),
            None => self.watch_end(&End::Clean, out),
        }
    }

    pub(super) fn watch_end(&mut self, end: &End<'_>, out: &mut Out<'_, K>) -> bool {
        self.io = Io::None;
        self.gathered.forget();
        let was_refused = self.machine.is_streaming_refused();
        let known = self.machine.is_not_served();
        let ended = self.machine.watch_ended(self.now(), end);
        self.share(was_refused);
        let told = match end {
            End::Failed(error @ FetchError::NotServed { .. }) => {
                return self.not_served((*error).clone(), known, out);
            }
            End::Clean if !ended.is_failure => return false,
            End::Clean => Report::WatchTooShort,
            End::Failed(error) => Report::WatchFailed((*error).clone(), ended.consequence),
            End::Silent => Report::WatchSilent(ended.consequence),
        };
        self.stats.failures += 1;
        (out.report)(told);
        true
    }

    fn event(&mut self, item: WatchItem<K>, out: &mut Out<'_, K>) -> Verdict {
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
        let verdict = self.machine.event(self.now(), event);
        match (verdict, item) {
            (verdict, WatchItem::Invalid(event)) => {
                self.unread(verdict, &event, out);
                self.invalid(event.item, out);
            }
            (Verdict::Complete, _) => self.complete(out),
            (Verdict::Gather, WatchItem::Added(object) | WatchItem::Modified(object)) => {
                self.gathered.add(object);
            }
            (Verdict::Gather, WatchItem::Deleted(object)) => {
                self.gathered.remove(object.object_name());
            }
            (Verdict::Deliver, item) => self.deliver(item, out),
            (Verdict::Ignore | Verdict::Behind | Verdict::Gather, _) => {}
        }
        verdict
    }

    /// What remains of an event whose object could not be read: that something of this name, or of
    /// some name, is there or gone.
    fn unread(&mut self, verdict: Verdict, event: &InvalidEvent, out: &mut Out<'_, K>) {
        let version = event.resource_version.clone();
        if event.event == Some(EventType::Bookmark) {
            return;
        }
        match (verdict, event.deleted(), event.saved().cloned()) {
            (Verdict::Gather, Some(name), _) => self.gathered.remove(name.clone()),
            (Verdict::Gather, None, Some(name)) => self.gathered.add_unreadable(name),
            (Verdict::Gather, None, None) => {
                // Perhaps it is of this name; what is known of that stays too.
                for name in event.item.name.iter().cloned() {
                    self.gathered.add_unreadable(name);
                }
                self.gathered.add_unreadable(ObjectName::default());
            }
            (Verdict::Deliver, Some(name), _) => out.queue.delete_unread(name.clone(), version),
            (Verdict::Deliver, None, saved) => {
                out.queue.unreadable(saved.unwrap_or_default(), version);
            }
            _ => {}
        }
    }

    fn deliver(&mut self, item: WatchItem<K>, out: &mut Out<'_, K>) {
        self.stats.events += 1;
        match item {
            WatchItem::Added(object) => out.queue.add(self.gathered.made(object)),
            WatchItem::Modified(object) => out.queue.update(self.gathered.made(object)),
            WatchItem::Deleted(object) => out.queue.delete(self.gathered.made(object)),
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

/// To the machine an event counts for what it says, whether or not its object could be read.
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

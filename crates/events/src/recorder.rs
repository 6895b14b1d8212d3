//! `EventRecorder`: tells about an object.

use crate::EventType;
use crate::event_name::{DEFAULT_NAMESPACE, NOTE_BYTES_MAX, TEXT_BYTES_MAX, cut, event_name};
use crate::shared::Shared;
use kubist_api::core::v1::ObjectReference;
use kubist_api::events::v1::Event;
use kubist_apimachinery::{ObjectMeta, Str};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Records events. client-go's type of that name. Clones record as the same controller.
///
/// [`event`](Self::event) does not block, wait or fail: if the queue is full, the event is dropped
/// and counted.
#[derive(Clone, Debug)]
pub struct EventRecorder {
    pub(crate) sender: mpsc::Sender<Box<Event>>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) controller: Str,
    pub(crate) instance: Str,
}

impl EventRecorder {
    /// Records an event about an object.
    ///
    /// `reason` and `action` are for machines, in `UpperCamelCase`: why, and what the controller
    /// did or tried; the API requires both, so an empty action is the reason. `note` is for people.
    /// Notes are cut after 1,024 bytes, reasons and actions after 128. Events that differ only in
    /// time and note are one series, with the note of the first.
    ///
    /// ```
    /// # use kubist_api::core::v1::{ObjectReference, Pod};
    /// # use kubist_events::{EventRecorder, EventType};
    /// # fn example(recorder: &EventRecorder, pod: &Pod) {
    /// let pod = ObjectReference::of(pod);
    /// recorder.event(&pod, EventType::Warning, "NoImage", "Pulling", "there is no such image");
    /// # }
    /// ```
    pub fn event(
        &self,
        regarding: &ObjectReference,
        type_: EventType,
        reason: impl Into<Str>,
        action: impl Into<Str>,
        note: impl Into<Str>,
    ) {
        let event = self.make(regarding, type_, reason.into(), action.into(), note.into());
        self.send(event);
    }

    /// Same as [`Self::event`], with a second object, for instance the one that was created.
    pub fn event_related(
        &self,
        regarding: &ObjectReference,
        related: &ObjectReference,
        type_: EventType,
        reason: impl Into<Str>,
        action: impl Into<Str>,
        note: impl Into<Str>,
    ) {
        let mut event = self.make(regarding, type_, reason.into(), action.into(), note.into());
        event.related = Some(Box::new(related.clone()));
        self.send(event);
    }

    fn make(
        &self,
        regarding: &ObjectReference,
        type_: EventType,
        reason: Str,
        action: Str,
        note: Str,
    ) -> Event {
        let ambient = &self.shared.ambient;
        let nanoseconds = i128::try_from(ambient.now().as_nanos()).unwrap_or(i128::MAX);
        let nanoseconds = self.shared.unique_nanoseconds(nanoseconds);
        let action = if action.is_empty() {
            reason.clone()
        } else {
            action
        };
        let namespace = if regarding.namespace.is_empty() {
            DEFAULT_NAMESPACE.into()
        } else {
            regarding.namespace.clone()
        };
        // The deprecated fields are left unset, as servers require it of this API group.
        Event {
            metadata: ObjectMeta {
                name: event_name(&regarding.name, nanoseconds, ambient),
                namespace,
                ..ObjectMeta::default()
            },
            event_time: Some(ambient.micro_time()),
            reporting_controller: self.controller.clone(),
            reporting_instance: self.instance.clone(),
            action: cut(action, TEXT_BYTES_MAX),
            reason: cut(reason, TEXT_BYTES_MAX),
            regarding: regarding.clone(),
            note: cut(note, NOTE_BYTES_MAX),
            type_: type_.as_str().into(),
            ..Event::default()
        }
    }

    fn send(&self, event: Event) {
        let (reason, note) = (&event.reason, &event.note);
        let object = &event.regarding;
        let (kind, namespace, name) = (&object.kind, &object.namespace, &object.name);
        tracing::debug!(%kind, %namespace, %name, %reason, %note, "event");
        let is_sent = self.sender.try_send(Box::new(event)).is_ok();
        self.shared.count_recorded(is_sent);
    }
}

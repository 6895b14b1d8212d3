//! `EventKey`: which events are the same, so that they are one series.

use kubist_api::core::v1::ObjectReference;
use kubist_api::events::v1::Event;
use kubist_apimachinery::Str;

/// What isomorphic events have in common: everything but time and note. client-go's key of that
/// name, without the resource versions of the objects: they change with every write, and a
/// controller that writes to the object would have no series.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EventKey {
    object: ObjectKey,
    type_: Str,
    reason: Str,
    action: Str,
    related: Option<ReferenceKey>,
}

/// An object and who reports on it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ObjectKey {
    controller: Str,
    instance: Str,
    regarding: ReferenceKey,
}

/// An object, in whatever version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ReferenceKey {
    api_version: Str,
    kind: Str,
    namespace: Str,
    name: Str,
    uid: Str,
    field_path: Str,
}

impl EventKey {
    pub(crate) fn of(event: &Event) -> Self {
        Self {
            object: ObjectKey {
                controller: event.reporting_controller.clone(),
                instance: event.reporting_instance.clone(),
                regarding: ReferenceKey::of(&event.regarding),
            },
            type_: event.type_.clone(),
            reason: event.reason.clone(),
            action: event.action.clone(),
            related: event.related.as_deref().map(ReferenceKey::of),
        }
    }

    pub(crate) fn object(&self) -> &ObjectKey {
        &self.object
    }
}

impl ReferenceKey {
    fn of(object: &ObjectReference) -> Self {
        Self {
            api_version: object.api_version.clone(),
            kind: object.kind.clone(),
            namespace: object.namespace.clone(),
            name: object.name.clone(),
            uid: object.uid.clone(),
            field_path: object.field_path.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_notes_and_times_do_not_matter_and_everything_else_does() {
        let event = Event::default();
        let with = |change: fn(&mut Event)| {
            let mut other = event.clone();
            change(&mut other);
            EventKey::of(&other) == EventKey::of(&event)
        };
        assert!(with(|it| it.regarding.resource_version = "7".into()));
        assert!(with(|it| it.note = "again".into()));
        assert!(with(|it| it.metadata.name = "other".into()));
        assert!(!with(|it| it.regarding.uid = "7".into()));
        assert!(!with(|it| it.regarding.field_path = "spec".into()));
        assert!(!with(|it| it.related = Some(Box::default())));
        assert!(!with(|it| it.reason = "Other".into()));
        assert!(!with(|it| it.action = "Other".into()));
        assert!(!with(|it| it.type_ = "Warning".into()));
        assert!(!with(|it| it.reporting_controller = "other".into()));
        assert!(!with(|it| it.reporting_instance = "other".into()));
    }
}

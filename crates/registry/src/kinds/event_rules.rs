//! What events must satisfy; those that are written to events.k8s.io more than those of core.

use kubist_api::core::v1::Event;
use kubist_apimachinery::{AnyObject, FieldError, FieldPath, validate_name};
use std::any::Any;

use super::rules::{self, Errors};

/// Bytes of the names that say who reports what.
const NAME_BYTES_MAX: usize = 128;
/// Bytes of the text for people.
const NOTE_BYTES_MAX: usize = 1_024;

/// What holds in both groups. The field for who reports has a name in each.
pub(super) fn check(event: &Event, reporter: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    check_namespace(&mut errors, event);
    if event.event_time.is_some() {
        check_report(&mut errors, event, &FieldPath::new(reporter));
    }
    let namespace = &event.metadata.namespace;
    let rule = validate_name::dns1123_subdomain;
    rules::text(&mut errors, namespace, &FieldPath::new("namespace"), rule);
    errors
}

/// What holds for events that come by events.k8s.io beyond [`check`]. They have the names of
/// core's fields in messages, as upstream.
pub(crate) fn check_new(event: &dyn AnyObject) -> Vec<FieldError> {
    let any: &dyn Any = event;
    let Some(event) = any.downcast_ref::<Event>() else {
        return Vec::new();
    };
    let mut errors = check(event, "reportingController");
    if let Some(series) = &event.series {
        let path = FieldPath::new("series");
        if series.count < 2 {
            let detail = "should be at least 2";
            errors.push(FieldError::invalid(&path.child("count"), "", detail));
        }
        if series.last_observed_time.is_none() {
            errors.push(FieldError::required(&path.child("lastObservedTime"), ""));
        }
    }
    if event.event_time.is_none() {
        errors.push(FieldError::required(&FieldPath::new("eventTime"), ""));
    }
    let kind = &event.type_;
    if kind != "Normal" && kind != "Warning" {
        let detail = format!("has invalid value: {kind}");
        errors.push(FieldError::invalid(&FieldPath::new("type"), "", detail));
    }
    let source = &event.source;
    for (name, is_set) in [
        ("firstTimestamp", event.first_timestamp.is_some()),
        ("lastTimestamp", event.last_timestamp.is_some()),
        ("count", event.count != 0),
        (
            "source",
            !source.component.is_empty() || !source.host.is_empty(),
        ),
    ] {
        if is_set {
            let detail = "needs to be unset";
            errors.push(FieldError::invalid(&FieldPath::new(name), "", detail));
        }
    }
    errors
}

/// What is about cluster-scoped objects is in the default namespace, or (newer events) in that of
/// the system. Newer events may also be elsewhere than what they are about.
fn check_namespace(errors: &mut Errors, event: &Event) {
    let about = &event.involved_object.namespace;
    let own = event.metadata.namespace.as_str();
    let fits = match (about.as_str(), event.event_time) {
        ("", None) => matches!(own, "" | "default"),
        ("", Some(_)) => matches!(own, "default" | "kube-system"),
        (about, None) => own == about,
        (_, Some(_)) => true,
    };
    if !fits {
        let path = FieldPath::new("involvedObject").child("namespace");
        let detail = "does not match event.namespace";
        errors.push(FieldError::invalid(&path, about, detail));
    }
}

/// An event with a time of its own says who reports it, and why.
fn check_report(errors: &mut Errors, event: &Event, reporter: &FieldPath) {
    let name = &event.reporting_component;
    rules::required(errors, name, reporter);
    rules::text(errors, name, reporter, validate_name::qualified_name);
    for (name, text) in [
        ("reportingInstance", &event.reporting_instance),
        ("action", &event.action),
        ("reason", &event.reason),
    ] {
        let path = FieldPath::new(name);
        rules::required(errors, text, &path);
        at_most(errors, text, NAME_BYTES_MAX, &path);
    }
    let path = FieldPath::new("message");
    at_most(errors, &event.message, NOTE_BYTES_MAX, &path);
}

fn at_most(errors: &mut Errors, text: &str, max: usize, path: &FieldPath) {
    if text.len() > max {
        let detail = format!("can have at most {max} characters");
        errors.push(FieldError::invalid(path, "", detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_older_event_must_be_where_its_object_is() {
        let mut event = Event::default();
        event.metadata.namespace = "default".into();
        event.involved_object.namespace = "other".into();
        let of_namespace = |event: &Event| {
            let errors = check(event, "reportingComponent");
            let mut errors = errors.iter().map(ToString::to_string);
            errors.find(|it| it.starts_with("involvedObject"))
        };
        assert_eq!(
            of_namespace(&event).as_deref(),
            Some(
                "involvedObject.namespace: Invalid value: \"other\": does not match event.namespace"
            )
        );
        event.event_time = Some(kubist_apimachinery::MicroTime::from_unix(1, 0));
        assert_eq!(of_namespace(&event), None);
    }
}

//! Validation of events. Events written through events.k8s.io satisfy stricter rules than core
//! events.

use crate::shared::go_struct;
use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::{Event, ObjectReference};
use kubist_apimachinery::{AnyObject, BadValue, FieldError, FieldPath, Str, validate_name};
use kubist_registry::{
    GroupRules, MetadataRules, NameRule, validate_metadata, validate_metadata_change,
};
use std::any::Any;
use std::fmt::Display;

/// The events.k8s.io field for the reporting controller.
const REPORTER: &str = "reportingController";

/// The maximum length of reporter and action names, in bytes.
const NAME_BYTES_MAX: usize = 128;
/// The maximum length of the human-readable note, in bytes.
const NOTE_BYTES_MAX: usize = 1_024;

/// Checks the rules of both groups. `reporter` is the group's field name for the reporting
/// controller.
pub(crate) fn check(event: &Event, reporter: &str) -> Vec<FieldError> {
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

/// Rules for events written through events.k8s.io. Error messages use core's field names, as
/// upstream.
pub(crate) const NEWER: GroupRules = GroupRules {
    create: check_new,
    update: check_change,
};

fn of(object: &dyn AnyObject) -> Option<&Event> {
    let any: &dyn Any = object;
    any.downcast_ref()
}

fn check_new(event: &dyn AnyObject) -> Vec<FieldError> {
    let Some(event) = of(event) else {
        return Vec::new();
    };
    let mut errors = check(event, REPORTER);
    let (names, rules) = (NameRule::DnsSubdomain, MetadataRules::Strict);
    errors.extend(validate_metadata(&event.metadata, true, names, rules));
    check_series(&mut errors, event);
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

/// Checks an update: only the series of an event may change.
fn check_change(new: &dyn AnyObject, old: &dyn AnyObject) -> Vec<FieldError> {
    let (Some(new), Some(old)) = (of(new), of(old)) else {
        return Vec::new();
    };
    let mut errors = check(new, REPORTER);
    let rules = MetadataRules::Strict;
    errors.extend(validate_metadata_change(
        &new.metadata,
        &old.metadata,
        rules,
    ));
    if new.series != old.series {
        check_series(&mut errors, new);
    }
    let shown = |it: &ObjectReference| go_struct::shown(it);
    let about = (&new.involved_object, &old.involved_object);
    stays(&mut errors, "involvedObject", about, shown);
    stays(&mut errors, "reason", (&new.reason, &old.reason), text);
    let messages = (&new.message, &old.message);
    stays(&mut errors, "message", messages, text);
    let sources = (&new.source, &old.source);
    stays(&mut errors, "source", sources, |it| go_struct::shown(it));
    let first = (&new.first_timestamp, &old.first_timestamp);
    stays(&mut errors, "firstTimestamp", first, |it| optional(*it));
    let last = (&new.last_timestamp, &old.last_timestamp);
    stays(&mut errors, "lastTimestamp", last, |it| optional(*it));
    let counts = (&new.count, &old.count);
    stays(&mut errors, "count", counts, |it| BadValue::from(*it));
    // Upstream checks the reason twice.
    stays(&mut errors, "reason", (&new.reason, &old.reason), text);
    stays(&mut errors, "type", (&new.type_, &old.type_), text);
    let times = (&new.event_time, &old.event_time);
    stays(&mut errors, "eventTime", times, |it| optional(*it));
    stays(&mut errors, "action", (&new.action, &old.action), text);
    let related = (&new.related, &old.related);
    stays(&mut errors, "related", related, |it| {
        it.as_deref().map_or_else(BadValue::null, shown)
    });
    let reporters = (&new.reporting_component, &old.reporting_component);
    stays(&mut errors, REPORTER, reporters, text);
    let instances = (&new.reporting_instance, &old.reporting_instance);
    stays(&mut errors, "reportingInstance", instances, text);
    errors
}

fn stays<T: PartialEq>(
    errors: &mut Errors,
    name: &str,
    (new, old): (&T, &T),
    shown: impl Fn(&T) -> BadValue,
) {
    rules::immutable_value(errors, new, old, &FieldPath::new(name), shown);
}

fn text(text: &Str) -> BadValue {
    BadValue::from(text)
}

fn optional(time: Option<impl Display>) -> BadValue {
    time.map_or_else(BadValue::null, |it| BadValue::from(&it.to_string()))
}

fn check_series(errors: &mut Errors, event: &Event) {
    let Some(series) = &event.series else {
        return;
    };
    let path = FieldPath::new("series");
    if series.count < 2 {
        let detail = "should be at least 2";
        errors.push(FieldError::invalid(&path.child("count"), "", detail));
    }
    if series.last_observed_time.is_none() {
        errors.push(FieldError::required(&path.child("lastObservedTime"), ""));
    }
}

/// Checks the namespace. Events about cluster-scoped objects are in the default namespace, or
/// (newer events) in the system namespace. Newer events may also be in a different namespace than
/// the object they are about.
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

/// Checks that an event with an event time names its reporter and its reason.
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

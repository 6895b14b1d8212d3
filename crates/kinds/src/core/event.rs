//! Events, of both groups; they are stored as those of the core group.

pub(crate) mod validation;

use kubist_api::core::v1::Event;
use kubist_apimachinery::FieldError;
use kubist_registry::{Dependents, KindStrategy, MetadataRules};
use std::borrow::Cow;
use std::time::Duration;

/// The group that serves events beside the core group.
pub(crate) const NEWER_GROUP: &str = "events.k8s.io";

#[derive(Debug)]
pub(crate) struct Events;

/// How long upstream keeps them.
const TIME_TO_LIVE: Duration = Duration::from_hours(1);

impl KindStrategy for Events {
    type Kind = Event;

    fn validate(&self, new: &Event) -> Vec<FieldError> {
        validation::check(new, "reportingComponent")
    }
    fn metadata_rules(&self) -> MetadataRules {
        MetadataRules::Common
    }
    fn allow_create_on_update(&self) -> bool {
        true
    }
    fn default_dependents(&self) -> Dependents {
        Dependents::Unsupported
    }
    fn time_to_live(&self, _: &Event) -> Option<Duration> {
        Some(TIME_TO_LIVE)
    }
    fn selectable_fields(&self) -> &'static [&'static str] {
        &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ]
    }
    fn field<'a>(&self, object: &'a Event, field: &str) -> Cow<'a, str> {
        let involved = &object.involved_object;
        Cow::Borrowed(match field {
            "involvedObject.kind" => &involved.kind,
            "involvedObject.namespace" => &involved.namespace,
            "involvedObject.name" => &involved.name,
            "involvedObject.uid" => &involved.uid,
            "involvedObject.apiVersion" => &involved.api_version,
            "involvedObject.resourceVersion" => &involved.resource_version,
            "involvedObject.fieldPath" => &involved.field_path,
            "reason" => &object.reason,
            "reportingComponent" => &object.reporting_component,
            "type" => &object.type_,
            "source" if object.source.component.is_empty() => &object.reporting_component,
            "source" => &object.source.component,
            _ => "",
        })
    }
}

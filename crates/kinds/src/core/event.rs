//! Events of both API groups. They are stored in the core group.

pub(crate) mod validation;

use kubist_api::core::v1::Event;
use kubist_apimachinery::FieldError;
use kubist_registry::{Dependents, KindStrategy, MetadataRules, StrategyFacts};
use std::borrow::Cow;
use std::time::Duration;

/// The second API group that serves events.
pub(crate) const NEWER_GROUP: &str = "events.k8s.io";

#[derive(Debug)]
pub(crate) struct Events;

/// The time to live of events, as upstream.
const TIME_TO_LIVE: Duration = Duration::from_secs(3600);

impl KindStrategy for Events {
    type Kind = Event;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_rules: MetadataRules::Common,
        allow_create_on_update: true,
        default_dependents: Dependents::Unsupported,
        selectable_fields: &[
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
        ],
        time_to_live: Some(TIME_TO_LIVE),
        ..StrategyFacts::PLAIN
    };

    fn validate(&self, new: &Event) -> Vec<FieldError> {
        validation::check(new, "reportingComponent")
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

//! Converts objects between two versions of their kind.
//!
//! Versions are converted as JSON. Fields with the same name are kept, and kinds with a different
//! structure have their own rules here.

mod custom_resource_definition;
mod events;
mod horizontal_pod_autoscaler;
mod resource_claims;

pub(crate) use self::events::event_fields;
pub(crate) use self::horizontal_pod_autoscaler::ANNOTATIONS as AUTOSCALER_ANNOTATIONS;
use kubist_apimachinery::wire::KindFacts;
use serde_json::Value;

/// Converts the JSON of an object to another version of its kind.
pub(crate) fn rearrange(json: &mut Value, from: &KindFacts, to: &KindFacts) {
    match (from.kind, from.group, to.group, from.version, to.version) {
        ("Event", "", "events.k8s.io", ..) => events::to_events_group(json),
        ("Event", "events.k8s.io", "", ..) => events::to_core_group(json),
        ("HorizontalPodAutoscaler", _, _, "v1", "v2") => horizontal_pod_autoscaler::to_v2(json),
        ("HorizontalPodAutoscaler", _, _, "v2", "v1") => horizontal_pod_autoscaler::to_v1(json),
        ("CustomResourceDefinition", .., "v1beta1", "v1") => {
            custom_resource_definition::to_v1(json);
        }
        ("CustomResourceDefinition", .., "v1", "v1beta1") => {
            custom_resource_definition::to_v1beta1(json);
        }
        (kind, "resource.k8s.io", _, "v1beta1", "v1") => resource_claims::to_v1(kind, json),
        (kind, "resource.k8s.io", _, "v1", "v1beta1") => resource_claims::to_v1beta1(kind, json),
        _ => {}
    }
}

/// Renames the member `from` of an object to `to`.
fn rename(json: &mut Value, from: &str, to: &str) {
    if let Some(members) = json.as_object_mut()
        && let Some(value) = members.remove(from)
    {
        members.insert(to.to_owned(), value);
    }
}

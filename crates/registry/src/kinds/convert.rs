//! Converts an object between two versions of its kind.
//!
//! Most versions differ in names and in what they lack, so they meet in JSON: fields of the same
//! name go over, others are lost. Kinds that were rearranged have their own rules.

mod custom_resource_definition;
mod events;
mod horizontal_pod_autoscaler;
mod resource_claims;

pub(crate) use self::events::event_field;
pub(crate) use self::horizontal_pod_autoscaler::ANNOTATIONS as AUTOSCALER_ANNOTATIONS;
use crate::custom::custom;
use kubist_api::{GROUPS, Kind, ResourceFacts, VersionFacts, find_kind};
use kubist_apimachinery::wire::{DecodeContext, merge_json, to_json_value};
use kubist_apimachinery::{AnyObject, Status};
use serde_json::Value;

/// An object of a kind as one of the same kind in another version. What the other has no place for
/// is lost. The same object if they are one.
///
/// # Errors
/// The two are not versions of one kind: the fields of one do not fit into the other.
pub fn convert(
    object: Box<dyn AnyObject>,
    from: &'static Kind,
    to: &'static Kind,
) -> Result<Box<dyn AnyObject>, Status> {
    if std::ptr::eq(from, to) {
        return Ok(object);
    }
    if let (true, Some(custom)) = (to.is_custom(), custom(&*object)) {
        // Versions of custom resources differ in name only.
        let mut converted = custom.clone();
        converted.set_schema(to.schema());
        return Ok(Box::new(converted));
    }
    let mut json = to_json_value(&*object);
    rearrange(&mut json, from, to);
    let bytes = serde_json::to_vec(&json).map_err(Status::internal_error)?;
    let mut converted = to.new_object().ok_or_else(|| {
        Status::internal_error(format_args!("{} has no metadata", to.facts().kind))
    })?;
    merge_json(&mut *converted, &bytes, &mut DecodeContext::new()).map_err(|error| {
        let (from, to) = (from.facts(), to.facts());
        let versions = format!("{} to {}", from.api_version, to.api_version);
        Status::internal_error(format_args!(
            "converting {} from {versions}: {error}",
            to.kind
        ))
    })?;
    Ok(converted)
}

/// The version in which a resource is stored: the first of its group in which discovery lists it.
pub(crate) fn storage_version(
    group: &'static str,
    facts: &'static ResourceFacts,
) -> Option<&'static Kind> {
    let group = GROUPS.iter().find(|it| it.name == group)?;
    let has = |version: &&VersionFacts| {
        let mut resources = version.resources.iter();
        resources.any(|it| it.plural == facts.plural)
    };
    let version = group.versions.iter().find(has)?.version;
    find_kind(group.name, version, facts.kind)
}

fn rearrange(json: &mut Value, from: &Kind, to: &Kind) {
    let (from, to) = (from.facts(), to.facts());
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

/// Moves the member `from` of an object to `to`.
fn rename(json: &mut Value, from: &str, to: &str) {
    if let Some(members) = json.as_object_mut()
        && let Some(value) = members.remove(from)
    {
        members.insert(to.to_owned(), value);
    }
}

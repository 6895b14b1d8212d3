//! Discovery of the served groups, versions and resources.
//!
//! It has two forms: a document per group version, and the aggregated document with an entity tag.
//! Documents are JSON trees built from what the registry serves at the moment.

mod aggregated;
mod legacy;

use crate::response::ApiResponse;
pub(crate) use aggregated::aggregated;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, ETAG, VARY};
use kubist_api::ResourceFacts;
use kubist_apimachinery::wire::{DecodeContext, merge_json};
use kubist_apimachinery::{Status, wire};
use kubist_codec::negotiate::{Negotiated, Transform};
use kubist_codec::{Format, envelope, yaml};
use kubist_registry::ServedGroup;
pub(crate) use legacy::{api_group, api_groups, api_versions, resource_list};
use serde_json::{Value, json};
use std::net::SocketAddr;

/// The form of a discovery document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Names and versions of groups.
    Legacy,
    /// All resources of all groups.
    Aggregated,
}

/// Returns a served group.
pub(crate) fn group<'a>(groups: &'a [ServedGroup], name: &str) -> Option<&'a ServedGroup> {
    groups.iter().find(|group| group.name == *name)
}

/// Adds short names and categories, which both forms omit if empty.
fn add_names(entry: &mut Value, facts: &ResourceFacts) {
    for (key, values) in [
        ("shortNames", facts.short_names),
        ("categories", facts.categories),
    ] {
        if !values.is_empty() {
            entry[key] = json!(values);
        }
    }
}

/// Returns `/api` in the negotiated form.
pub(crate) fn core_versions(
    groups: &[ServedGroup],
    chosen: &Negotiated,
    address: Option<SocketAddr>,
    if_none_match: Option<&str>,
) -> Result<ApiResponse, Status> {
    match chosen.transform {
        Transform::ApiGroupDiscoveryList => {
            tagged(chosen, &aggregated(groups, true), if_none_match)
        }
        _ => document(chosen, &api_versions(groups, address)),
    }
}

/// Returns `/apis` in the negotiated form. `add` adds the groups of other servers.
pub(crate) fn groups(
    groups: &[ServedGroup],
    chosen: &Negotiated,
    if_none_match: Option<&str>,
    add: impl FnOnce(&mut Vec<Value>, Form),
) -> Result<ApiResponse, Status> {
    let (mut made, key, form) = match chosen.transform {
        Transform::ApiGroupDiscoveryList => (aggregated(groups, false), "items", Form::Aggregated),
        _ => (api_groups(groups), "groups", Form::Legacy),
    };
    if let Some(list) = made[key].as_array_mut() {
        add(list, form);
    }
    match form {
        Form::Aggregated => tagged(chosen, &made, if_none_match),
        Form::Legacy => document(chosen, &made),
    }
}

/// Encodes a document in the negotiated format.
pub(crate) fn document(chosen: &Negotiated, document: &Value) -> Result<ApiResponse, Status> {
    let bytes = encode(chosen, document)?;
    Ok(ApiResponse::whole(chosen.content_type(), bytes))
}

fn tagged(
    chosen: &Negotiated,
    document: &Value,
    if_none_match: Option<&str>,
) -> Result<ApiResponse, Status> {
    let bytes = encode(chosen, document)?;
    let tag = format!("\"{:016X}\"", crate::response::etag::of_bytes(&bytes));
    let mut response = if if_none_match == Some(tag.as_str()) {
        ApiResponse::not_modified()
    } else {
        ApiResponse::whole(chosen.content_type(), bytes)
    };
    response = response
        .with_header(VARY, "Accept")
        .with_header(CACHE_CONTROL, "public");
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers.insert(ETAG, tag);
    }
    Ok(response)
}

fn encode(chosen: &Negotiated, document: &Value) -> Result<Vec<u8>, Status> {
    match chosen.format {
        Format::Json => {
            if chosen.pretty {
                return serde_json::to_vec_pretty(document).map_err(Status::internal_error);
            }
            let mut bytes = serde_json::to_vec(document).map_err(Status::internal_error)?;
            bytes.push(b'\n');
            Ok(bytes)
        }
        Format::Yaml => Ok(yaml::to_yaml(document).into_bytes()),
        Format::Protobuf => protobuf(document),
    }
}

/// Encodes a document as the message of its kind.
fn protobuf(document: &Value) -> Result<Vec<u8>, Status> {
    let text = |key: &str| document.get(key).and_then(Value::as_str);
    let kind = text("kind").unwrap_or_default();
    // The core group's documents have no `apiVersion`.
    let said = text("apiVersion");
    let api_version = said.unwrap_or("v1");
    let found = kubist_api::find_kind_by_api_version(api_version, kind)
        .or_else(|| kubist_api::find_kind_by_api_version("meta.k8s.io/v1", kind))
        .ok_or_else(|| Status::internal_error(format_args!("{kind} has no protobuf form")))?;
    let json = serde_json::to_vec(document).map_err(Status::internal_error)?;
    let mut message = found.new_message();
    merge_json(&mut *message, &json, &mut DecodeContext::new()).map_err(Status::internal_error)?;
    let raw = wire::to_protobuf(&*message);
    Ok(envelope::wrap(said.unwrap_or_default(), kind, &raw))
}

#[cfg(test)]
mod tests;

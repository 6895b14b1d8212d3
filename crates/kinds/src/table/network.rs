//! Rows of Ingresses, network policies and service address kinds.

use super::age::age;
use super::listing::{FirstFew, joined, text_or};
use super::{cells, service};
use kubist_api::networking::v1::{IPAddress, Ingress, IngressClass, NetworkPolicy, ServiceCIDR};
use kubist_apimachinery::{Time, format_label_selector};
use serde_json::Value;

/// The maximum number of hosts of an Ingress shown.
const HOSTS_MAX: usize = 3;

pub(super) fn ingress(object: &Ingress, now: Time) -> Vec<Value> {
    let spec = &object.spec;
    let points = &object.status.load_balancer.ingress;
    let addresses = service::addresses(points.iter().map(|it| (&it.ip, &it.hostname)));
    cells![
        &*object.metadata.name,
        spec.ingress_class_name.as_deref().unwrap_or("<none>"),
        hosts(object),
        joined(addresses, ","),
        if spec.tls.is_empty() { "80" } else { "80, 443" },
        age(&object.metadata, now),
    ]
}

fn hosts(ingress: &Ingress) -> String {
    let mut hosts = FirstFew::new(HOSTS_MAX);
    let named = ingress.spec.rules.iter().filter(|it| !it.host.is_empty());
    named.for_each(|rule| hosts.push(|| rule.host.to_string()));
    text_or(&hosts.cell(","), "*").to_owned()
}

pub(super) fn ingress_class(object: &IngressClass, now: Time) -> Vec<Value> {
    let parameters = object
        .spec
        .parameters
        .as_deref()
        .map(|it| match &it.api_group {
            Some(group) => format!("{}.{group}/{}", it.kind, it.name),
            None => format!("{}/{}", it.kind, it.name),
        });
    cells![
        &*object.metadata.name,
        &*object.spec.controller,
        parameters.unwrap_or_else(|| "<none>".to_owned()),
        age(&object.metadata, now),
    ]
}

pub(super) fn network_policy(object: &NetworkPolicy, now: Time) -> Vec<Value> {
    cells![
        &*object.metadata.name,
        format_label_selector(Some(&object.spec.pod_selector)),
        age(&object.metadata, now),
    ]
}

pub(super) fn ip_address(object: &IPAddress, _: Time) -> Vec<Value> {
    let parent = object.spec.parent_ref.as_deref().map(|it| {
        let dot = if it.group.is_empty() { "" } else { "." };
        let parts = [&*it.namespace, &*it.name];
        let parts = joined(parts.into_iter().filter(|it| !it.is_empty()), "/");
        format!("{}{dot}{}/{parts}", it.group, it.resource)
    });
    cells![
        &*object.metadata.name,
        parent.unwrap_or_else(|| "<none>".to_owned())
    ]
}

pub(super) fn service_cidr(object: &ServiceCIDR, now: Time) -> Vec<Value> {
    cells![
        &*object.metadata.name,
        joined(&object.spec.cidrs, ","),
        age(&object.metadata, now),
    ]
}

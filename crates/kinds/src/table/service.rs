//! Rows of Services.

use super::age::age;
use super::cells;
use super::listing::{joined, labels, text_or};
use kubist_api::core::v1::{Service, ServicePort};
use kubist_apimachinery::{Str, Time};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) fn service(object: &Service, now: Time) -> Vec<Value> {
    let spec = &object.spec;
    let ip = spec.cluster_ips.first().unwrap_or(&spec.cluster_ip);
    let ports = joined(spec.ports.iter().map(port), ",");
    cells![
        &*object.metadata.name,
        &*spec.type_,
        text_or(ip, "<none>"),
        external_ip(object),
        text_or(&ports, "<none>"),
        age(&object.metadata, now),
        labels(&spec.selector),
    ]
}

fn port(port: &ServicePort) -> String {
    match port.node_port {
        ..=0 => format!("{}/{}", port.port, port.protocol),
        node_port => format!("{}:{node_port}/{}", port.port, port.protocol),
    }
}

fn external_ip(object: &Service) -> String {
    let external = &object.spec.external_ips;
    match &*object.spec.type_ {
        "ClusterIP" | "NodePort" if external.is_empty() => "<none>".to_owned(),
        "ClusterIP" | "NodePort" => joined(external, ","),
        "LoadBalancer" => {
            let points = &object.status.load_balancer.ingress;
            let balancers = addresses(points.iter().map(|it| (&it.ip, &it.hostname)));
            let all = balancers.into_iter().chain(external.iter().map(|it| &**it));
            text_or(&joined(all, ","), "<pending>").to_owned()
        }
        "ExternalName" => object.spec.external_name.to_string(),
        _ => "<unknown>".to_owned(),
    }
}

/// Formats the ingress points of a load balancer: each as its address, or else its host name.
pub(super) fn addresses<'a>(points: impl Iterator<Item = (&'a Str, &'a Str)>) -> BTreeSet<&'a str> {
    let address = |(ip, hostname): (&'a Str, &'a Str)| text_or(ip, hostname);
    points.map(address).filter(|it| !it.is_empty()).collect()
}

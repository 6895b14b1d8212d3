//! Rows of Endpoints and EndpointSlices, with the first few addresses.

use super::age::age;
use super::cells;
use super::listing::{FirstFew, text_or};
use kubist_api::core::v1::Endpoints;
use kubist_api::discovery::v1::EndpointSlice;
use kubist_apimachinery::Time;
use serde_json::Value;

/// The maximum number of addresses or ports shown.
const SHOWN_MAX: usize = 3;

pub(super) fn endpoints(object: &Endpoints, now: Time) -> Vec<Value> {
    let mut list = FirstFew::new(SHOWN_MAX);
    for subset in &object.subsets {
        // Without ports, only the addresses are shown.
        if subset.ports.is_empty() {
            subset
                .addresses
                .iter()
                .for_each(|it| list.push(|| it.ip.to_string()));
        }
        for port in &subset.ports {
            for address in &subset.addresses {
                list.push(|| host_and_port(&address.ip, port.port));
            }
        }
    }
    let shown = if object.subsets.is_empty() {
        "<none>".to_owned()
    } else {
        list.cell(",")
    };
    cells![&*object.metadata.name, shown, age(&object.metadata, now)]
}

fn host_and_port(host: &str, port: i32) -> String {
    if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

pub(super) fn endpoint_slice(object: &EndpointSlice, now: Time) -> Vec<Value> {
    let mut ports = FirstFew::new(SHOWN_MAX);
    for port in &object.ports {
        ports.push(|| match (port.port, &port.name) {
            (Some(number), _) => number.to_string(),
            (None, Some(name)) => name.to_string(),
            (None, None) => "*".to_owned(),
        });
    }
    let mut addresses = FirstFew::new(SHOWN_MAX);
    for address in object.endpoints.iter().flat_map(|it| &it.addresses) {
        addresses.push(|| address.to_string());
    }
    cells![
        &*object.metadata.name,
        &*object.address_type,
        text_or(&ports.cell(","), "<unset>"),
        text_or(&addresses.cell(","), "<unset>"),
        age(&object.metadata, now),
    ]
}

//! Warnings about duplicate container ports.

use kubist_api::core::v1::{Container, ContainerPort};
use kubist_apimachinery::{FieldPath, Str};
use std::collections::BTreeMap;

/// The maximum number of ports with one number that another port is compared with.
const PORTS_COMPARED: usize = 16;

/// The ports of all containers so far.
#[derive(Default)]
pub(super) struct Ports {
    by_number: BTreeMap<(i32, Str), Vec<(ContainerPort, FieldPath)>>,
    by_name: BTreeMap<Str, FieldPath>,
    names: Vec<String>,
}

impl Ports {
    pub(super) fn add(&mut self, found: &mut Vec<String>, container: &Container, path: &FieldPath) {
        for (index, port) in container.ports.iter().enumerate() {
            let path = path.child("ports").index(index);
            if !port.host_ip.is_empty() && port.host_port == 0 {
                found.push(format!(
                    "{path}: hostIP set without hostPort: {}",
                    shown(port)
                ));
            }
            let number = (port.container_port, port.protocol.clone());
            let others = self.by_number.entry(number).or_default();
            for (other, at) in others.iter() {
                if let Some(how) = clash(port, other) {
                    found.push(format!("{path}: {how} port definition with {at}"));
                }
            }
            if others.len() < PORTS_COMPARED {
                others.push((port.clone(), path.clone()));
            }
            if port.name.is_empty() {
                continue;
            }
            if let Some(at) = self.by_name.get(&port.name) {
                self.names.push(format!(
                    "{path}: duplicate port name {:?} with {at}, services and probes that select \
                     ports by name will use {at}",
                    port.name.as_str()
                ));
            } else {
                self.by_name.insert(port.name.clone(), path);
            }
        }
        found.append(&mut self.names);
    }
}

fn clash(port: &ContainerPort, other: &ContainerPort) -> Option<&'static str> {
    let unspecified = |it: &ContainerPort| it.host_ip.is_empty();
    if port.host_ip == other.host_ip && port.host_port == other.host_port {
        Some("duplicate")
    } else if port.host_port == 0 || other.host_port == 0 {
        Some("overlapping")
    } else if port.host_port == other.host_port && unspecified(port) != unspecified(other) {
        Some("dangerously ambiguous")
    } else {
        None
    }
}

/// Formats a port as Go does.
fn shown(port: &ContainerPort) -> String {
    format!(
        "{{Name:{} HostPort:{} ContainerPort:{} Protocol:{} HostIP:{}}}",
        port.name, port.host_port, port.container_port, port.protocol, port.host_ip
    )
}

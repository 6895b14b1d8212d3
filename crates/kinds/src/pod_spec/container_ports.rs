//! Validation of container ports.

use crate::pod_spec::subject::PodSubject;
use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::{Container, ContainerPort, PodSpec};
use kubist_apimachinery::{FieldError, FieldPath, validate_name};
use std::collections::BTreeSet;

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

/// Checks the ports of one container.
pub(crate) fn check(errors: &mut Errors, ports: &[ContainerPort], path: &FieldPath) {
    let mut names = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let path = path.index(index);
        if !port.name.is_empty() {
            let path = path.child("name");
            let problems = validate_name::port_name(&port.name);
            if problems.is_empty() && !names.insert(&port.name) {
                errors.push(FieldError::duplicate(&path, &port.name));
            }
            let wrong = |problem| FieldError::invalid(&path, &port.name, problem);
            errors.extend(problems.into_iter().map(wrong));
        }
        if port.container_port == 0 {
            errors.push(FieldError::required(&path.child("containerPort"), ""));
        } else {
            rules::port_number(errors, port.container_port, &path.child("containerPort"));
        }
        if port.host_port != 0 {
            rules::port_number(errors, port.host_port, &path.child("hostPort"));
        }
        rules::word(errors, &port.protocol, &PROTOCOLS, &path.child("protocol"));
    }
}

/// Checks that no two containers that run together use the same host port.
pub(crate) fn host_ports_are_unique(
    errors: &mut Errors,
    containers: &[Container],
    path: &FieldPath,
) {
    let mut taken = BTreeSet::new();
    for (index, container) in containers.iter().enumerate() {
        let path = path.index(index).child("ports");
        for (number, port) in container.ports.iter().enumerate() {
            let key = format!("{}/{}/{}", port.protocol, port.host_ip, port.host_port);
            if port.host_port != 0 && !taken.insert(key.clone()) {
                let path = path.index(number).child("hostPort");
                errors.push(FieldError::duplicate(&path, &key));
            }
        }
    }
}

/// Checks that host ports equal container ports in the host network. Templates may omit the host
/// ports.
pub(crate) fn check_host_network(
    errors: &mut Errors,
    spec: &PodSpec,
    subject: &PodSubject<'_>,
    path: &FieldPath,
) {
    if !spec.host_network {
        return;
    }
    for (index, container) in spec.containers.iter().enumerate() {
        let path = path.index(index).child("ports");
        for (number, port) in container.ports.iter().enumerate() {
            let is_checked = subject.is_pod || port.host_port != 0;
            if is_checked && port.host_port != port.container_port {
                let path = path.index(number).child("hostPort");
                let detail = "must match `containerPort` when `hostNetwork` is true";
                errors.push(FieldError::invalid(&path, port.host_port, detail));
            }
        }
    }
}

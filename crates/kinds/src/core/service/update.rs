//! Validation of Service updates, and the fields that an update drops.

use crate::core::service;
use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::{Service, ServiceSpec};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Str};
use std::collections::BTreeSet;

const SET_ONCE: &str = "may not change once set";
const SINGLE: &str = "SingleStack";

/// Drops fields that do not apply to the new type, unless the user changed them.
pub(crate) fn drop_unused(new: &mut Service, old: &Service) {
    let (now, before) = (&mut new.spec, &old.spec);
    if before.type_ != "ExternalName" && now.type_ == "ExternalName" {
        if now.cluster_ip == before.cluster_ip && now.cluster_ips == before.cluster_ips {
            now.cluster_ip = Str::default();
            now.cluster_ips.clear();
        }
        if now.ip_families == before.ip_families {
            now.ip_families.clear();
        }
        if now.ip_family_policy == before.ip_family_policy {
            now.ip_family_policy = None;
        }
    }
    if has_node_ports(before) && !has_node_ports(now) && has_no_other_ports(now, before) {
        for port in &mut now.ports {
            port.node_port = 0;
        }
    }
    let same_port = now.health_check_node_port == before.health_check_node_port;
    let has_check = service::validation::has_health_check;
    if has_check(before) && !has_check(now) && same_port {
        now.health_check_node_port = 0;
    }
    if before.type_ == "LoadBalancer" && now.type_ != "LoadBalancer" {
        let allocates = &mut now.allocate_load_balancer_node_ports;
        if *allocates == before.allocate_load_balancer_node_ports {
            *allocates = None;
        }
        if now.load_balancer_class == before.load_balancer_class {
            now.load_balancer_class = None;
        }
    }
    let was_external = service::validation::is_external(before);
    let same_policy = now.external_traffic_policy == before.external_traffic_policy;
    if was_external && !service::validation::is_external(now) && same_policy {
        now.external_traffic_policy = Str::default();
    }
    if new.spec.type_ != "LoadBalancer" {
        new.status.load_balancer = kubist_api::core::v1::LoadBalancerStatus::default();
    }
}

fn has_node_ports(spec: &ServiceSpec) -> bool {
    spec.type_ == "NodePort" || spec.type_ == "LoadBalancer"
}

/// Reports whether every node port was there before.
fn has_no_other_ports(now: &ServiceSpec, before: &ServiceSpec) -> bool {
    let had: BTreeSet<i32> = before.ports.iter().map(|it| it.node_port).collect();
    let mut wanted = now.ports.iter().map(|it| it.node_port);
    wanted.all(|port| port == 0 || had.contains(&port))
}

/// Checks that allocated values change only together with the type.
pub(crate) fn check(new: &Service, old: &Service) -> Errors {
    let path = FieldPath::new("spec");
    let (now, before) = (&new.spec, &old.spec);
    let mut errors = Vec::new();
    if now.type_ != "ExternalName" && before.type_ != "ExternalName" {
        check_addresses(&mut errors, now, before, &path);
        check_families(&mut errors, now, before, &path);
    }
    let balance = now.type_ == "LoadBalancer" && before.type_ == "LoadBalancer";
    if balance && now.load_balancer_class != before.load_balancer_class {
        let shown = shown(now.load_balancer_class.as_ref());
        let path = path.child("loadBalancerClass");
        errors.push(FieldError::invalid(&path, shown, SET_ONCE));
    }
    service::validation::check_class(&mut errors, now, &path);
    let has_check = service::validation::has_health_check;
    let same_port = now.health_check_node_port == before.health_check_node_port;
    if has_check(before) && has_check(now) && !same_port {
        let path = path.child("healthCheckNodePort");
        errors.push(FieldError::forbidden(&path, "field is immutable"));
    }
    errors
}

fn check_addresses(errors: &mut Errors, now: &ServiceSpec, before: &ServiceSpec, path: &FieldPath) {
    if service::validation::is_headless(now) && service::validation::is_headless(before) {
        return;
    }
    let at = |index| path.child("clusterIPs").index(index);
    let shown = || rules::list(&now.cluster_ips);
    let (list, old_list) = (&now.cluster_ips, &before.cluster_ips);
    let changed = changed(list, old_list);
    if list.len() == old_list.len() {
        errors.extend(changed.map(|index| FieldError::invalid(&at(index), shown(), SET_ONCE)));
        return;
    }
    let released = list.len() < old_list.len();
    if released && list.is_empty() {
        let detail = "primary clusterIP can not be unset";
        errors.push(FieldError::invalid(&at(0), shown(), detail));
    }
    if first_changed(list, old_list) {
        errors.push(FieldError::invalid(&at(0), shown(), SET_ONCE));
    }
    if released && list.len() == 1 {
        check_release(errors, now, "clusterIP", path);
    }
}

fn check_families(errors: &mut Errors, now: &ServiceSpec, before: &ServiceSpec, path: &FieldPath) {
    if service::validation::is_headless(now) || service::validation::is_headless(before) {
        return;
    }
    // Upstream's quirk: the path always has the first index, and the value is sometimes the
    // addresses.
    let at = path.child("ipFamilies").index(0);
    let (list, old_list) = (&now.ip_families, &before.ip_families);
    if list.len() == old_list.len() {
        let error = |_| FieldError::invalid(&at, rules::list(list), SET_ONCE);
        errors.extend(changed(list, old_list).map(error));
        return;
    }
    let released = list.len() < old_list.len();
    if released && now.cluster_ips.is_empty() {
        let detail = "primary ipFamily can not be unset";
        errors.push(FieldError::invalid(&at, rules::list(list), detail));
    }
    if first_changed(list, old_list) {
        let shown = rules::list(&now.cluster_ips);
        errors.push(FieldError::invalid(&at, shown, SET_ONCE));
    }
    if released && list.len() == 1 {
        check_release(errors, now, "ipFamily", path);
    }
}

/// Checks that the secondary family is released only if the user requests a single family.
fn check_release(errors: &mut Errors, now: &ServiceSpec, what: &str, path: &FieldPath) {
    if now.ip_family_policy.as_deref() != Some(SINGLE) {
        let detail = format!("must be set to 'SingleStack' when releasing the secondary {what}");
        let shown = shown(now.ip_family_policy.as_ref());
        errors.push(FieldError::invalid(
            &path.child("ipFamilyPolicy"),
            shown,
            detail,
        ));
    }
}

fn changed<'a>(now: &'a [Str], before: &'a [Str]) -> impl Iterator<Item = usize> + 'a {
    let pairs = now.iter().zip(before).enumerate();
    pairs
        .filter(|(_, (now, before))| now != before)
        .map(|it| it.0)
}

fn first_changed(now: &[Str], before: &[Str]) -> bool {
    matches!((now.first(), before.first()), (Some(now), Some(before)) if now != before)
}

fn shown(text: Option<&Str>) -> BadValue {
    text.map_or_else(BadValue::null, BadValue::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(type_: &str, addresses: &[&str]) -> Service {
        let mut service = Service::default();
        let spec = &mut service.spec;
        spec.type_ = type_.into();
        spec.cluster_ips = addresses.iter().map(|it| (*it).into()).collect();
        spec.cluster_ip = spec.cluster_ips.first().cloned().unwrap_or_default();
        service
    }

    fn problems(new: &Service, old: &Service) -> Vec<String> {
        let errors = check(new, old);
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_address_stays_once_it_is_set() {
        let old = service("ClusterIP", &["10.0.0.1"]);
        assert_eq!(problems(&old, &old), [""; 0]);
        assert_eq!(
            problems(&service("ClusterIP", &["10.0.0.2"]), &old),
            ["spec.clusterIPs[0]: Invalid value: [\"10.0.0.2\"]: may not change once set"]
        );
        assert_eq!(
            problems(&service("ClusterIP", &[]), &old),
            ["spec.clusterIPs[0]: Invalid value: null: primary clusterIP can not be unset"]
        );
        assert_eq!(problems(&service("ExternalName", &[]), &old), [""; 0]);
    }

    #[test]
    fn the_second_family_is_released_only_with_single_stack_requested() {
        let old = service("ClusterIP", &["10.0.0.1", "fd00::1"]);
        let mut new = service("ClusterIP", &["10.0.0.1"]);
        assert_eq!(
            problems(&new, &old),
            [
                "spec.ipFamilyPolicy: Invalid value: null: must be set to 'SingleStack' when \
              releasing the secondary clusterIP"
            ]
        );
        new.spec.ip_family_policy = Some(SINGLE.into());
        assert_eq!(problems(&new, &old), [""; 0]);
    }

    #[test]
    fn another_type_drops_what_it_has_no_use_for_unless_it_was_changed() {
        let mut old = service("LoadBalancer", &["10.0.0.1"]);
        old.spec.load_balancer_class = Some("example.com/lb".into());
        old.spec.external_traffic_policy = "Local".into();
        old.spec.health_check_node_port = 30_000;
        let mut new = old.clone();
        new.spec.type_ = "ClusterIP".into();
        drop_unused(&mut new, &old);
        assert_eq!(new.spec, service("ClusterIP", &["10.0.0.1"]).spec);
        let mut new = old.clone();
        new.spec.type_ = "ClusterIP".into();
        new.spec.load_balancer_class = Some("example.com/other".into());
        drop_unused(&mut new, &old);
        assert_eq!(
            problems(&new, &old),
            ["spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"]
        );
    }
}

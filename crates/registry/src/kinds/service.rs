//! Services. Addresses and ports of nodes are allotted elsewhere.

use crate::{Admission, BoxFuture, KindStrategy, NameRule, StatusKeeps};
use kubist_api::core::v1::Service;
use kubist_apimachinery::{FieldError, FieldPath, GroupKind, IntOrString, Status};

use super::fill;
use super::service_rules;

#[derive(Debug)]
pub(super) struct Services;

/// How long a client stays with one endpoint.
const AFFINITY_SECONDS: i32 = 10_800;

impl KindStrategy for Services {
    type Kind = Service;

    fn apply_defaults(&self, object: &mut Service) {
        let spec = &mut object.spec;
        fill::text(&mut spec.session_affinity, "None");
        match spec.session_affinity.as_str() {
            "None" => spec.session_affinity_config = None,
            "ClientIP" => {
                let config = spec.session_affinity_config.get_or_insert_default();
                let client = config.client_ip.get_or_insert_default();
                client.timeout_seconds.get_or_insert(AFFINITY_SECONDS);
            }
            _ => {}
        }
        fill::text(&mut spec.type_, "ClusterIP");
        for port in &mut spec.ports {
            fill::text(&mut port.protocol, "TCP");
            let empty = match &port.target_port {
                IntOrString::Int(number) => *number == 0,
                IntOrString::String(name) => name.is_empty(),
            };
            if empty {
                port.target_port = IntOrString::Int(port.port);
            }
        }
        if service_rules::is_external(spec) {
            fill::text(&mut spec.external_traffic_policy, "Cluster");
        }
        if matches!(
            spec.type_.as_str(),
            "ClusterIP" | "NodePort" | "LoadBalancer"
        ) {
            fill::option(&mut spec.internal_traffic_policy, "Cluster");
        }
        if spec.type_ == "LoadBalancer" {
            spec.allocate_load_balancer_node_ports.get_or_insert(true);
        }
    }
    fn admit<'a>(
        &'a self,
        _: &'a Admission<'a>,
        new: &'a mut Service,
        _: Option<&'a Service>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(std::future::ready(refuse_second_family(new)))
    }
    fn validate(&self, new: &Service) -> Vec<FieldError> {
        service_rules::check(new)
    }
    fn prepare_for_update(&self, _: &crate::RequestContext, new: &mut Service, old: &Service) {
        drop_unused(new, old);
    }
    fn validate_update(&self, new: &Service, old: &Service) -> Vec<FieldError> {
        let mut errors = service_rules::check_update(new, old);
        errors.extend(service_rules::check(new));
        errors
    }
    fn validate_status_update(&self, new: &Service, _: &Service) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("status")
            .child("loadBalancer")
            .child("ingress");
        for (index, ingress) in new.status.load_balancer.ingress.iter().enumerate() {
            let path = path.index(index);
            if !ingress.ip.is_empty() {
                super::address_rules::ip(&mut errors, &ingress.ip, &path.child("ip"));
            }
        }
        errors
    }
    fn name_rule(&self) -> NameRule {
        NameRule::DnsLabel
    }
    fn status_keeps(&self) -> StatusKeeps {
        StatusKeeps::Nothing
    }
    fn returns_deleted(&self) -> bool {
        true
    }
    fn allow_create_on_update(&self) -> bool {
        true
    }
    fn selectable_fields(&self) -> &'static [&'static str] {
        &["spec.clusterIP", "spec.type"]
    }
}

/// Drops what the new type has no use for, if the user did not change it.
fn drop_unused(new: &mut Service, old: &Service) {
    let (now, before) = (&mut new.spec, &old.spec);
    if now.type_ == before.type_ {
        return;
    }
    let external = service_rules::is_external(now);
    if !external && now.external_traffic_policy == before.external_traffic_policy {
        now.external_traffic_policy = kubist_apimachinery::Str::default();
    }
    if now.type_ == "ExternalName" && now.internal_traffic_policy == before.internal_traffic_policy
    {
        now.internal_traffic_policy = None;
    }
    if now.type_ != "LoadBalancer" {
        let ports = &mut now.allocate_load_balancer_node_ports;
        if *ports == before.allocate_load_balancer_node_ports {
            *ports = None;
        }
        if now.load_balancer_class == before.load_balancer_class {
            now.load_balancer_class = None;
        }
    }
    if now.type_ != "ExternalName" && now.external_name == before.external_name {
        now.external_name = kubist_apimachinery::Str::default();
    }
}

/// The cluster has one family of addresses. Upstream says so before it checks anything else.
fn refuse_second_family(service: &Service) -> Result<(), Status> {
    let policy = service.spec.ip_family_policy.as_deref();
    if policy != Some("RequireDualStack") || service_rules::is_headless_without_selector(service) {
        return Ok(());
    }
    let path = FieldPath::new("spec").child("ipFamilyPolicy");
    let detail = "this cluster is not configured for dual-stack services";
    let error = FieldError::invalid(&path, "RequireDualStack", detail);
    Err(Status::invalid(
        &GroupKind::new("", "Service"),
        &service.metadata.name,
        &[error],
    ))
}

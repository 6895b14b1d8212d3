//! Services. `service_allocation` allocates their addresses and node ports.

pub(crate) mod addresses;
pub(crate) mod update;
pub(crate) mod validation;
pub(crate) mod warnings;

use crate::shared::rules::{self, Errors};
use crate::shared::{self, fill};
use kubist_api::core::v1::Service;
use kubist_apimachinery::{FieldError, FieldPath, GroupKind, IntOrString, Status};
use kubist_registry::{
    Admission, BoxFuture, ForKind, KindStrategy, NameRule, StatusKeeps, Strategy, StrategyFacts,
};

#[derive(Debug)]
pub(crate) struct Services;

/// The default duration of client IP session affinity.
const AFFINITY_SECONDS: i32 = 10_800;

impl KindStrategy for Services {
    type Kind = Service;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        name_rule: NameRule::DnsLabel,
        status_keeps: StatusKeeps::Nothing,
        allow_create_on_update: true,
        returns_deleted: true,
        selectable_fields: &["spec.clusterIP", "spec.type"],
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        (name == "status").then_some(&ForKind(ServicesStatus))
    }
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
        if validation::is_external(spec) {
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
            let balancer = &mut object.status.load_balancer;
            for ingress in balancer.ingress.iter_mut().filter(|it| !it.ip.is_empty()) {
                fill::option(&mut ingress.ip_mode, "VIP");
            }
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
    fn warnings(&self, new: &Service, _: Option<&Service>) -> Vec<String> {
        warnings::of(new)
    }
    fn validate(&self, new: &Service) -> Vec<FieldError> {
        validation::check(new, None)
    }
    fn prepare_for_update(
        &self,
        _: &kubist_registry::RequestContext,
        new: &mut Service,
        old: &Service,
    ) {
        update::drop_unused(new, old);
    }
    fn validate_update(&self, new: &Service, old: &Service) -> Vec<FieldError> {
        let mut errors = update::check(new, old);
        errors.extend(validation::check(new, Some(old)));
        errors
    }
}

/// The status strategy of [`Services`].
#[derive(Debug)]
struct ServicesStatus;

impl KindStrategy for ServicesStatus {
    type Kind = Service;

    fn validate_update(&self, new: &Service, old: &Service) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("status").child("loadBalancer");
        check_balancer_status(&mut errors, new, old, &path.child("ingress"));
        errors
    }
}

/// Checks the ingress points of a load balancer.
fn check_balancer_status(errors: &mut Errors, new: &Service, old: &Service, path: &FieldPath) {
    let ingress = &new.status.load_balancer.ingress;
    if new.spec.type_ != "LoadBalancer" && !ingress.is_empty() {
        let detail = "may only be used when `spec.type` is 'LoadBalancer'";
        errors.push(FieldError::forbidden(path, detail));
        return;
    }
    let kept = old.status.load_balancer.ingress.iter();
    let kept = shared::addresses::kept(kept.map(|it| &it.ip));
    for (index, it) in ingress.iter().enumerate() {
        let path = path.index(index);
        if !it.ip.is_empty() {
            shared::addresses::ip_unless_kept(errors, &it.ip, &kept, &path.child("ip"));
        }
        let at = path.child("ipMode");
        match it.ip_mode.as_deref() {
            None if it.ip.is_empty() => {}
            None => {
                let detail = "must be specified when `ip` is set";
                errors.push(FieldError::required(&at, detail));
            }
            Some(_) if it.ip.is_empty() => {
                let detail = "may not be specified when `ip` is not set";
                errors.push(FieldError::forbidden(&at, detail));
            }
            Some(mode) => rules::one_of(errors, mode, &["Proxy", "VIP"], &at),
        }
        if !it.hostname.is_empty() {
            shared::addresses::host(errors, &it.hostname, &path.child("hostname"));
        }
    }
}

/// Refuses dual-stack services: the cluster has one IP family. Upstream does so before all other
/// checks.
fn refuse_second_family(service: &Service) -> Result<(), Status> {
    let policy = service.spec.ip_family_policy.as_deref();
    if policy != Some("RequireDualStack") || validation::is_headless_without_selector(service) {
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

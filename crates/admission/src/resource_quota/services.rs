//! How Services count.

use crate::amounts::Amounts;
use kubist_api::core::v1::Service;
use kubist_apimachinery::Quantity;

/// What a quota can limit of Services.
pub(super) const NAMES: [&str; 4] = [
    "count/services",
    "services",
    "services.nodeports",
    "services.loadbalancers",
];

/// Returns the usage of a Service. Node ports count whether or not they are allocated yet.
pub(super) fn usage(service: &Service) -> Amounts {
    let spec = &service.spec;
    let balances = spec.type_ == "LoadBalancer";
    let allocates = match spec.type_.as_str() {
        "NodePort" => true,
        "LoadBalancer" => spec.allocate_load_balancer_node_ports != Some(false),
        _ => false,
    };
    let ports = if allocates {
        spec.ports.len()
    } else if balances {
        spec.ports.iter().filter(|it| it.node_port != 0).count()
    } else {
        0
    };
    let numbers = [
        1,
        1,
        i64::try_from(ports).unwrap_or(i64::MAX),
        i64::from(balances),
    ];
    let numbers = numbers.map(Quantity::from);
    NAMES.map(Into::into).into_iter().zip(numbers).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amounts::text;
    use kubist_api::core::v1::ServicePort;

    #[test]
    fn node_ports_count_by_what_will_be_allocated() {
        for (kind, allocates, expected) in [
            (
                "ClusterIP",
                None,
                "services.loadbalancers=0,services.nodeports=0",
            ),
            (
                "NodePort",
                None,
                "services.loadbalancers=0,services.nodeports=2",
            ),
            (
                "LoadBalancer",
                None,
                "services.loadbalancers=1,services.nodeports=2",
            ),
            (
                "LoadBalancer",
                Some(false),
                "services.loadbalancers=1,services.nodeports=1",
            ),
        ] {
            let mut service = Service::default();
            service.spec.type_ = kind.into();
            service.spec.allocate_load_balancer_node_ports = allocates;
            service.spec.ports = vec![ServicePort::default(), ServicePort::default()];
            service.spec.ports[0].node_port = 30_000;
            let expected = format!("count/services=1,services=1,{expected}");
            assert_eq!(text(&usage(&service)), expected, "{kind} {allocates:?}");
        }
    }
}

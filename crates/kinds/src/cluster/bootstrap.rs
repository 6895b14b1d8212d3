//! The initial objects of every cluster, as upstream creates them: namespaces, the API server's
//! service, priority classes, the administrator role.

use super::{Cluster, default_flows, default_roles};
use crate::service_allocation::ServiceAllocation;
use kubist_api::core::v1::{Namespace, Service, ServicePort};
use kubist_api::networking::v1::ServiceCIDR;
use kubist_api::rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, RoleRef, Subject};
use kubist_api::scheduling::v1::PriorityClass;
use kubist_apimachinery::{Condition, IntOrString, KubeObject, ObjectMeta, Resource, Status, Str};
use kubist_registry::{Replacement, RequestContext, Stores, UpdatePath, User};
use std::any::Any;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// The namespaces that always exist.
const NAMESPACES: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];
/// Priority classes for system-critical pods: name, value, description.
const PRIORITY_CLASSES: [(&str, i32, &str); 2] = [
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another \
         node if necessary.",
    ),
];

/// Returns a request context for the server's own requests.
pub(super) fn request(stores: &Arc<Stores>) -> RequestContext {
    let mut cx = stores.request(User {
        name: "system:apiserver".into(),
        groups: vec!["system:masters".into()],
        ..User::default()
    });
    // The manager of what the server itself writes, as upstream.
    cx.user_agent = "kube-apiserver".into();
    cx
}

/// Creates missing objects. Existing objects are not changed.
pub(super) async fn run(stores: &Arc<Stores>, cluster: &Cluster) -> Result<(), Status> {
    let cx = &request(stores);
    for name in NAMESPACES {
        let namespace = Namespace {
            metadata: named("", name),
            ..Namespace::default()
        };
        ensure(stores, cx, "", namespace).await?;
    }
    if let Some(services) = &cluster.services {
        ensure_service_cidr(stores, cx, &services.cidr()).await?;
        ensure_kubernetes_service(stores, cx, services, cluster.server_port).await?;
    }
    for (name, value, description) in PRIORITY_CLASSES {
        let class = PriorityClass {
            metadata: named("", name),
            value,
            description: description.into(),
            ..PriorityClass::default()
        };
        ensure(stores, cx, "", class).await?;
    }
    if cluster.default_flows {
        default_flows::run(stores, cx).await?;
    }
    if cluster.default_roles {
        return default_roles::run(stores, cx).await;
    }
    let (role, binding) = administrator();
    ensure(stores, cx, "", role).await?;
    ensure(stores, cx, "", binding).await
}

fn named(namespace: &str, name: &str) -> ObjectMeta {
    ObjectMeta {
        name: name.into(),
        namespace: namespace.into(),
        ..ObjectMeta::default()
    }
}

/// Creates the service network, which is ready at once, as upstream.
async fn ensure_service_cidr(
    stores: &Arc<Stores>,
    cx: &RequestContext,
    cidr: &str,
) -> Result<(), Status> {
    let mut object = ServiceCIDR {
        metadata: named("", "kubernetes"),
        ..ServiceCIDR::default()
    };
    object.spec.cidrs.push(cidr.into());
    ensure(stores, cx, "", object.clone()).await?;
    let Some(store) = stores.resource(ServiceCIDR::GROUP, ServiceCIDR::PLURAL) else {
        return Ok(());
    };
    let Some(stored) = store.get("", "kubernetes").await? else {
        return Ok(());
    };
    let stored: &dyn Any = &**stored.object()?;
    let known = stored.downcast_ref::<ServiceCIDR>();
    if known.is_none_or(|it| !it.status.conditions.is_empty() || it.spec != object.spec) {
        return Ok(());
    }
    object.status.conditions.push(Condition {
        type_: "Ready".into(),
        status: "True".into(),
        last_transition_time: Some(cx.now()),
        message: "Kubernetes default Service CIDR is ready".into(),
        ..Condition::default()
    });
    let place = ("", "kubernetes");
    let object = Replacement(Box::new(object));
    match store
        .update(cx, place, &object, UpdatePath::Status, false)
        .await
    {
        // Another server created it first.
        Err(status) if status.is_conflict() => Ok(()),
        result => result.map(drop),
    }
}

/// How long another server that holds the address of `kubernetes` may take to create the service.
const KUBERNETES_TRIES: usize = 20;
const KUBERNETES_PAUSE: Duration = Duration::from_millis(100);

/// Creates the service `kubernetes`. If a server holds its address and does not create it, that
/// server has crashed, and the address is released.
async fn ensure_kubernetes_service(
    stores: &Arc<Stores>,
    cx: &RequestContext,
    services: &ServiceAllocation,
    port: u16,
) -> Result<(), Status> {
    let address = services.first_address();
    let ensure = || ensure(stores, cx, "default", kubernetes_service(address, port));
    for _ in 0..KUBERNETES_TRIES {
        match ensure().await {
            Err(status) if status.is_invalid() => sleep(KUBERNETES_PAUSE).await,
            result => return result,
        }
    }
    services
        .release_address(address, "default", "kubernetes")
        .await?;
    match ensure().await {
        // The address belongs to another service. A cluster can work without this one.
        Err(status) if status.is_invalid() => Ok(()),
        result => result,
    }
}

/// Returns the service through which pods reach the API server. It has the first cluster IP.
fn kubernetes_service(address: Ipv4Addr, server_port: u16) -> Service {
    let mut service = Service {
        metadata: named("default", "kubernetes"),
        ..Service::default()
    };
    let labels = &mut service.metadata.labels;
    labels.insert("component".into(), "apiserver".into());
    labels.insert("provider".into(), "kubernetes".into());
    service.spec.type_ = "ClusterIP".into();
    service.spec.session_affinity = "None".into();
    service.spec.cluster_ip = address.to_string().into();
    service.spec.ports.push(ServicePort {
        name: "https".into(),
        protocol: "TCP".into(),
        port: 443,
        target_port: IntOrString::Int(i32::from(server_port)),
        ..ServicePort::default()
    });
    service
}

fn administrator() -> (ClusterRole, ClusterRoleBinding) {
    const RBAC: &str = "rbac.authorization.k8s.io";
    let all = || vec![Str::from("*")];
    let metadata = || {
        let mut metadata = named("", "cluster-admin");
        let label = "kubernetes.io/bootstrapping";
        metadata.labels.insert(label.into(), "rbac-defaults".into());
        let annotation = "rbac.authorization.kubernetes.io/autoupdate";
        metadata
            .annotations
            .insert(annotation.into(), "true".into());
        metadata
    };
    let role = ClusterRole {
        metadata: metadata(),
        rules: vec![
            PolicyRule {
                verbs: all(),
                api_groups: all(),
                resources: all(),
                ..PolicyRule::default()
            },
            PolicyRule {
                verbs: all(),
                non_resource_urls: all(),
                ..PolicyRule::default()
            },
        ],
        ..ClusterRole::default()
    };
    let binding = ClusterRoleBinding {
        metadata: metadata(),
        role_ref: RoleRef {
            api_group: RBAC.into(),
            kind: "ClusterRole".into(),
            name: "cluster-admin".into(),
        },
        subjects: vec![Subject {
            kind: "Group".into(),
            api_group: RBAC.into(),
            name: "system:masters".into(),
            ..Subject::default()
        }],
    };
    (role, binding)
}

/// Creates an object unless one with its name exists.
pub(super) async fn ensure<K: KubeObject>(
    stores: &Arc<Stores>,
    cx: &RequestContext,
    namespace: &str,
    object: K,
) -> Result<(), Status> {
    let Some(store) = stores.resource(K::GROUP, K::PLURAL) else {
        return Ok(());
    };
    if store.exists(namespace, &object.metadata().name).await? {
        return Ok(());
    }
    match store.create(cx, namespace, Box::new(object)).await {
        // Another server created it first.
        Err(status) if status.is_already_exists() => Ok(()),
        result => result.map(drop),
    }
}

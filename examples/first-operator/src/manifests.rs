//! What a cluster needs to run the operator: the kind, an account with its rights, a Deployment.

use crate::kind::Website;
use crate::operator::NAME;
use kubist::api::apps::v1::Deployment;
use kubist::api::coordination::v1::Lease;
use kubist::api::core::v1::{
    Container, ContainerPort, HTTPGetAction, Namespace, Probe, ServiceAccount,
};
use kubist::api::events::v1::Event;
use kubist::api::rbac::v1::{
    ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject,
};
use kubist::apimachinery::wire::to_manifest;
use kubist::apimachinery::{IntOrString, LabelSelector, ObjectMeta, Resource, Str};
use kubist::custom_resource::CustomResource as _;
use serde_json::Value;

/// Where the operator serves its metrics and health.
pub(crate) const PORT: u16 = 8080;
/// The namespace it runs in.
const NAMESPACE: &str = "first-operator-system";
/// The group of roles.
const RBAC: &str = "rbac.authorization.k8s.io";

/// Returns all manifests, in the order in which they can be created.
pub(crate) fn documents(image: &str) -> Vec<Value> {
    let mut documents = vec![
        to_manifest(&namespace()),
        to_manifest(&Website::definition()),
        to_manifest(&account()),
    ];
    let (role, binding) = cluster_role();
    documents.push(to_manifest(&role));
    documents.push(to_manifest(&binding));
    let (role, binding) = lease_role();
    documents.push(to_manifest(&role));
    documents.push(to_manifest(&binding));
    documents.push(to_manifest(&deployment(image)));
    documents
}

/// Returns the right to do this with a kind, or with its subresource, as in `/status`.
fn rule<K: Resource>(subresource: &str, verbs: &[&str]) -> PolicyRule {
    PolicyRule {
        api_groups: vec![K::GROUP.into()],
        resources: vec![format!("{}{subresource}", K::PLURAL).into()],
        verbs: verbs.iter().map(|it| Str::from(*it)).collect(),
        ..PolicyRule::default()
    }
}

/// What the controller does, in any namespace. A test tells which rights are missing here.
pub(crate) fn cluster_role() -> (ClusterRole, ClusterRoleBinding) {
    let role = ClusterRole {
        metadata: named(""),
        rules: vec![
            // An informer.
            rule::<Website>("", &["get", "list", "watch"]),
            // `edit_status`.
            rule::<Website>("/status", &["get", "patch"]),
            // To own objects that block the deletion of their owner, where servers check that.
            rule::<Website>("/finalizers", &["update"]),
            // An informer, and `apply`, which creates.
            rule::<Deployment>("", &["get", "list", "watch", "create", "patch"]),
            rule::<Event>("", &["create", "patch"]),
        ],
        ..ClusterRole::default()
    };
    let binding = ClusterRoleBinding {
        metadata: named(""),
        subjects: vec![subject()],
        role_ref: to("ClusterRole"),
    };
    (role, binding)
}

/// What leader election does, in the operator's namespace.
fn lease_role() -> (Role, RoleBinding) {
    let role = Role {
        metadata: named(NAMESPACE),
        rules: vec![rule::<Lease>("", &["get", "create", "update"])],
    };
    let binding = RoleBinding {
        metadata: named(NAMESPACE),
        subjects: vec![subject()],
        role_ref: to("Role"),
    };
    (role, binding)
}

fn named(namespace: &str) -> ObjectMeta {
    ObjectMeta {
        name: NAME.into(),
        namespace: namespace.into(),
        ..ObjectMeta::default()
    }
}

fn subject() -> Subject {
    Subject {
        kind: ServiceAccount::KIND.into(),
        name: NAME.into(),
        namespace: NAMESPACE.into(),
        ..Subject::default()
    }
}

fn to(kind: &str) -> RoleRef {
    RoleRef {
        api_group: RBAC.into(),
        kind: kind.into(),
        name: NAME.into(),
    }
}

fn namespace() -> Namespace {
    let mut namespace = Namespace::default();
    namespace.metadata.name = NAMESPACE.into();
    namespace
}

fn account() -> ServiceAccount {
    ServiceAccount {
        metadata: named(NAMESPACE),
        ..ServiceAccount::default()
    }
}

fn deployment(image: &str) -> Deployment {
    let labels = [(Str::from("app"), Str::from(NAME))];
    let mut deployment = Deployment {
        metadata: named(NAMESPACE),
        ..Deployment::default()
    };
    deployment.spec.replicas = Some(2); // one leads, the other is ready to
    deployment.spec.selector = Some(Box::new(LabelSelector {
        match_labels: labels.clone().into(),
        ..LabelSelector::default()
    }));
    let template = &mut deployment.spec.template;
    template.metadata.labels = labels.into();
    template.spec.service_account_name = NAME.into();
    template.spec.containers = vec![Container {
        name: "operator".into(),
        image: image.into(),
        ports: vec![ContainerPort {
            name: "metrics".into(),
            container_port: i32::from(PORT),
            ..ContainerPort::default()
        }],
        liveness_probe: Some(Box::new(probe("/healthz"))),
        readiness_probe: Some(Box::new(probe("/readyz"))),
        ..Container::default()
    }];
    deployment
}

fn probe(path: &str) -> Probe {
    Probe {
        http_get: Some(Box::new(HTTPGetAction {
            path: path.into(),
            port: IntOrString::Int(i32::from(PORT)),
            ..HTTPGetAction::default()
        })),
        ..Probe::default()
    }
}

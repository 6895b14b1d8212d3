//! What a kubelet may do, and in which words it is refused.

use super::*;
use crate::User;
use kubist_api::core::v1::{
    LocalObjectReference, PersistentVolume, PersistentVolumeClaimVolumeSource, Pod, Volume,
};
use kubist_apimachinery::FieldSelector;

fn kubelet(node: &str) -> User {
    User {
        name: format!("system:node:{node}").into(),
        groups: vec![super::super::NODES_GROUP.into()],
        ..User::default()
    }
}

/// A Pod of node `a` with the Secret `s`, the claim `c`, and the ServiceAccount `app`.
fn pod() -> Pod {
    let mut pod = Pod::default();
    pod.metadata.namespace = "shop".into();
    pod.metadata.name = "web".into();
    pod.spec.node_name = "a".into();
    pod.spec.service_account_name = "app".into();
    pod.spec.image_pull_secrets = vec![LocalObjectReference { name: "s".into() }];
    pod.spec.volumes = vec![Volume {
        name: "data".into(),
        persistent_volume_claim: Some(Box::new(PersistentVolumeClaimVolumeSource {
            claim_name: "c".into(),
            ..PersistentVolumeClaimVolumeSource::default()
        })),
        ..Volume::default()
    }];
    pod
}

fn volume() -> PersistentVolume {
    let mut volume = PersistentVolume::default();
    volume.metadata.name = "v".into();
    let claim = volume.spec.claim_ref.get_or_insert_default();
    (claim.namespace, claim.name) = ("shop".into(), "c".into());
    let csi = volume.spec.csi.get_or_insert_default();
    let secret = csi.node_stage_secret_ref.get_or_insert_default();
    (secret.namespace, secret.name) = ("vault".into(), "disk".into());
    let hidden = csi.controller_publish_secret_ref.get_or_insert_default();
    (hidden.namespace, hidden.name) = ("vault".into(), "controller".into());
    volume
}

fn authorizer() -> NodeAuthorizer {
    let rule = PolicyRule {
        verbs: vec!["create".into()],
        api_groups: vec!["authentication.k8s.io".into()],
        resources: vec!["tokenreviews".into()],
        ..PolicyRule::default()
    };
    let authorizer = NodeAuthorizer::new(vec![rule]);
    authorizer.change(|graph| {
        graph.put_pod(&pod());
        graph.put_volume(&volume());
        graph.put_attachment("attached".into(), "a".into());
        graph.put_slice("slice".into(), "a".into());
    });
    authorizer
}

fn of<'a>(
    group: &'a str,
    resource: &'a str,
    namespace: &'a str,
    name: &'a str,
) -> ResourceAction<'a> {
    ResourceAction {
        group,
        version: "v1",
        resource,
        namespace,
        name,
        ..ResourceAction::default()
    }
}

fn ask(
    authorizer: &NodeAuthorizer,
    node: &str,
    verb: &str,
    action: ResourceAction<'_>,
) -> Decision {
    let user = kubelet(node);
    authorizer.decide(&Attributes {
        user: &user,
        verb,
        action: Action::Resource(action),
    })
}

#[test]
fn a_kubelet_reads_what_its_pods_need_and_nothing_else() {
    let authorizer = authorizer();
    for (group, resource, namespace, name) in [
        ("", "pods", "shop", "web"),
        ("", "secrets", "shop", "s"),
        ("", "secrets", "vault", "disk"),
        ("", "persistentvolumeclaims", "shop", "c"),
        ("", "persistentvolumes", "", "v"),
        ("", "serviceaccounts", "shop", "app"),
        ("storage.k8s.io", "volumeattachments", "", "attached"),
        ("resource.k8s.io", "resourceslices", "", "slice"),
    ] {
        let about = of(group, resource, namespace, name);
        assert!(
            ask(&authorizer, "a", "get", about).is_allowed(),
            "{resource} {name}"
        );
        let other = ask(&authorizer, "b", "get", about);
        let reason = "no relationship found between node 'b' and this object";
        assert_eq!(
            other,
            Decision::NoOpinion(reason.to_owned()),
            "{resource} {name}"
        );
    }
    for (namespace, name) in [("vault", "controller"), ("other", "s"), ("shop", "t")] {
        let about = of("", "secrets", namespace, name);
        assert!(
            !ask(&authorizer, "a", "get", about).is_allowed(),
            "{namespace}/{name}"
        );
    }
}

#[test]
fn rights_end_with_the_last_pod_that_gives_them() {
    let authorizer = authorizer();
    let mut second = pod();
    second.metadata.name = "web-2".into();
    authorizer.change(|graph| graph.put_pod(&second));
    let secret = of("", "secrets", "shop", "s");
    authorizer.change(|graph| graph.remove_pod("shop", "web"));
    assert!(ask(&authorizer, "a", "get", secret).is_allowed());
    authorizer.change(|graph| graph.remove_pod("shop", "web-2"));
    assert!(!ask(&authorizer, "a", "get", secret).is_allowed());
    let through_volume = of("", "secrets", "vault", "disk");
    assert!(!ask(&authorizer, "a", "get", through_volume).is_allowed());
    let mut mirror = pod();
    let annotations = &mut mirror.metadata.annotations;
    annotations.insert("kubernetes.io/config.mirror".into(), "x".into());
    authorizer.change(|graph| graph.put_pod(&mirror));
    assert!(
        !ask(&authorizer, "a", "get", secret).is_allowed(),
        "it made the Pod itself"
    );
}

#[test]
fn lists_are_limited_to_the_own_node() {
    let authorizer = authorizer();
    let own = FieldSelector::equals("spec.nodeName", "a");
    let selecting = ResourceAction {
        fields: Some(&own),
        ..of("", "pods", "", "")
    };
    assert!(ask(&authorizer, "a", "list", selecting).is_allowed());
    let reason = "can only list/watch pods with spec.nodeName field selector";
    assert_eq!(ask(&authorizer, "b", "watch", selecting).reason(), reason);
    assert_eq!(
        ask(&authorizer, "a", "list", of("", "pods", "", "")).reason(),
        reason
    );
    let nodes = ask(&authorizer, "a", "list", of("", "nodes", "", ""));
    assert_eq!(
        nodes.reason(),
        "node 'a' cannot read all nodes, only its own Node object"
    );
    assert!(ask(&authorizer, "a", "watch", of("", "nodes", "a", "a")).is_allowed());
    let all = ask(&authorizer, "a", "list", of("", "secrets", "shop", ""));
    assert_eq!(all.reason(), "No Object name found");
}

#[test]
fn a_kubelet_writes_its_lease_its_tokens_and_its_status() {
    let authorizer = authorizer();
    let lease = |namespace, name| of("coordination.k8s.io", "leases", namespace, name);
    assert!(ask(&authorizer, "a", "update", lease("kube-node-lease", "a")).is_allowed());
    assert_eq!(
        ask(&authorizer, "a", "update", lease("kube-node-lease", "b")).reason(),
        "can only access node lease with the same name as the requesting node"
    );
    assert_eq!(
        ask(&authorizer, "a", "get", lease("default", "a")).reason(),
        "can only access leases in the \"kube-node-lease\" system namespace"
    );
    let token = |name| ResourceAction {
        subresource: "token",
        ..of("", "serviceaccounts", "shop", name)
    };
    assert!(ask(&authorizer, "a", "create", token("app")).is_allowed());
    assert!(!ask(&authorizer, "a", "create", token("other")).is_allowed());
    let status = ResourceAction {
        subresource: "status",
        ..of("", "nodes", "", "a")
    };
    assert!(ask(&authorizer, "a", "patch", status).is_allowed());
    let review = of("authentication.k8s.io", "tokenreviews", "", "");
    assert!(
        ask(&authorizer, "a", "create", review).is_allowed(),
        "by the rules of all nodes"
    );
    assert!(!ask(&authorizer, "a", "delete", review).is_allowed());
}

#[test]
fn users_that_are_no_kubelets_are_left_to_others() {
    let authorizer = authorizer();
    let mut user = kubelet("a");
    user.groups.clear();
    let about = Attributes {
        user: &user,
        verb: "get",
        action: Action::Resource(of("", "secrets", "shop", "s")),
    };
    assert_eq!(
        authorizer.decide(&about),
        Decision::NoOpinion(String::new())
    );
    let nameless = ask(&authorizer, "", "get", of("", "secrets", "shop", "s"));
    assert_eq!(nameless.reason(), "unknown node for user \"system:node:\"");
}

//! Plugins with configurations from a file.

use crate::fixture::{DEPLOYMENTS, Fixture, NAMESPACES, Of, PODS, QUOTAS, pod};
use kubist_admission::{AdmissionConfiguration, PluginSelection};
use kubist_registry::User;
use serde_json::{Value, json};
use std::io;
use std::time::Duration;

/// A registry whose plugin of this name has a configuration.
async fn fixture(name: &str, configuration: Value) -> Fixture {
    let file = json!({
        "apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration",
        "plugins": [{"name": name, "configuration": configuration}],
    });
    let nothing = |_: &str| Err(io::Error::from(io::ErrorKind::NotFound));
    let parsed = AdmissionConfiguration::parse(file.to_string().as_bytes(), &nothing);
    let selection = PluginSelection::new(&[name.to_owned()], &[]).expect("it exists");
    let selection = selection.with_configuration(parsed.expect("it is valid"));
    Fixture::with(selection.chain(Vec::new())).await
}

async fn of_pod_security(exemptions: Value) -> Fixture {
    let configuration = json!({
        "apiVersion": "pod-security.admission.config.k8s.io/v1",
        "kind": "PodSecurityConfiguration",
        "defaults": {"enforce": "baseline", "warn": "restricted"},
        "exemptions": exemptions,
    });
    fixture("PodSecurity", configuration).await
}

fn privileged(name: &str) -> Value {
    pod(name, json!({"securityContext": {"privileged": true}}))
}

#[tokio::test]
async fn namespaces_without_labels_have_the_configured_level() {
    let fixture = of_pod_security(json!({})).await;
    let refused = fixture.create(PODS, privileged("p")).await;
    let message = refused.expect_err("it is privileged").message;
    let begin = "pods \"p\" is forbidden: violates PodSecurity \"baseline:latest\": privileged";
    assert!(message.starts_with(begin), "{message}");
    let (_, warnings) = fixture.create_warned(PODS, pod("q", json!({}))).await;
    let warned = "would violate PodSecurity \"restricted:latest\"";
    assert!(
        warnings.iter().any(|it| it.starts_with(warned)),
        "{warnings:?}"
    );
}

#[tokio::test]
async fn what_is_exempt_is_not_checked() {
    let exemptions = json!({"usernames": ["root"], "namespaces": ["system"]});
    let fixture = of_pod_security(exemptions).await;
    let root = fixture.registry.request(User {
        name: "root".into(),
        ..User::default()
    });
    let created = fixture.create_by(&root, PODS, privileged("p")).await;
    created.expect("the user is exempt");
    let label = json!({"pod-security.kubernetes.io/enforce": "restricted"});
    let namespace = json!({"metadata": {"name": "system", "labels": label}});
    let (_, warnings) = fixture.create_warned(NAMESPACES, namespace).await;
    assert_eq!(
        warnings,
        [
            "namespace \"system\" is exempt from Pod Security, and the policy \
          (enforce=restricted:latest) will be ignored"
        ]
    );
    let mut pod = privileged("p");
    pod["metadata"]["namespace"] = "system".into();
    fixture
        .create(PODS, pod)
        .await
        .expect("the namespace is exempt");
    let refused = fixture.create(PODS, privileged("q")).await;
    assert_eq!(refused.expect_err("nobody else is").code, 403);
}

#[tokio::test]
async fn templates_of_an_exempt_class_are_not_warned_about() {
    let fixture = of_pod_security(json!({"runtimeClasses": ["sandbox"]})).await;
    let deployment = |name: &str, class: Value| {
        let template = json!({
            "metadata": {"labels": {"a": "b"}},
            "spec": {"runtimeClassName": class, "containers": [{"name": "c", "image": "i"}]},
        });
        json!({"metadata": {"name": name}, "spec": {
            "selector": {"matchLabels": {"a": "b"}}, "template": template,
        }})
    };
    let plain = deployment("plain", Value::Null);
    let (_, warnings) = fixture.create_warned(DEPLOYMENTS, plain).await;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let exempt = deployment("exempt", "sandbox".into());
    let (_, warnings) = fixture.create_warned(DEPLOYMENTS, exempt).await;
    assert_eq!(warnings, [""; 0]);
}

#[tokio::test]
async fn pods_of_other_namespaces_run_on_the_default_nodes() {
    let configuration = json!({"podNodeSelectorPluginConfig": {
        "clusterDefaultNodeSelector": "room=blue", "default": "room=blue,disk=fast",
    }});
    let fixture = fixture("PodNodeSelector", configuration).await;
    let created = fixture.create(PODS, pod("p", json!({}))).await;
    let created = created.expect("it is valid");
    assert_eq!(created["spec"]["nodeSelector"], json!({"room": "blue"}));
    let mut other = pod("q", json!({}));
    other["spec"]["nodeSelector"] = json!({"floor": "1"});
    let refused = fixture.create(PODS, other).await;
    assert_eq!(
        refused.expect_err("it is not permitted").message,
        "pods \"q\" is forbidden: pod node label selector labels conflict with its namespace \
         whitelist"
    );
}

#[tokio::test]
async fn namespaces_without_annotations_have_the_configured_tolerations() {
    let configuration = json!({
        "apiVersion": "podtolerationrestriction.admission.k8s.io/v1alpha1",
        "kind": "Configuration",
        "default": [{"key": "gpu", "operator": "Exists"}],
        "whitelist": [{"key": "gpu", "operator": "Exists"},
            {"operator": "Exists", "effect": "NoExecute"}],
    });
    let fixture = fixture("PodTolerationRestriction", configuration).await;
    let created = fixture.create(PODS, pod("p", json!({}))).await;
    let created = created.expect("it is permitted");
    let tolerations = created["spec"]["tolerations"].as_array();
    let gpu = json!({"key": "gpu", "operator": "Exists"});
    assert!(
        tolerations.is_some_and(|it| it.contains(&gpu)),
        "{tolerations:?}"
    );
    let mut other = pod("q", json!({}));
    other["spec"]["tolerations"] = json!([{"key": "x", "operator": "Exists"}]);
    let refused = fixture.create(PODS, other).await;
    assert_eq!(
        refused.expect_err("it is not permitted").message,
        "pod tolerations (possibly merged with namespace default tolerations) conflict with its \
         cluster whitelist"
    );
}

#[tokio::test]
async fn limited_resources_need_a_quota_that_covers_them() {
    let configuration = json!({
        "apiVersion": "apiserver.config.k8s.io/v1", "kind": "ResourceQuotaConfiguration",
        "limitedResources": [
            {"resource": "pods", "matchContains": ["cpu"]},
            {"resource": "pods", "matchScopes": [
                {"scopeName": "BestEffort", "operator": "Exists"}]},
        ],
    });
    let fixture = fixture("ResourceQuota", configuration).await;
    let cpu = json!({"resources": {"requests": {"cpu": "1"}}});
    let refused = fixture.create(PODS, pod("p", cpu.clone())).await;
    let refused = refused.expect_err("there is no quota");
    assert_eq!(refused.code, 403);
    assert_eq!(
        refused.message,
        "pods \"p\" is forbidden: insufficient quota to consume: cpu,requests.cpu"
    );
    let refused = fixture.create(PODS, pod("q", json!({}))).await;
    assert_eq!(
        refused.expect_err("there is no quota").message,
        "insufficient quota to match these scopes: [{BestEffort Exists []}]"
    );
    let hard = json!({"cpu": "5", "requests.cpu": "5"});
    let mut quota = json!({"metadata": {"name": "q"}, "spec": {"hard": hard}});
    fixture
        .create(QUOTAS, quota.clone())
        .await
        .expect("it is valid");
    quota["status"] = json!({"hard": hard, "used": {"cpu": "0", "requests.cpu": "0"}});
    fixture
        .put(QUOTAS, "status", quota)
        .await
        .expect("it is valid");
    fixture
        .create(PODS, pod("p", cpu))
        .await
        .expect("it is covered");
}

const EVENTS: Of = ("", "v1", "events");

fn event(name: &str, about: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": about},
        "source": {"component": "kubelet"}, "reason": "Tested",
    })
}

#[tokio::test]
async fn events_beyond_a_limit_are_refused_until_time_has_passed() {
    let limits = json!([
        {"type": "User", "qps": 1, "burst": 3},
        {"type": "SourceAndObject", "qps": 1, "burst": 2, "cacheSize": 10},
    ]);
    let configuration = json!({
        "apiVersion": "eventratelimit.admission.k8s.io/v1alpha1", "kind": "Configuration",
        "limits": limits,
    });
    let fixture = fixture("EventRateLimit", configuration).await;
    let user = |name: &str| User {
        name: name.into(),
        ..User::default()
    };
    let mut alice = fixture.registry.request(user("alice"));
    for name in ["a", "b"] {
        let created = fixture.create_by(&alice, EVENTS, event(name, "p")).await;
        created.expect("it is within the limits");
    }
    let refused = fixture.create_by(&alice, EVENTS, event("c", "p")).await;
    let refused = refused.expect_err("it is too much about p");
    assert_eq!(
        (refused.code, refused.reason.as_str()),
        (429, "TooManyRequests")
    );
    assert_eq!(
        refused.message,
        "limit reached on type SourceAndObject for key kubeletPoddefaultp"
    );
    // The limit of the user has counted the one that was refused.
    let refused = fixture.create_by(&alice, EVENTS, event("d", "q")).await;
    assert_eq!(
        refused.expect_err("it is too much of alice").message,
        "limit reached on type User for key alice"
    );
    let bob = fixture.registry.request(user("bob"));
    let created = fixture.create_by(&bob, EVENTS, event("e", "r")).await;
    created.expect("bob has a limit of his own");
    let newer: Of = ("events.k8s.io", "v1", "events");
    let other = json!({
        "metadata": {"name": "f"}, "eventTime": "2023-11-14T22:13:20.000000Z", "type": "Normal",
        "reason": "Tested", "action": "Testing", "reportingController": "example.com/tester",
        "reportingInstance": "tester-1", "regarding": {"namespace": "default"},
    });
    let created = fixture.create_by(&alice, newer, other).await;
    created.expect("those of the newer group have none, as upstream");
    alice.received += Duration::from_secs(1);
    let created = fixture.create_by(&alice, EVENTS, event("g", "q")).await;
    created.expect("a second has passed");
}

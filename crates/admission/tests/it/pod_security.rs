//! `PodSecurity`.

use crate::fixture::{DEPLOYMENTS, Fixture, NAMESPACES, PODS, pod};
use serde_json::{Value, json};

/// A registry with a namespace of these labels, by their last words.
async fn fixture(labels: &[(&str, &str)]) -> Fixture {
    let fixture = Fixture::new().await;
    let created = fixture.create(NAMESPACES, namespace(labels)).await;
    created.expect("it is valid");
    fixture
}

fn namespace(labels: &[(&str, &str)]) -> Value {
    let labels = labels.iter().map(|(name, value)| {
        let name = format!("pod-security.kubernetes.io/{name}");
        (name, json!(value))
    });
    json!({"metadata": {"name": "shop", "labels": labels.collect::<Value>()}})
}

fn in_shop(name: &str, container: Value) -> Value {
    let mut pod = pod(name, container);
    pod["metadata"]["namespace"] = "shop".into();
    pod
}

#[tokio::test]
async fn a_pod_below_the_level_is_refused_in_upstreams_words() {
    let fixture = fixture(&[("enforce", "baseline")]).await;
    let plain = fixture.create(PODS, in_shop("plain", json!({}))).await;
    plain.expect("the baseline allows it");
    let context = json!({"securityContext": {"privileged": true}});
    let status = fixture.create(PODS, in_shop("p", context)).await;
    let status = status.expect_err("it is privileged");
    assert_eq!(status.code, 403);
    assert_eq!(
        status.message,
        "pods \"p\" is forbidden: violates PodSecurity \"baseline:latest\": privileged \
         (container \"c\" must not set securityContext.privileged=true)"
    );
}

#[tokio::test]
async fn the_restricted_level_says_all_that_it_demands() {
    let fixture = fixture(&[("enforce", "restricted"), ("enforce-version", "v1.24")]).await;
    let status = fixture.create(PODS, in_shop("p", json!({}))).await;
    assert_eq!(
        status.expect_err("it says nothing").message,
        "pods \"p\" is forbidden: violates PodSecurity \"restricted:v1.24\": \
         allowPrivilegeEscalation != false (container \"c\" must set \
         securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container \
         \"c\" must set securityContext.capabilities.drop=[\"ALL\"]), runAsNonRoot != true (pod \
         or container \"c\" must set securityContext.runAsNonRoot=true), seccompProfile (pod or \
         container \"c\" must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \
         \"Localhost\")"
    );
    let context = json!({"securityContext": {
        "allowPrivilegeEscalation": false,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": true,
        "seccompProfile": {"type": "RuntimeDefault"},
    }});
    let created = fixture.create(PODS, in_shop("p", context)).await;
    created.expect("it says all");
}

#[tokio::test]
async fn templates_are_warned_of_and_audited() {
    let fixture = fixture(&[("enforce", "baseline"), ("audit", "restricted")]).await;
    let mut template = pod("", json!({"securityContext": {"privileged": true}}));
    template["metadata"] = json!({"labels": {"a": "b"}});
    let deployment = json!({
        "metadata": {"name": "d", "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
    });
    let cx = fixture.cx();
    let created = fixture.create_by(&cx, DEPLOYMENTS, deployment).await;
    created.expect("only its Pods are refused");
    assert_eq!(
        cx.take_warnings(),
        [
            "would violate PodSecurity \"baseline:latest\": privileged (container \"c\" must not \
          set securityContext.privileged=true)"
        ]
    );
    let noted = cx.take_annotations();
    let violations = &noted["pod-security.kubernetes.io/audit-violations"];
    let start = "would violate PodSecurity \"restricted:latest\": privileged (container";
    assert!(violations.starts_with(start), "{violations}");
}

#[tokio::test]
async fn new_labels_warn_of_the_pods_that_violate_them() {
    let fixture = fixture(&[]).await;
    let context = json!({"securityContext": {"privileged": true}});
    for name in ["b", "a"] {
        let created = fixture.create(PODS, in_shop(name, context.clone())).await;
        created.expect("nothing is demanded");
    }
    let plain = fixture.create(PODS, in_shop("plain", json!({}))).await;
    plain.expect("nothing is demanded");
    let cx = fixture.cx();
    let labelled = namespace(&[("enforce", "baseline")]);
    let updated = fixture.put_by(&cx, NAMESPACES, "", labelled).await;
    updated.expect("the labels are valid");
    assert_eq!(
        cx.take_warnings(),
        [
            "existing pods in namespace \"shop\" violate the new PodSecurity enforce level \
             \"baseline:latest\"",
            "a (and 1 other pod): privileged",
        ]
    );
}

#[tokio::test]
async fn wrong_labels_are_refused() {
    let fixture = Fixture::new().await;
    let wrong = namespace(&[("enforce", "strict"), ("warn-version", "1.20")]);
    let status = fixture.create(NAMESPACES, wrong).await;
    let status = status.expect_err("there is no such level");
    assert_eq!(status.code, 422);
    assert_eq!(
        status.message,
        "Namespace \"shop\" is invalid: \
         [metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: \"strict\": must be \
         one of privileged, baseline, restricted, \
         metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: \"1.20\": must \
         be \"latest\" or \"v1.x\"]"
    );
}

#[tokio::test]
async fn an_update_that_changes_no_image_is_not_judged() {
    let fixture = fixture(&[]).await;
    let context = json!({"securityContext": {"privileged": true}});
    let created = fixture.create(PODS, in_shop("p", context)).await;
    let mut pod = created.expect("nothing is demanded");
    let labelled = namespace(&[("enforce", "baseline")]);
    fixture
        .put(NAMESPACES, "", labelled)
        .await
        .expect("the labels are valid");
    pod["metadata"]["labels"] = json!({"a": "b"});
    let updated = fixture.put(PODS, "", pod).await;
    let mut pod = updated.expect("the image is the same");
    pod["spec"]["containers"][0]["image"] = "other".into();
    let status = fixture.put(PODS, "", pod).await;
    assert_eq!(status.expect_err("it is privileged").code, 403);
}

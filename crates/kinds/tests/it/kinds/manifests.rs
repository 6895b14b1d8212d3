//! Requirements of the manifests and clients of real applications.

use super::*;
use base64::prelude::{BASE64_STANDARD, Engine as _};

#[tokio::test]
async fn containers_of_a_stateful_set_mount_what_it_claims() {
    let kinds = Kinds::new().await;
    let mut template = template();
    template["spec"]["containers"][0]["volumeMounts"] =
        json!([{"name": "data", "mountPath": "/d"}]);
    let mut set = json!({
        "metadata": {"name": "s"},
        "spec": {
            "selector": {"matchLabels": {"app": "a"}},
            "template": template,
            "volumeClaimTemplates": [{
                "metadata": {"name": "data"},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1Gi"}},
                },
            }],
        },
    });
    let created = kinds.create("apps/statefulsets", set.clone()).await;
    let spec = &created["spec"]["template"]["spec"];
    assert_eq!(spec.get("volumes"), None, "the claims stay where they are");
    assert_eq!(
        created["spec"]["volumeClaimTemplates"][0]["status"]["phase"],
        "Pending"
    );

    set["metadata"]["name"] = json!("two");
    set["spec"]["volumeClaimTemplates"][0]["kind"] = json!("PersistentVolumeClaim");
    let mut second = set["spec"]["volumeClaimTemplates"][0].clone();
    second["metadata"] = json!({"name": "b", "annotations": {"a": r#""volumeClaimTemplates":["#}});
    let claims = set["spec"]["volumeClaimTemplates"].as_array_mut();
    claims.expect("it is a list").push(second);
    let two = kinds.create("apps/statefulsets", set.clone()).await;
    let claims = two["spec"]["volumeClaimTemplates"].as_array();
    for (claim, name) in claims.expect("it is a list").iter().zip(["data", "b"]) {
        assert_eq!(claim["kind"], "PersistentVolumeClaim");
        assert_eq!(claim["apiVersion"], "v1");
        assert_eq!(claim["metadata"]["name"], name);
        assert_eq!(claim["status"]["phase"], "Pending");
    }
    let same = kinds.try_update("apps/statefulsets", &two).await;
    let same = same.expect("it is what was read");
    assert_eq!(
        same["metadata"]["resourceVersion"],
        two["metadata"]["resourceVersion"]
    );

    set["metadata"]["name"] = json!("t");
    set["spec"]["volumeClaimTemplates"] = json!([]);
    let path = "spec.template.spec.containers[0].volumeMounts[0].name";
    assert_eq!(
        kinds.causes("apps/statefulsets", set).await,
        [format!("{path}: Not found: \"data\"")]
    );
}

#[tokio::test]
async fn containers_may_be_privileged_but_not_without_escalation() {
    let kinds = Kinds::new().await;
    let pod_of = |context: Value| {
        pod(json!({"containers": [{"name": "c", "image": "i", "securityContext": context}]}))
    };
    kinds
        .create("/pods", pod_of(json!({"privileged": true})))
        .await;
    let context = json!({"privileged": true, "allowPrivilegeEscalation": false});
    let causes = kinds.causes("/pods", pod_of(context)).await;
    assert_eq!(causes.len(), 1);
    assert!(
        causes[0]
            .ends_with("cannot set `allowPrivilegeEscalation` to false and `privileged` to true"),
        "{causes:?}"
    );
}

#[tokio::test]
async fn new_events_say_when_by_whom_and_why() {
    let kinds = Kinds::new().await;
    let about = json!({"kind": "Pod", "namespace": "default", "name": "p"});
    let mut event = json!({"metadata": {"name": "e"}, "regarding": about});
    assert_eq!(
        kinds.causes("events.k8s.io/events", event.clone()).await,
        [
            "eventTime: Required value",
            "type: Invalid value: \"\": has invalid value: ",
        ]
    );
    event["eventTime"] = json!("2024-01-02T03:04:05.123456Z");
    event["type"] = json!("Normal");
    event["note"] = json!("n".repeat(1025));
    event["deprecatedCount"] = json!(1);
    let mut causes = kinds.causes("events.k8s.io/events", event.clone()).await;
    // An absent value is not a valid name either.
    let wrong = |it: &String| it.starts_with("reportingController: Invalid value");
    assert_eq!(causes.extract_if(.., |it| wrong(it)).count(), 2);
    assert_eq!(
        causes,
        [
            "reportingController: Required value",
            "reportingInstance: Required value",
            "action: Required value",
            "reason: Required value",
            "message: Invalid value: \"\": can have at most 1024 characters",
            "count: Invalid value: \"\": needs to be unset",
        ]
    );
    for (key, value) in [
        ("reportingController", "example.com/c"),
        ("reportingInstance", "c-0"),
        ("action", "Started"),
        ("reason", "Started"),
        ("note", "n"),
    ] {
        event[key] = json!(value);
    }
    event["deprecatedCount"] = json!(0);
    kinds.create("events.k8s.io/events", event).await;
    // Events in the older group have fewer rules.
    let old = json!({"metadata": {"name": "old"}, "involvedObject": about});
    kinds.create("/events", old).await;
}

#[tokio::test]
async fn only_the_series_of_a_newer_event_changes() {
    let kinds = Kinds::new().await;
    let event = json!({
        "metadata": {"name": "e"}, "eventTime": "2024-01-02T03:04:05.123456Z", "type": "Normal",
        "regarding": {"kind": "Pod", "namespace": "default", "name": "p"},
        "reportingController": "example.com/c", "reportingInstance": "c-0", "action": "Started",
        "reason": "Started", "note": "n",
    });
    let mut stored = kinds.create("events.k8s.io/events", event).await;
    stored["series"] = json!({"count": 2, "lastObservedTime": "2024-01-02T03:04:06.000000Z"});
    let mut stored = kinds
        .try_update("events.k8s.io/events", &stored)
        .await
        .expect("it happened again");
    stored["note"] = json!("other");
    stored["metadata"]["finalizers"] = json!(["plain"]);
    let refused = kinds.try_update("events.k8s.io/events", &stored).await;
    assert_eq!(
        causes(&refused.expect_err("the reason differs")),
        [
            "metadata.finalizers[0]: Invalid value: \"plain\": name is neither a standard finalizer \
             name nor is it fully qualified",
            "message: Invalid value: \"other\": field is immutable",
        ]
    );
    let mut older = kinds
        .create(
            "/events",
            json!({
                "metadata": {"name": "o"}, "message": "n",
                "involvedObject": {"namespace": "default"},
            }),
        )
        .await;
    older["message"] = json!("other");
    older["metadata"]["finalizers"] = json!(["plain"]);
    let changed = kinds.try_update("/events", &older).await;
    assert_eq!(
        changed.expect("the older group allows it")["message"],
        "other"
    );
}

#[tokio::test]
async fn the_address_of_a_pod_is_the_first_of_its_addresses() {
    let kinds = Kinds::new().await;
    let mut pod = kinds.create("/pods", pod(json!({}))).await;
    pod["status"]["podIP"] = json!("10.0.0.9");
    let (rest, _) = kinds.rest("/pods");
    let status = rest.subresource("status").expect("pods have a status");
    let object = Kinds::decode(&rest, &pod);
    let object = status
        .apply_defaults(object)
        .expect("it is of this version");
    let update = Replacement(object);
    let (cx, options) = (kinds.0.cx(), PostOptions::default());
    let updated = status.update(&cx, "default", "p", &update, &options);
    let updated = updated
        .await
        .expect("it is valid")
        .object
        .json()
        .expect("it is readable");
    let updated: Value = serde_json::from_slice(&updated).expect("it is JSON");
    assert_eq!(updated["status"]["podIPs"], json!([{"ip": "10.0.0.9"}]));
}

#[tokio::test]
async fn values_that_have_a_type_upstream_are_shown_as_json() {
    let kinds = Kinds::new().await;
    let object = json!({"metadata": {"name": "l"}, "spec": {"limits": [{"type": "<>"}]}});
    let found = kinds.causes("/limitranges", object).await;
    let expected = "spec.limits[0].type: Invalid value: \"\\u003c\\u003e\": name part must";
    assert!(found[0].starts_with(expected), "{found:?}");
    let object = json!({
        "metadata": {"name": "b"}, "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io", "kind": "<>", "name": "r",
        },
    });
    let resource = "rbac.authorization.k8s.io/rolebindings";
    assert_eq!(
        kinds.causes(resource, object).await,
        ["roleRef.kind: Unsupported value: \"<>\": supported values: \"Role\", \"ClusterRole\""]
    );
}

#[tokio::test]
async fn signers_and_controllers_are_named_by_a_domain_and_a_path() {
    let kinds = Kinds::new().await;
    let pem = BASE64_STANDARD.encode(include_str!("../../request.pem"));
    let signed = |name: &str| {
        json!({"metadata": {"name": "A_b"}, "spec": {
            "request": pem, "usages": ["client auth"], "signerName": name,
        }})
    };
    let resource = "certificates.k8s.io/certificatesigningrequests";
    for (name, problem) in [
        (
            "a/b",
            "Invalid value: \"a\": should be a domain with at least two segments separated by dots",
        ),
        (
            "kubernetes.io/legacy-unknown",
            "Invalid value: \"kubernetes.io/legacy-unknown\": the legacy signerName is not allowed \
             via this API version",
        ),
    ] {
        assert_eq!(
            kinds.causes(resource, signed(name)).await,
            [format!("spec.signerName: {problem}")]
        );
    }
    // The objects' own names may be any path segment.
    kinds.create(resource, signed("example.com/signer")).await;
    let class = json!({"metadata": {"name": "c"}, "spec": {"controller": "/absolute/path"}});
    assert_eq!(
        kinds
            .causes("networking.k8s.io/ingressclasses", class)
            .await,
        [
            "spec.controller: Invalid value: \"/absolute/path\": must be a domain-prefixed path \
             (such as \"acme.io/foo\")"
        ]
    );
}

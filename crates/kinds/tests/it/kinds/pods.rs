//! Validation of Pods, with upstream's error texts.

use super::{Kinds, causes, pod, template};
use serde_json::{Value, json};

fn container(fields: Value) -> Value {
    let mut container = json!({"name": "c", "image": "web:1"});
    for (key, value) in fields.as_object().expect("it is an object") {
        container[key] = value.clone();
    }
    json!({"containers": [container]})
}

#[tokio::test]
async fn containers_are_checked_in_upstreams_words() {
    let kinds = Kinds::new().await;
    for (fields, expected) in [
        (
            json!({"envFrom": [{"prefix": "P_"}]}),
            "spec.containers[0].envFrom: Invalid value: \"\": must specify one of: \
             `configMapRef` or `secretRef`",
        ),
        (
            json!({"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.x"}}}]}),
            "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: \"spec.x\": \
             error converting fieldPath: field label not supported: spec.x",
        ),
        (
            json!({"resizePolicy": [{"resourceName": "disk", "restartPolicy": "NotRequired"}]}),
            "spec.containers[0].resizePolicy: Unsupported value: \"disk\": supported values: \
             \"cpu\", \"memory\"",
        ),
        (
            json!({"resources": {"claims": [{"name": "gpu"}]}}),
            "spec.containers[0].resources.claims[0]: Not found: \"gpu\": must be one of the names \
             in pod.spec.resourceClaims which is empty",
        ),
        (
            json!({"resources": {"requests": {"hugepages-2Mi": "3Mi", "cpu": "1"},
                "limits": {"hugepages-2Mi": "4Mi"}}}),
            "spec.containers[0].resources.requests: Invalid value: \"3Mi\": must be equal to \
             hugepages-2Mi limit of 4Mi",
        ),
        (
            json!({"lifecycle": {"preStop": {"sleep": {"seconds": 31}}}}),
            "spec.containers[0].lifecycle.preStop.sleep: Invalid value: 31: must be non-negative \
             and less than terminationGracePeriodSeconds (30)",
        ),
        (
            json!({"securityContext": {"seccompProfile": {"type": "Localhost"}}}),
            "spec.containers[0].securityContext.seccompProfile.localhostProfile: Required value: \
             must be set when seccomp type is Localhost",
        ),
        (
            json!({"securityContext": {"appArmorProfile":
                {"type": "Unconfined", "localhostProfile": "p"}}}),
            "spec.containers[0].securityContext.appArmorProfile.localhostProfile: Invalid value: \
             \"p\": can only be set when AppArmor type is Localhost",
        ),
    ] {
        let found = kinds.causes("/pods", pod(container(fields))).await;
        assert_eq!(found[0], expected);
    }
}

#[tokio::test]
async fn namespaces_of_the_host_and_users_of_ones_own_exclude_each_other() {
    let kinds = Kinds::new().await;
    let bad = pod(
        json!({"hostUsers": false, "hostNetwork": true, "hostPID": true,
        "hostnameOverride": "a.b", "setHostnameAsFQDN": true}),
    );
    assert_eq!(
        kinds.causes("/pods", bad).await,
        [
            "spec.hostNetwork: Forbidden: when `hostUsers` is false",
            "spec.HostPID: Forbidden: when `hostUsers` is false",
            "spec.hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true",
            "spec.hostnameOverride: Forbidden: may not be specified when hostNetwork is true",
        ]
    );
}

#[tokio::test]
async fn a_pod_for_windows_has_nothing_of_linux() {
    let kinds = Kinds::new().await;
    let context = json!({"runAsUser": 1, "windowsOptions": {"hostProcess": true}});
    let bad = pod(json!({"os": {"name": "windows"}, "securityContext": context}));
    assert_eq!(
        kinds.causes("/pods", bad).await,
        [
            "spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any \
             hostProcess containers",
            "spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod",
        ]
    );
}

#[tokio::test]
async fn pods_are_spread_and_attracted_by_labels_that_selectors_do_not_name() {
    let kinds = Kinds::new().await;
    let term = json!({"topologyKey": "zone", "matchLabelKeys": ["hash"],
        "mismatchLabelKeys": ["hash", "a b"], "labelSelector": {}});
    let affinity = json!({"podAffinity":
        {"requiredDuringSchedulingIgnoredDuringExecution": [term]}});
    let spread = json!([{"maxSkew": 1, "topologyKey": "zone", "minDomains": 2,
        "whenUnsatisfiable": "ScheduleAnyway", "matchLabelKeys": ["hash"]}]);
    let bad = pod(json!({"affinity": affinity, "topologySpreadConstraints": spread}));
    let at = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]";
    let found = kinds.causes("/pods", bad).await;
    assert!(found[0].starts_with(&format!(
        "{at}.mismatchLabelKeys[1]: Invalid value: \"a b\""
    )));
    assert_eq!(
        found[1..],
        [
            &format!(
                "{at}.matchLabelKeys[0]: Invalid value: \"hash\": exists in both matchLabelKeys \
                 and mismatchLabelKeys"
            ),
            "spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use \
             minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
            "spec.topologySpreadConstraints[0].matchLabelKeys: Forbidden: must not be specified \
             when labelSelector is not set",
        ]
    );
}

#[tokio::test]
async fn a_pod_as_a_whole_has_what_its_containers_need() {
    let kinds = Kinds::new().await;
    let resources = json!({"requests": {"cpu": "2"}, "limits": {"cpu": "3"}});
    let mut spec = container(json!({"resources": resources}));
    spec["resources"] = json!({"limits": {"cpu": "4", "memory": "1Gi"}});
    let made = kinds.create("/pods", pod(spec.clone())).await;
    assert_eq!(
        made["spec"]["resources"]["requests"],
        json!({"cpu": "2", "memory": "1Gi"})
    );
    assert_eq!(made["status"]["qosClass"], "Burstable");
    spec["resources"] = json!({"requests": {"cpu": "1", "disk": "1"}, "limits": {"cpu": "2"}});
    let mut bad = pod(spec);
    bad["metadata"]["name"] = json!("q");
    assert_eq!(
        kinds.causes("/pods", bad).await,
        [
            "spec.resources.requests[disk]: Invalid value: \"disk\": must be a standard resource \
             type or fully qualified",
            "spec.resources.requests[cpu]: Invalid value: \"1\": must be greater than or equal to \
             aggregate container requests of 2",
            "spec.resources.containers[0][cpu].limits: Invalid value: \"3\": must be less than or \
             equal to pod limits of 2",
        ]
    );
}

#[tokio::test]
async fn annotations_and_fields_of_profiles_agree() {
    let kinds = Kinds::new().await;
    let profile = json!({"type": "RuntimeDefault"});
    let mut bad = pod(json!({"securityContext": {"seccompProfile": profile}}));
    bad["metadata"]["annotations"] = json!({
        "controller.kubernetes.io/pod-deletion-cost": "+1",
        "seccomp.security.alpha.kubernetes.io/pod": "unconfined",
    });
    assert_eq!(
        kinds.causes("/pods", bad).await,
        [
            "metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: \
             \"+1\": must be a 32bit integer",
            "spec.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and \
             field must match",
        ]
    );
}

#[tokio::test]
async fn a_gated_pod_accepts_additional_scheduling_constraints() {
    let kinds = Kinds::new().await;
    let spec = json!({"schedulingGates": [{"name": "example.com/g"}], "nodeSelector": {"a": "b"}});
    let mut pod = kinds.create("/pods", pod(spec)).await;
    let condition = &pod["status"]["conditions"][0];
    assert_eq!(condition["reason"], "SchedulingGated");
    assert!(condition["lastTransitionTime"].is_string(), "{condition}");
    pod["spec"]["nodeSelector"] = json!({"a": "b", "c": "d"});
    let mut pod = kinds
        .try_update("/pods", &pod)
        .await
        .expect("it becomes narrower");
    pod["spec"]["nodeSelector"] = json!({"c": "d"});
    pod["spec"]["schedulingGates"] = json!([{"name": "example.com/h"}]);
    let refused = kinds.try_update("/pods", &pod).await;
    assert_eq!(
        causes(&refused.expect_err("it becomes wider")),
        [
            "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new \
             scheduling gate 'example.com/h'",
            "spec.nodeSelector: Invalid value: {\"c\":\"d\"}: only additions to spec.nodeSelector \
             are allowed (no mutations or deletions)",
        ]
    );
}

#[tokio::test]
async fn what_is_behind_a_gate_is_not_stored() {
    let kinds = Kinds::new().await;
    let mut spec = container(json!({"lifecycle": {"stopSignal": "SIGTERM"}}));
    spec["schedulingGroup"] = json!({"podGroupName": "g"});
    let mut object = pod(spec);
    object["status"] = json!({"phase": "Running", "qosClass": "Guaranteed"});
    let made = kinds.create("/pods", object).await;
    // A given QoS class is accepted, as upstream. The rest of the status is not.
    let expected = json!({"phase": "Pending", "qosClass": "Guaranteed"});
    assert_eq!(made["status"], expected);
    assert!(made["spec"].get("schedulingGroup").is_none());
    assert!(made["spec"]["containers"][0].get("lifecycle").is_none());
}

#[tokio::test]
async fn ephemeral_containers_of_templates_are_checked_and_forbidden() {
    let kinds = Kinds::new().await;
    let mut template = template();
    template["spec"]["ephemeralContainers"] = json!([
        {"name": "c", "targetContainerName": "d", "ports": [{"containerPort": 80}]},
    ]);
    let object = json!({"metadata": {"name": "t"}, "template": template});
    assert_eq!(
        kinds.causes("/podtemplates", object).await,
        [
            "template.spec.ephemeralContainers[0].image: Required value",
            "template.spec.ephemeralContainers[0].name: Duplicate value: \"c\"",
            "template.spec.ephemeralContainers[0].targetContainerName: Not found: \"d\"",
            "template.spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral \
             Container",
            "template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod \
             template",
        ]
    );
}

#[tokio::test]
async fn the_image_of_a_container_is_checked_twice_on_update() {
    let kinds = Kinds::new().await;
    let mut made = kinds.create("/pods", pod(json!({}))).await;
    made["spec"]["containers"][0]["image"] = json!("");
    let refused = kinds.try_update("/pods", &made).await;
    let expected = "spec.containers[0].image: Required value";
    assert_eq!(
        causes(&refused.expect_err("there is no image")),
        [expected, expected]
    );
}

#[tokio::test]
async fn only_a_runtime_class_gives_a_pod_overhead() {
    let kinds = Kinds::new().await;
    let refused = kinds
        .try_create("/pods", pod(json!({"overhead": {"cpu": "1"}})))
        .await;
    let status = refused.expect_err("it names no class");
    let expected = "pods \"p\" is forbidden: pod rejected: Pod Overhead set without corresponding \
                    RuntimeClass defined Overhead";
    assert_eq!((status.code, &*status.message), (403, expected));
}

#[tokio::test]
async fn a_pod_waits_with_everything_filled_in() {
    let kinds = Kinds::new().await;
    let pod = kinds.create("/pods", pod(json!({"nodeName": "n"}))).await;
    assert_eq!(
        pod["status"],
        json!({"phase": "Pending", "qosClass": "BestEffort"})
    );
    assert_eq!(pod["metadata"]["generation"], 1);
    let (spec, container) = (&pod["spec"], &pod["spec"]["containers"][0]);
    assert_eq!(container["imagePullPolicy"], "IfNotPresent");
    assert_eq!(container["terminationMessagePath"], "/dev/termination-log");
    assert_eq!(spec["restartPolicy"], "Always");
    assert_eq!(spec["terminationGracePeriodSeconds"], 30);
    assert_eq!(spec["priority"], 0);
    assert_eq!(spec["enableServiceLinks"], true);
    let tolerated: Vec<&Value> = spec["tolerations"]
        .as_array()
        .expect("there are")
        .iter()
        .map(|it| &it["key"])
        .collect();
    assert_eq!(
        tolerated,
        [
            "node.kubernetes.io/not-ready",
            "node.kubernetes.io/unreachable"
        ]
    );
}

#[tokio::test]
async fn requests_follow_limits_in_pods_and_not_in_templates() {
    let kinds = Kinds::new().await;
    let limited =
        json!({"name": "c", "image": "x", "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}});
    let pod = kinds
        .create("/pods", pod(json!({"containers": [limited]})))
        .await;
    assert_eq!(
        pod["spec"]["containers"][0]["resources"]["requests"]["memory"],
        "1Gi"
    );
    assert_eq!(pod["status"]["qosClass"], "Guaranteed");
    let mut template = template();
    template["spec"]["containers"][0] = limited;
    let object = json!({"metadata": {"name": "t"}, "template": template});
    let made = kinds.create("/podtemplates", object).await;
    let container = &made["template"]["spec"]["containers"][0];
    assert_eq!(
        container["resources"],
        json!({"limits": {"cpu": "1", "memory": "1Gi"}})
    );
}

#[tokio::test]
async fn a_pods_priority_is_that_of_its_class() {
    let kinds = Kinds::new().await;
    let class = json!({"metadata": {"name": "high"}, "value": 7});
    kinds
        .create("scheduling.k8s.io/priorityclasses", class)
        .await;
    let made = kinds
        .create("/pods", pod(json!({"priorityClassName": "high"})))
        .await;
    assert_eq!(made["spec"]["priority"], 7);
    let refused = kinds
        .try_create("/pods", pod(json!({"priorityClassName": "none"})))
        .await;
    let status = refused.expect_err("there is no such class");
    let expected = "pods \"p\" is forbidden: no PriorityClass with name none was found";
    assert_eq!((status.code, &*status.message), (403, expected));
}

#[tokio::test]
async fn every_mistake_in_a_pod_is_a_cause() {
    let kinds = Kinds::new().await;
    let bad = pod(json!({
        "restartPolicy": "X",
        "containers": [{"name": "c", "image": "x", "ports": [{"containerPort": 0}],
            "env": [{"name": ""}], "livenessProbe": {"periodSeconds": -1}}],
        "volumes": [{"name": "v", "emptyDir": {}, "hostPath": {"path": "/"}}],
    }));
    assert_eq!(
        kinds.causes("/pods", bad).await,
        [
            "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type",
            "spec.containers[0].ports[0].containerPort: Required value",
            "spec.containers[0].env[0].name: Required value",
            "spec.containers[0].livenessProbe: Required value: must specify a handler type",
            "spec.containers[0].livenessProbe.periodSeconds: Invalid value: -1: must be greater \
             than or equal to 0",
            "spec.restartPolicy: Unsupported value: \"X\": supported values: \"Always\", \
             \"OnFailure\", \"Never\"",
        ]
    );
}

#[tokio::test]
async fn only_a_few_fields_of_a_pod_may_change() {
    let kinds = Kinds::new().await;
    let mut pod = kinds.create("/pods", pod(json!({}))).await;
    pod["spec"]["containers"][0]["image"] = json!("web:2");
    let mut pod = kinds
        .try_update("/pods", &pod)
        .await
        .expect("images may change");
    assert_eq!(pod["metadata"]["generation"], 2);
    pod["spec"]["nodeName"] = json!("n");
    let refused = kinds
        .try_update("/pods", &pod)
        .await
        .expect_err("the node may not");
    let causes = causes(&refused);
    assert!(causes[0].starts_with("spec: Forbidden: pod updates may not change fields"));
    assert!(
        causes[0].contains("\n- \"NodeName\": \"\",\n+ \"NodeName\": \"n\",\n"),
        "{causes:?}"
    );
}

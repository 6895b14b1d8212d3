//! Validation of workloads, with upstream's error texts.

use super::{Kinds, causes, template};
use serde_json::{Value, json};

fn job(spec: Value) -> Value {
    let mut template = template();
    template["spec"]["restartPolicy"] = json!("Never");
    let mut job = json!({"metadata": {"name": "j"}, "spec": {"template": template}});
    for (key, value) in spec.as_object().expect("it is an object") {
        job["spec"][key] = value.clone();
    }
    job
}

fn set(spec: Value) -> Value {
    let selector = json!({"matchLabels": {"app": "a"}});
    let spec_of_all = json!({"selector": selector, "template": template()});
    let mut set = json!({"metadata": {"name": "s"}, "spec": spec_of_all});
    for (key, value) in spec.as_object().expect("it is an object") {
        set["spec"][key] = value.clone();
    }
    set
}

#[tokio::test]
async fn jobs_are_checked_in_upstreams_words() {
    let kinds = Kinds::new().await;
    let long = "x".repeat(62);
    for (spec, expected) in [
        (
            json!({"managedBy": "me"}),
            "spec.managedBy: Invalid value: \"me\": must be a domain-prefixed path (such as \
             \"acme.io/foo\")"
                .to_owned(),
        ),
        (
            json!({"managedBy": format!("a.b/{long}")}),
            "spec.managedBy: Too long: may not be more than 63 bytes".to_owned(),
        ),
        (
            json!({"podReplacementPolicy": "TerminatingOrFailed",
                "podFailurePolicy": {"rules": []}}),
            "spec.podReplacementPolicy: Unsupported value: \"TerminatingOrFailed\": supported \
             values: \"Failed\""
                .to_owned(),
        ),
        (
            json!({"completionMode": "Indexed", "completions": 100_001,
                "backoffLimitPerIndex": 1}),
            "spec.maxFailedIndexes: Required value: must be specified when completions is above \
             100000"
                .to_owned(),
        ),
    ] {
        assert_eq!(kinds.causes("batch/jobs", job(spec)).await, [expected]);
    }
    let mut named = job(json!({"completionMode": "Indexed", "completions": 11}));
    named["metadata"]["name"] = json!(format!("{}.a", "x".repeat(50)));
    let found = kinds.causes("batch/jobs", named).await;
    let last = format!("{}.a-10", "x".repeat(50));
    assert!(
        found[0].ends_with(&format!(
            "will not able to create pod with invalid DNS label: {last}"
        )),
        "{found:?}"
    );
}

#[tokio::test]
async fn a_job_that_waits_may_request_other_resources() {
    let kinds = Kinds::new().await;
    let mut made = kinds
        .create("batch/jobs", job(json!({"suspend": true})))
        .await;
    let spec = &mut made["spec"]["template"]["spec"];
    spec["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}});
    spec["nodeSelector"] = json!({"a": "b"});
    let mut made = kinds
        .try_update("batch/jobs", &made)
        .await
        .expect("nothing of it runs");
    made["spec"]["template"]["spec"]["containers"][0]["image"] = json!("other");
    let refused = kinds.try_update("batch/jobs", &made).await;
    let found = causes(&refused.expect_err("images stay"));
    assert!(
        found[0].starts_with("spec.template.spec: Invalid value: {\"Volumes\":null,"),
        "{found:?}"
    );
}

#[tokio::test]
async fn the_spec_of_a_job_is_checked_twice_on_update() {
    let kinds = Kinds::new().await;
    let mut made = kinds.create("batch/jobs", job(json!({}))).await;
    made["spec"]["parallelism"] = json!(-1);
    let refused = kinds.try_update("batch/jobs", &made).await;
    let expected = "spec.parallelism: Invalid value: -1: must be greater than or equal to 0";
    assert_eq!(
        causes(&refused.expect_err("it is negative")),
        [expected, expected]
    );
}

#[tokio::test]
async fn stateful_sets_name_their_pods() {
    let kinds = Kinds::new().await;
    let mut object = set(json!({"ordinals": {"start": -1}}));
    object["metadata"]["name"] = json!("a.b");
    object["spec"]["template"]["spec"]["hostname"] = json!("Not A Name");
    let found = kinds.causes("apps/statefulsets", object).await;
    assert!(found[0].starts_with("metadata.name: Invalid value: \"a.b\": must not contain dots"));
    assert_eq!(
        found[1..],
        ["spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0"]
    );
    let strategy = json!({"rollingUpdate": {"maxUnavailable": 0}});
    let object = set(json!({"updateStrategy": strategy, "revisionHistoryLimit": -1}));
    let mut made = kinds.create("apps/statefulsets", object).await;
    let rolling = &made["spec"]["updateStrategy"]["rollingUpdate"];
    assert_eq!(*rolling, json!({"partition": 0}));
    made["spec"]["serviceName"] = json!("Not A Name");
    let refused = kinds.try_update("apps/statefulsets", &made).await;
    let found = causes(&refused.expect_err("it stays"));
    assert!(found[0].starts_with("spec: Forbidden: updates to statefulset spec for fields other"));
}

#[tokio::test]
async fn pods_that_run_for_good_have_no_deadline() {
    let kinds = Kinds::new().await;
    for (plural, kind) in [
        ("deployments", "ReplicaSet"),
        ("replicasets", "ReplicaSet"),
        ("daemonsets", "DaemonSet"),
        ("statefulsets", "StatefulSet"),
    ] {
        let mut object = set(json!({}));
        object["spec"]["template"]["spec"]["activeDeadlineSeconds"] = json!(5);
        let found = kinds.causes(&format!("apps/{plural}"), object).await;
        let path = "spec.template.spec.activeDeadlineSeconds";
        let words = format!("activeDeadlineSeconds in {kind} is not Supported");
        assert_eq!(found, [format!("{path}: Forbidden: {words}")]);
    }
}

#[tokio::test]
async fn a_daemon_set_keeps_the_generation_that_its_template_is_given() {
    let kinds = Kinds::new().await;
    let key = "deprecated.daemonset.template.generation";
    let mut object = set(json!({}));
    object["metadata"]["annotations"] = json!({key: "5"});
    let mut made = kinds.create("apps/daemonsets", object).await;
    assert_eq!(made["metadata"]["annotations"][key], "5");
    made["spec"]["template"]["spec"]["containers"][0]["image"] = json!("web:2");
    let made = kinds
        .try_update("apps/daemonsets", &made)
        .await
        .expect("it may change");
    assert_eq!(made["metadata"]["annotations"][key], "6");
    let mut object = set(json!({}));
    object["metadata"]["annotations"] = json!({key: "x"});
    let refused = kinds.try_create("apps/daemonsets", object).await;
    let status = refused.expect_err("it is no number");
    assert_eq!(
        (status.code, &*status.message),
        (
            400,
            "DaemonSet in version \"v1\" cannot be handled as a DaemonSet: strconv.ParseInt: \
             parsing \"x\": invalid syntax"
        )
    );
}

#[tokio::test]
async fn a_cron_jobs_zone_is_a_field_of_its_own() {
    let kinds = Kinds::new().await;
    let template = job(json!({}))["spec"].clone();
    let object = |schedule: &str, zone: &str| {
        let spec = json!({"schedule": schedule, "timeZone": zone,
            "jobTemplate": {"spec": template}});
        json!({"metadata": {"name": "c"}, "spec": spec})
    };
    assert_eq!(
        kinds
            .causes("batch/cronjobs", object("TZ=UTC 0 0 * * *", "utc"))
            .await,
        [
            "spec.schedule: Invalid value: \"TZ=UTC 0 0 * * *\": cannot use TZ or CRON_TZ in \
             schedule, use timeZone field instead",
            "spec.timeZone: Invalid value: \"utc\": unknown time zone utc",
        ]
    );
    let fine = object("0 0 * * *", "Europe/Berlin");
    kinds.create("batch/cronjobs", fine).await;
}

#[tokio::test]
async fn a_workload_selects_the_pods_that_it_makes() {
    let kinds = Kinds::new().await;
    let object = |selector: Value| {
        let spec = json!({"selector": selector, "template": template()});
        json!({"metadata": {"name": "w"}, "spec": spec})
    };
    for plural in ["deployments", "replicasets", "statefulsets", "daemonsets"] {
        let resource = format!("apps/{plural}");
        let other = object(json!({"matchLabels": {"app": "b"}}));
        assert_eq!(
            kinds.causes(&resource, other).await,
            [
                "spec.template.metadata.labels: Invalid value: {\"app\":\"a\"}: `selector` does not \
              match template `labels`"
            ],
            "{plural}"
        );
        let own = object(json!({"matchLabels": {"app": "a"}}));
        let mut made = kinds.create(&resource, own).await;
        assert_eq!(
            made["spec"]["template"]["spec"]["dnsPolicy"], "ClusterFirst",
            "{plural}"
        );
        made["spec"]["selector"] =
            json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]});
        let refused = kinds
            .try_update(&resource, &made)
            .await
            .expect_err("it is fixed");
        let path = if plural == "statefulsets" {
            "spec"
        } else {
            "spec.selector"
        };
        assert_eq!(refused.causes()[0].field, path, "{plural}");
    }
}

#[tokio::test]
async fn a_job_marks_its_pods_with_its_uid() {
    let kinds = Kinds::new().await;
    let mut template = template();
    template["metadata"] = json!({});
    template["spec"]["restartPolicy"] = json!("Never");
    let object = json!({"metadata": {"name": "j"}, "spec": {"template": template}});
    let job = kinds.create("batch/jobs", object).await;
    let uid = job["metadata"]["uid"].clone();
    let key = "batch.kubernetes.io/controller-uid";
    assert_eq!(job["spec"]["selector"]["matchLabels"][key], uid);
    assert_eq!(job["spec"]["template"]["metadata"]["labels"][key], uid);
    assert_eq!(job["metadata"]["labels"]["job-name"], "j");
    // The Job was stored without labels. The first change, of any field, stores them.
    let version = job["metadata"]["resourceVersion"].clone();
    let mut job = kinds
        .try_update("batch/jobs", &job)
        .await
        .expect("nothing changed");
    assert_ne!(job["metadata"]["resourceVersion"], version);
    let version = job["metadata"]["resourceVersion"].clone();
    let same = kinds.try_update("batch/jobs", &job).await;
    assert_eq!(
        same.expect("nothing changed")["metadata"]["resourceVersion"],
        version
    );
    job["spec"]["parallelism"] = json!(3);
    let mut job = kinds
        .try_update("batch/jobs", &job)
        .await
        .expect("it may change");
    job["spec"]["template"]["spec"]["restartPolicy"] = json!("OnFailure");
    let refused = kinds
        .try_update("batch/jobs", &job)
        .await
        .expect_err("it may not");
    assert_eq!(refused.causes()[0].field, "spec.template");
}

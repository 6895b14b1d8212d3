//! The managed fields of creates, updates and patches.

use super::*;
use serde_json::json;

#[tokio::test]
async fn every_write_gives_what_it_changes_to_its_manager() {
    let mut it = Cluster::new().await;
    let object = json!({"metadata": {"name": "c", "labels": {"l": "1"}}, "data": {"a": "1"}});
    let created = it
        .create(&format!("{CONFIG_MAPS}?fieldManager=creator"), &object)
        .await;
    let creator = "creator Update v1: data{. a} metadata{labels{. l}}";
    assert_eq!(owners(&created), [creator]);

    let mut object = created.clone();
    object["data"] = json!({"a": "1", "b": "2"});
    let put = it
        .put(&format!("{CONFIG_MAP}?fieldManager=putter"), &object)
        .await;
    assert_eq!(owners(&put), [creator, "putter Update v1: data{b}"]);

    for (manager, media, patch) in [
        (
            "json",
            JSON_PATCH,
            json!([{"op": "add", "path": "/data/c", "value": "3"}]),
        ),
        ("merge", MERGE, json!({"data": {"d": "4"}})),
        ("strategic", STRATEGIC, json!({"data": {"e": "5"}})),
    ] {
        let path = format!("{CONFIG_MAP}?fieldManager={manager}");
        it.succeeds("PATCH", &path, media, &patch).await;
    }
    let patched = it.get(CONFIG_MAP).await;
    let mut expected = vec![
        creator,
        "json Update v1: data{c}",
        "merge Update v1: data{d}",
        "putter Update v1: data{b}",
        "strategic Update v1: data{e}",
    ];
    assert_eq!(owners(&patched), expected);

    // A change takes the field from its owner, a removal has no owner.
    let path = format!("{CONFIG_MAP}?fieldManager=merge");
    let patched = it
        .merge(&path, &json!({"data": {"b": "3", "c": null}}))
        .await;
    expected = vec![
        creator,
        "merge Update v1: data{b d}",
        "strategic Update v1: data{e}",
    ];
    assert_eq!(owners(&patched), expected);
    assert_eq!(
        patched["data"],
        json!({"a": "1", "b": "3", "d": "4", "e": "5"})
    );
    it.shut_down().await;
}

#[tokio::test]
async fn a_dry_run_returns_the_managers_and_stores_none() {
    let mut it = Cluster::new().await;
    let object = json!({"metadata": {"name": "c"}, "data": {"a": "1"}});
    let path = format!("{CONFIG_MAPS}?fieldManager=m&dryRun=All");
    let tried = it.create(&path, &object).await;
    assert_eq!(owners(&tried), ["m Update v1: data{. a}"]);
    assert_eq!(it.client.get(CONFIG_MAP).await.code, 404);

    let created = it
        .create(&format!("{CONFIG_MAPS}?fieldManager=m"), &object)
        .await;
    let path = format!("{CONFIG_MAP}?fieldManager=n&dryRun=All");
    let tried = it.merge(&path, &json!({"data": {"a": "2"}})).await;
    assert_eq!(
        owners(&tried),
        ["m Update v1: data", "n Update v1: data{a}"]
    );
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"b": "2"}});
    let path = format!("{CONFIG_MAP}?fieldManager=n&dryRun=All");
    let tried = it.succeeds("PATCH", &path, APPLY, &config).await;
    assert_eq!(
        owners(&tried),
        ["n Apply v1: data{b}", "m Update v1: data{. a}"]
    );
    assert_eq!(it.get(CONFIG_MAP).await, created);
    it.shut_down().await;
}

#[tokio::test]
async fn a_manager_without_a_name_is_called_by_its_user_agent() {
    let mut it = Cluster::new().await;
    for (agent, expected) in [
        ("kubectl/v1.36.0 (linux/amd64) kubernetes/abc", "kubectl"),
        ("My Controller", "My Controller"),
        ("tab\there/1", "tabhere"),
        ("", "unknown"),
        ("/v1", "unknown"),
    ] {
        let mut client = Client::in_memory(&it.server, Version::HTTP_2).await;
        if !agent.is_empty() {
            client = client.header("user-agent", agent);
        }
        let object = json!({"metadata": {"generateName": "c"}, "data": {"a": "1"}});
        let created = client.post(CONFIG_MAPS, &object).await.json();
        assert_eq!(
            owners(&created),
            [format!(
                "{expected} Update v1: data{{. a}} metadata{{generateName}}"
            )]
        );
    }
    let long = "x".repeat(200);
    let client = Client::in_memory(&it.server, Version::HTTP_2).await;
    let mut client = client.header("user-agent", &long);
    let object = json!({"metadata": {"name": "c"}, "data": {"a": "1"}});
    let created = client.post(CONFIG_MAPS, &object).await.json();
    let manager = created["metadata"]["managedFields"][0]["manager"].as_str();
    assert_eq!(manager, Some(&long[..128]));
    for manager in [long.as_str(), "a%09b"] {
        let path = format!("{CONFIG_MAP}?fieldManager={manager}");
        let refused = it.ask("PATCH", &path, MERGE, &json!({})).await;
        assert_eq!(refused.code, 422, "{}", refused.json());
    }
    it.shut_down().await;
}

#[tokio::test]
async fn defaults_belong_to_the_creator_and_what_the_server_sets_to_nobody() {
    let mut it = Cluster::new().await;
    let deployment = json!({
        "metadata": {"name": "d"},
        "spec": {
            "selector": {"matchLabels": {"app": "d"}},
            "template": {
                "metadata": {"labels": {"app": "d"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        },
    });
    let created = it
        .create(&format!("{DEPLOYMENTS}?fieldManager=m"), &deployment)
        .await;
    let expected = "m Update apps/v1: spec{progressDeadlineSeconds replicas revisionHistoryLimit \
                    selector strategy{rollingUpdate{. maxSurge maxUnavailable} type} \
                    template{metadata{labels{. app}} spec{containers{k:{\"name\":\"c\"}{. image \
                    imagePullPolicy name resources terminationMessagePath \
                    terminationMessagePolicy}} dnsPolicy restartPolicy schedulerName \
                    securityContext terminationGracePeriodSeconds}}}";
    assert_eq!(owners(&created), [expected]);

    // The cluster IP is allocated, and the service account is admitted.
    let service = json!({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}});
    let created = it
        .create(
            "/api/v1/namespaces/default/services?fieldManager=m",
            &service,
        )
        .await;
    assert!(created["spec"]["clusterIP"].is_string());
    let expected = "m Update v1: spec{internalTrafficPolicy ports{. \
                    k:{\"port\":80,\"protocol\":\"TCP\"}{. port protocol targetPort}} \
                    sessionAffinity type}";
    assert_eq!(owners(&created), [expected]);

    // An applied object has its defaults without an owner.
    let mut config = deployment;
    config["apiVersion"] = json!("apps/v1");
    config["kind"] = json!("Deployment");
    config["metadata"]["name"] = json!("e");
    let applied = it.apply(&format!("{DEPLOYMENTS}/e"), "m", &config).await;
    let expected = "m Apply apps/v1: spec{selector template{metadata{labels{app}} \
                    spec{containers{k:{\"name\":\"c\"}{. image name}}}}}";
    assert_eq!(owners(&applied), [expected]);
    assert_eq!(applied["spec"]["replicas"], 1);
    it.shut_down().await;
}

#[tokio::test]
async fn a_write_that_changes_nothing_writes_nothing() {
    let mut it = Cluster::new().await;
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}});
    let first = it.apply(CONFIG_MAP, "m", &config).await;
    assert_eq!(times(&first), ["m 00:00Z"]);
    it.advance(60);
    assert_eq!(it.apply(CONFIG_MAP, "m", &config).await, first);
    assert_eq!(it.force(CONFIG_MAP, "m", &config).await, first);
    assert_eq!(it.put(CONFIG_MAP, &first).await, first);
    assert_eq!(
        it.merge(CONFIG_MAP, &json!({"data": {"a": "1"}})).await,
        first
    );

    // Another manager of the same value is a change. As upstream, it has no time.
    let second = it.apply(CONFIG_MAP, "n", &config).await;
    assert_ne!(version(&second), version(&first));
    let both = ["n Apply v1: data{a}", "m Apply v1: data{a}"];
    assert_eq!(owners(&second), both);
    assert_eq!(times(&second), ["n ", "m 00:00Z"]);
    it.advance(60);
    assert_eq!(it.apply(CONFIG_MAP, "n", &config).await, second);

    // So is an update, and the time changes if it takes fields only.
    let path = format!("{CONFIG_MAP}?fieldManager=u");
    it.merge(&path, &json!({"data": {"u": "1"}})).await;
    it.advance(60);
    let removed = it.merge(&path, &json!({"data": {"a": null}})).await;
    assert_eq!(owners(&removed), ["u Update v1: data{u}"]);
    assert_eq!(times(&removed), ["u 02:00Z"]);
    let changed = it.merge(&path, &json!({"data": {"u": "2"}})).await;
    assert_eq!(times(&changed), ["u 03:00Z"]);
    it.shut_down().await;
}

#[tokio::test]
async fn deletion_and_its_finalizers_are_tracked() {
    let mut it = Cluster::new().await;
    let object = json!({"metadata": {"name": "c", "finalizers": ["example.com/f"]}});
    it.create(&format!("{CONFIG_MAPS}?fieldManager=m"), &object)
        .await;
    let deleted = it.client.delete(CONFIG_MAP).await;
    assert_eq!(deleted.code, 200, "{}", deleted.json());
    let waiting = it.get(CONFIG_MAP).await;
    let owner = r#"m Update v1: metadata{finalizers{. v:"example.com/f"}}"#;
    assert_eq!(owners(&waiting), [owner]);
    let path = format!("{CONFIG_MAP}?fieldManager=n");
    let last = it
        .merge(&path, &json!({"metadata": {"finalizers": null}}))
        .await;
    assert!(owners(&last).is_empty(), "{last}");
    assert_eq!(it.client.get(CONFIG_MAP).await.code, 404);
    it.shut_down().await;
}

#[tokio::test]
async fn the_oldest_of_more_than_ten_updaters_become_one_for_each_version() {
    let mut it = Cluster::new().await;
    let path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    let old = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers/h";
    let target = json!({"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"});
    let object = json!({
        "metadata": {"name": "h"},
        "spec": {"maxReplicas": 3, "scaleTargetRef": target},
    });
    it.create(&format!("{path}?fieldManager=creator"), &object)
        .await;
    let mut last = Value::Null;
    for index in 0..12 {
        it.advance(1);
        let one = format!("{path}/h");
        let one = if index % 2 == 0 { old } else { &one };
        let name = format!("l{index}");
        let patch = json!({"metadata": {"labels": {name: "x"}}});
        last = it
            .merge(&format!("{one}?fieldManager=m{index}"), &patch)
            .await;
    }
    let ancient: Vec<String> = owners(&last)
        .iter()
        .map(|it| it.split(':').next().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(
        ancient,
        [
            "ancient-changes Update autoscaling/v1",
            "ancient-changes Update autoscaling/v2",
            "m4 Update autoscaling/v1",
            "m5 Update autoscaling/v2",
            "m6 Update autoscaling/v1",
            "m7 Update autoscaling/v2",
            "m8 Update autoscaling/v1",
            "m9 Update autoscaling/v2",
            "m10 Update autoscaling/v1",
            "m11 Update autoscaling/v2",
        ]
    );
    let lines = owners(&last);
    assert!(
        lines[0].ends_with("metadata{labels{. l0 l2}}"),
        "{}",
        lines[0]
    );
    assert!(lines[1].contains("metadata{labels{l1 l3}}"), "{}", lines[1]);
    assert!(lines[1].contains("maxReplicas"), "{}", lines[1]);
    it.shut_down().await;
}

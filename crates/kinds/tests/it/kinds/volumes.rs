//! Validation of volumes and claims, alone and in Pods, with upstream's error texts.

use super::{Kinds, causes, pod};
use serde_json::{Value, json};

/// Returns the errors of a Pod with these volumes.
async fn wrong(volumes: Value) -> Vec<String> {
    let kinds = Kinds::new().await;
    kinds
        .causes("/pods", pod(json!({"volumes": volumes})))
        .await
}

fn volume(spec: Value) -> Value {
    let mut volume = json!({"metadata": {"name": "v"}, "spec": {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
    }});
    for (key, value) in spec.as_object().expect("it is an object") {
        volume["spec"][key] = value.clone();
    }
    volume
}

#[tokio::test]
async fn each_source_reports_its_missing_fields() {
    let volumes = json!([
        {"name": "a", "gcePersistentDisk": {"partition": 256}},
        {"name": "b", "rbd": {}},
        {"name": "c", "azureDisk": {"diskName": "d", "diskURI": "disk", "cachingMode": "Some"}},
        {"name": "d", "fc": {"targetWWNs": ["1"], "wwids": ["2"]}},
        {"name": "e", "quobyte": {"registry": "host", "volume": "v"}},
        {"name": "f", "flexVolume": {"driver": "d", "options": {"a.k8s.io/b": "c"}}},
        {"name": "g", "iscsi": {"targetPortal": "t", "iqn": "iqn.x", "lun": 0,
            "chapAuthSession": true, "initiatorName": "x"}},
        {"name": "h", "csi": {"driver": "-"}},
        {"name": "i", "image": {"pullPolicy": "Sometimes"}},
    ]);
    assert_eq!(
        wrong(volumes).await[..],
        [
            "spec.volumes[0].persistentDisk.pdName: Required value",
            "spec.volumes[0].persistentDisk.partition: Invalid value: 256: must be between 1 and \
             255, inclusive",
            "spec.volumes[1].rbd.monitors: Required value",
            "spec.volumes[1].rbd.image: Required value",
            "spec.volumes[2].azureDisk.cachingMode: Unsupported value: \"Some\": supported \
             values: \"None\", \"ReadOnly\", \"ReadWrite\"",
            "spec.volumes[2].azureDisk.diskURI: Unsupported value: \"disk\": supported values: \
             \"https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd\"",
            "spec.volumes[3].fc.targetWWNs: Invalid value: [\"1\"]: targetWWNs and wwids can not \
             be specified simultaneously",
            "spec.volumes[3].fc.lun: Required value: lun is required if targetWWNs is specified",
            "spec.volumes[4].quobyte.registry: Invalid value: \"host\": must be a host:port pair \
             or multiple pairs separated by commas",
            "spec.volumes[5].flexVolume.options[a.k8s.io/b]: Invalid value: \"a.k8s.io/b\": \
             kubernetes.io and k8s.io namespaces are reserved",
            "spec.volumes[6].iscsi.iqn: Invalid value: \"iqn.x\": must be valid format",
            "spec.volumes[6].iscsi.secretRef: Required value",
            "spec.volumes[6].iscsi.initiatorname: Invalid value: \"x\": must be valid format \
             starting with iqn, eui, or naa",
            "spec.volumes[7].csi.driver: Invalid value: \"-\": a lowercase RFC 1123 subdomain \
             must consist of lower case alphanumeric characters, '-' or '.', and must start and \
             end with an alphanumeric character (e.g. 'example.com', regex used for validation \
             is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
            "spec.volumes[8].image.pullPolicy: Unsupported value: \"Sometimes\": supported \
             values: \"Always\", \"IfNotPresent\", \"Never\"",
            "spec.volumes[8].image.reference: Required value",
        ]
    );
}

#[tokio::test]
async fn of_several_sources_upstreams_first_one_counts() {
    const SURPLUS: &str = "Forbidden: may not specify more than 1 volume type";
    let volumes = json!([
        {"name": "a", "cephfs": {"monitors": []}, "gitRepo": {"directory": "../up"},
            "downwardAPI": {}},
        {"name": "b", "configMap": {"name": "m"}, "fc": {}},
    ]);
    assert_eq!(
        wrong(volumes).await[..],
        [
            "spec.volumes[0].gitRepo.repository: Required value".to_owned(),
            "spec.volumes[0].gitRepo.directory: Invalid value: \"../up\": must not contain '..'"
                .to_owned(),
            format!("spec.volumes[0].cephFS: {SURPLUS}"),
            format!("spec.volumes[0].downwarAPI: {SURPLUS}"),
            "spec.volumes[1].fc.targetWWNs: Required value: must specify either targetWWNs or \
             wwids, but not both"
                .to_owned(),
            format!("spec.volumes[1].configMap: {SURPLUS}"),
        ]
    );
}

#[tokio::test]
async fn files_from_several_objects_have_different_paths() {
    let volumes = json!([{"name": "a", "projected": {"sources": [
        {"secret": {"name": "s", "items": [{"key": "k", "path": "f"}]}},
        {"configMap": {"name": "m", "items": [{"key": "k", "path": "f"}]}},
        {"serviceAccountToken": {"path": "..f", "expirationSeconds": 60}},
        {"secret": {"name": ""}, "configMap": {"name": "m"}},
    ]}}]);
    assert_eq!(
        wrong(volumes).await[..],
        [
            "spec.volumes[0].projected: Invalid value: \"m\": conflicting duplicate paths",
            "spec.volumes[0].projected.sources[2].serviceAccountToken.expirationSeconds: Invalid \
             value: 60: may not specify a duration less than 10 minutes",
            "spec.volumes[0].projected.path: Invalid value: \"..f\": must not start with '..'",
            "spec.volumes[0].projected.sources[3].secret.name: Required value",
            "spec.volumes[0].projected.sources[3]: Forbidden: may not specify more than 1 volume \
             type per source",
        ]
    );
}

#[tokio::test]
async fn a_claim_that_a_volume_brings_has_no_name_of_its_own() {
    const PATH: &str = "spec.volumes[0].ephemeral.volumeClaimTemplate";
    let claim = json!({
        "metadata": {"name": "c", "uid": "u", "labels": {"a": "b"}},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"cpu": "1"}}},
    });
    let volumes = json!([{"name": "a", "ephemeral": {"volumeClaimTemplate": claim}}]);
    assert_eq!(
        wrong(volumes).await[..],
        [
            format!("{PATH}.metadata.name: Forbidden: cannot be set"),
            format!("{PATH}.metadata.uID: Forbidden: cannot be set"),
            format!("{PATH}.spec.resources[storage]: Required value"),
        ]
    );
}

#[tokio::test]
async fn a_persistent_volume_is_checked_as_its_kind_is() {
    let kinds = Kinds::new().await;
    let bad = volume(json!({
        "capacity": {"storage": "-1"},
        "local": {"path": "a/../b"},
        "flexVolume": {},
    }));
    assert_eq!(
        kinds.causes("/persistentvolumes", bad).await[..],
        [
            "spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity",
            "spec.capacity[storage]: Invalid value: \"-1\": must be greater than zero",
            "spec.flexVolume.driver: Required value",
            "spec.local: Forbidden: may not specify more than 1 volume type",
        ]
    );
    let bad = volume(json!({
        "csi": {"driver": "d", "volumeHandle": "h", "nodePublishSecretRef": {"name": "s"}},
    }));
    assert_eq!(
        kinds.causes("/persistentvolumes", bad).await[..],
        ["spec.csi.nodePublishSecretRef.namespace: Required value"]
    );
}

#[tokio::test]
async fn the_source_of_a_persistent_volume_stays() {
    let kinds = Kinds::new().await;
    let csi = json!({"driver": "d", "volumeHandle": "h"});
    let mut stored = kinds
        .create("/persistentvolumes", volume(json!({"csi": csi})))
        .await;
    // The exception is the secret for expansion, which may be added later.
    stored["spec"]["csi"]["controllerExpandSecretRef"] = json!({"name": "s", "namespace": "n"});
    let stored = kinds.try_update("/persistentvolumes", &stored).await;
    let mut stored = stored.expect("it may be set later");
    stored["spec"]["csi"]["fsType"] = json!("ext4");
    let refused = kinds.try_update("/persistentvolumes", &stored).await;
    assert_eq!(
        causes(&refused.expect_err("it stays"))[..],
        [
            "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable \
          after creation\n@@ -24,7 +24,7 @@\n   \"Driver\": \"d\",\n   \"VolumeHandle\": \"h\",\n   \
          \"ReadOnly\": false,\n-  \"FSType\": \"\",\n+  \"FSType\": \"ext4\",\n   \
          \"VolumeAttributes\": null,\n   \"ControllerPublishSecretRef\": null,\n   \
          \"NodeStageSecretRef\": null,\n"
        ]
    );
}

#[tokio::test]
async fn a_container_has_a_volume_in_one_way() {
    let kinds = Kinds::new().await;
    let mount = |more: Value| {
        let mut mount = json!({"name": "e", "mountPath": "/e"});
        for (key, value) in more.as_object().expect("it is an object") {
            mount[key] = value.clone();
        }
        mount
    };
    let container = json!({
        "name": "c",
        "image": "web:1",
        "volumeMounts": [
            mount(json!({"subPath": "../up"})),
            mount(json!({"name": "d", "mountPath": "/f", "mountPropagation": "Bidirectional"})),
            mount(json!({"name": "g", "mountPath": "/g", "recursiveReadOnly": "Enabled"})),
        ],
        "volumeDevices": [
            {"name": "d", "devicePath": "/dev/a/.."},
            {"name": "g", "devicePath": "/e"},
        ],
    });
    let volumes = json!([
        {"name": "e", "emptyDir": {}},
        {"name": "d", "persistentVolumeClaim": {"claimName": "d"}},
        {"name": "g", "emptyDir": {}},
    ]);
    let bad = pod(json!({"containers": [container], "volumes": volumes}));
    let causes = kinds.causes("/pods", bad).await;
    let path = "spec.containers[0].";
    let causes: Vec<&str> = causes
        .iter()
        .map(|it| it.strip_prefix(path).expect("it is the container's"))
        .collect();
    assert_eq!(
        causes,
        [
            "volumeMounts[0].mountPath: Invalid value: \"/e\": must not already exist as a path \
             in volumeDevices",
            "volumeMounts.subPath: Invalid value: \"../up\": must not contain '..'",
            "volumeMounts[1].name: Invalid value: \"d\": must not already exist in volumeDevices",
            "volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is \
             available only to privileged containers",
            "volumeMounts[2].name: Invalid value: \"g\": must not already exist in volumeDevices",
            "volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is \
             true",
            "volumeDevices[0].devicePath: Invalid value: \"/dev/a/..\": can not contain backsteps \
             ('..')",
            "volumeDevices[0].name: Invalid value: \"d\": must not already exist in volumeMounts",
            "volumeDevices[1].name: Invalid value: \"g\": can only use volume source type of \
             PersistentVolumeClaim or Ephemeral for block mode",
            "volumeDevices[1].name: Invalid value: \"g\": must not already exist in volumeMounts",
            "volumeDevices[1].devicePath: Invalid value: \"/e\": must not already exist as a path \
             in volumeMounts",
        ]
    );
}

#[tokio::test]
async fn the_claims_of_a_stateful_set_are_volumes_of_its_pods() {
    let kinds = Kinds::new().await;
    let set = |claim: Value| {
        json!({"metadata": {"name": "s"}, "spec": {
            "selector": {"matchLabels": {"app": "a"}},
            "template": {"metadata": {"labels": {"app": "a"}}, "spec": {
                "containers": [{"name": "c", "image": "web:1",
                    "volumeMounts": [{"name": "data", "mountPath": "/data"}]}],
            }},
            "volumeClaimTemplates": [claim],
        }})
    };
    let bad = set(json!({"metadata": {"name": ""}, "spec": {"accessModes": ["Sometimes"]}}));
    assert_eq!(
        kinds.causes("apps/statefulsets", bad).await[..],
        [
            "spec.volumeClaimTemplates[0].spec.accessModes: Unsupported value: \"Sometimes\": \
             supported values: \"ReadOnlyMany\", \"ReadWriteMany\", \"ReadWriteOnce\", \
             \"ReadWriteOncePod\"",
            "spec.volumeClaimTemplates[0].spec.resources[storage]: Required value",
            "spec.template.spec.volumes[0].persistentVolumeClaim.claimName: Required value",
            "spec.template.spec.volumes[0].name: Required value",
            "spec.template.spec.containers[0].volumeMounts[0].name: Not found: \"data\"",
        ]
    );
    let good = json!({"metadata": {"name": "data"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
    }});
    kinds.create("apps/statefulsets", set(good)).await;
}

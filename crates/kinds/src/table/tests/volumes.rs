//! Rows of volumes and of storage kinds.

use super::check;
use serde_json::json;

#[test]
fn rows_of_volume_kinds() {
    check(
        ("", "v1", "persistentvolumes"),
        json!({"spec": {"capacity": {"storage": "1Gi"}, "volumeMode": "Block",
            "accessModes": ["ReadWriteMany", "ReadWriteOnce", "ReadWriteMany"],
            "persistentVolumeReclaimPolicy": "Retain", "storageClassName": "s",
            "claimRef": {"namespace": "n", "name": "c"}}, "status": {"phase": "Bound"}}),
        json!([
            "x", "1Gi", "RWO,RWX", "Retain", "Bound", "n/c", "s", "<unset>", "", "5m", "Block"
        ]),
    );
    check(
        ("", "v1", "persistentvolumeclaims"),
        json!({"spec": {"volumeName": "v", "storageClassName": "s", "volumeMode": "Filesystem"},
            "status": {"phase": "Bound", "capacity": {"storage": "2Gi"},
                "accessModes": ["ReadWriteOncePod"]}}),
        json!([
            "x",
            "Bound",
            "v",
            "2Gi",
            "RWOP",
            "s",
            "<unset>",
            "5m",
            "Filesystem"
        ]),
    );
    check(
        ("", "v1", "persistentvolumeclaims"),
        json!({"status": {"phase": "Pending"}}),
        json!(["x", "Pending", "", "", "", "", "<unset>", "5m", "<unset>"]),
    );
    let default = json!({"storageclass.kubernetes.io/is-default-class": "true"});
    check(
        ("storage.k8s.io", "v1", "storageclasses"),
        json!({"metadata": {"annotations": default}, "provisioner": "p"}),
        json!(["x (default)", "p", "Delete", "Immediate", false, "5m"]),
    );
    check(
        ("storage.k8s.io", "v1", "csidrivers"),
        json!({"spec": {"tokenRequests": [{"audience": "a"}, {"audience": "b"}],
            "volumeLifecycleModes": ["Persistent", "Ephemeral"]}}),
        json!([
            "x",
            true,
            false,
            false,
            "a,b",
            false,
            "Persistent,Ephemeral",
            "5m"
        ]),
    );
    check(
        ("storage.k8s.io", "v1", "csinodes"),
        json!({"spec": {"drivers": [{"name": "d", "nodeID": "n"}]}}),
        json!(["x", 1, "5m"]),
    );
    check(
        ("storage.k8s.io", "v1", "volumeattachments"),
        json!({"spec": {"attacher": "a", "source": {"persistentVolumeName": "v"},
            "nodeName": "n"}, "status": {"attached": true}}),
        json!(["x", "a", "v", "n", true, "5m"]),
    );
}

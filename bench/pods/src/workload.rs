//! `Workload`: the kinds of objects that a recorded watch can have.
//!
//! Pods are what everything was tuned with. The others are there to show that it was not tuned to
//! Pods alone: many small objects, and few large ones that consist of recursive schemas.

use super::{APPS, definition, list_version, mix, namespace, pod, updated};
use serde_json::{Value, json};
use std::str::FromStr;

/// The label of the second index, where objects have no node.
pub const LABEL: &str = "app.kubernetes.io/name";

/// A kind of objects, in any number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Pods of 8 kB.
    Pods,
    /// Config maps of 0.8 kB.
    ConfigMaps,
    /// Custom resource definitions of 40 kB.
    Definitions,
}

/// No workload has the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownWorkload;

impl std::fmt::Display for UnknownWorkload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a workload is pods, config-maps or definitions")
    }
}

impl std::error::Error for UnknownWorkload {}

impl FromStr for Workload {
    type Err = UnknownWorkload;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "pods" => Ok(Self::Pods),
            "config-maps" => Ok(Self::ConfigMaps),
            "definitions" => Ok(Self::Definitions),
            _ => Err(UnknownWorkload),
        }
    }
}

impl Workload {
    /// The group and version of the objects.
    pub fn api_version(self) -> &'static str {
        match self {
            Self::Pods | Self::ConfigMaps => "v1",
            Self::Definitions => "apiextensions.k8s.io/v1",
        }
    }

    /// The kind of the objects.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Pods => "Pod",
            Self::ConfigMaps => "ConfigMap",
            Self::Definitions => "CustomResourceDefinition",
        }
    }

    /// Returns an object as a server would.
    pub fn object(self, seed: u64, number: u64) -> Value {
        match self {
            Self::Pods => pod(seed, number),
            Self::ConfigMaps => config_map(seed, number),
            Self::Definitions => definition::definition(seed, number),
        }
    }

    /// Returns an object after an update, of which each changes one object.
    pub fn updated(self, seed: u64, objects: u64, update: u64) -> Value {
        if self == Self::Pods {
            return updated(seed, objects, update);
        }
        let mut object = self.object(seed, update % objects.max(1));
        let version = list_version(objects) + 1 + update;
        object["metadata"]["resourceVersion"] = version.to_string().into();
        object["metadata"]["annotations"]["example.com/round"] = format!("round-{update}").into();
        object
    }
}

/// Returns a config map of a few settings, with the owners of its fields.
fn config_map(seed: u64, number: u64) -> Value {
    let bits = mix(seed, number);
    let app = format!("backend-{}", number % APPS);
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": format!("{app}-settings-{number:06x}"),
            "namespace": namespace(number),
            "uid": super::uid(bits, number),
            "resourceVersion": (1 + number).to_string(),
            "creationTimestamp": "2026-05-04T08:00:00Z",
            "labels": {LABEL: app},
            "annotations": {"example.com/round": "round-0"},
            "managedFields": [{
                "manager": "kubectl", "operation": "Update", "apiVersion": "v1",
                "time": "2026-05-04T08:00:00Z", "fieldsType": "FieldsV1",
                "fieldsV1": {
                    "f:data": super::fields(&["address", "level", "timeout"]),
                    "f:metadata": {"f:labels": super::fields(&[LABEL])},
                },
            }],
        },
        "data": {
            "address": format!("10.{}.{}.{}:8080", number / 62_500 % 250, number / 250 % 250, number % 250),
            "level": if bits & 1 == 0 { "info" } else { "debug" },
            "timeout": format!("{}ms", bits % 5_000),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::Workload::{self, ConfigMaps, Definitions};

    fn size(workload: Workload) -> usize {
        workload.object(1, 7).to_string().len()
    }

    #[test]
    fn config_maps_are_small_and_definitions_large() {
        assert!(
            (600..1_000).contains(&size(ConfigMaps)),
            "{}",
            size(ConfigMaps)
        );
        let large = size(Definitions);
        assert!((36_000..44_000).contains(&large), "{large}");
    }

    #[test]
    fn an_update_changes_version_and_annotation_of_one_object() {
        for workload in [ConfigMaps, Definitions] {
            let (before, mut after) = (workload.object(1, 3), workload.updated(1, 10, 13));
            assert_eq!(after["metadata"]["resourceVersion"], "500024");
            assert_ne!(before, after);
            after["metadata"]["resourceVersion"] = before["metadata"]["resourceVersion"].clone();
            let round = "example.com/round";
            after["metadata"]["annotations"][round] =
                before["metadata"]["annotations"][round].clone();
            assert_eq!(before, after);
        }
    }

    #[test]
    fn objects_differ_by_number_and_come_again_from_their_seed() {
        for workload in [ConfigMaps, Definitions] {
            assert_eq!(workload.object(1, 7), workload.object(1, 7));
            assert_ne!(workload.object(1, 7), workload.object(1, 8));
            assert_ne!(workload.object(1, 7), workload.object(2, 7));
        }
    }
}

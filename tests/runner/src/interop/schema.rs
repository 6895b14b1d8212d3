//! The resources that a kube-apiserver serves, as the schema file lists them
//! (`xtask/schema/README.md` explains its keys).

use kubist_test_support::process::{Outcome, root};
use serde::Deserialize;

/// The schema file of the Kubernetes version that the server speaks.
const FILE: &str = "xtask/schema/kubernetes-v1.36.json";

/// Reads the schema file.
pub(super) fn read() -> Outcome<Schema> {
    let text = std::fs::read_to_string(root().join(FILE))?;
    Ok(serde_json::from_str(&text)?)
}

/// The part of the schema that interop checks.
#[derive(Deserialize)]
pub(super) struct Schema {
    pub(super) groups: Vec<Group>,
}

/// An API group.
#[derive(Deserialize)]
pub(super) struct Group {
    pub(super) name: String,
    #[serde(default)]
    pub(super) preferred: String,
    pub(super) versions: Vec<GroupVersion>,
}

/// A version of a group.
#[derive(Deserialize)]
pub(super) struct GroupVersion {
    pub(super) version: String,
    #[serde(default)]
    pub(super) served: bool,
    #[serde(default)]
    pub(super) resources: Vec<Resource>,
}

/// A resource.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Resource {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) namespaced: bool,
    #[serde(default)]
    pub(super) short_names: Vec<String>,
    #[serde(default)]
    pub(super) columns: Vec<Column>,
}

/// A column of a resource's table.
#[derive(Deserialize)]
pub(super) struct Column {
    pub(super) name: String,
    #[serde(default)]
    pub(super) priority: i32,
}

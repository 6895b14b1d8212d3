//! The format of the schema file (`xtask/schema/README.md` explains each key).

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The whole file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Schema {
    pub(crate) version: String,
    /// The kinds that are registered in every group version, and their messages.
    pub(crate) common_kinds: BTreeMap<String, String>,
    pub(crate) groups: Vec<Group>,
    /// Named scalars.
    #[serde(default)]
    pub(crate) types: BTreeMap<String, Scalar>,
    pub(crate) messages: BTreeMap<String, Message>,
}

/// A named scalar and its known values.
#[derive(Deserialize)]
pub(crate) struct Scalar {
    /// Whether the known values are all values.
    #[serde(default, rename = "enum")]
    pub(crate) is_closed: bool,
    #[serde(default)]
    pub(crate) values: Vec<String>,
}

/// An API group.
#[derive(Deserialize)]
pub(crate) struct Group {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) preferred: String,
    pub(crate) versions: Vec<GroupVersion>,
}

/// One version of a group.
#[derive(Deserialize)]
pub(crate) struct GroupVersion {
    pub(crate) version: String,
    #[serde(default)]
    pub(crate) served: bool,
    #[serde(default)]
    pub(crate) resources: Vec<Resource>,
    #[serde(default)]
    pub(crate) kinds: Vec<Kind>,
}

/// A registered kind.
#[expect(clippy::struct_field_names, reason = "the file uses these names")]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Kind {
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) plural: String,
    pub(crate) namespaced: Option<bool>,
    /// A version of Kubernetes, as are the next two.
    #[serde(default)]
    pub(crate) introduced: String,
    #[serde(default)]
    pub(crate) deprecated: String,
    #[serde(default)]
    pub(crate) removed: String,
    /// `group,version,kind`.
    #[serde(default)]
    pub(crate) replacement: String,
}

/// A served resource.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Resource {
    pub(crate) name: String,
    pub(crate) singular: String,
    pub(crate) kind: String,
    pub(crate) namespaced: bool,
    #[serde(default)]
    pub(crate) short_names: Vec<String>,
    #[serde(default)]
    pub(crate) categories: Vec<String>,
    pub(crate) verbs: Vec<String>,
    #[serde(default)]
    pub(crate) storage_version_hash: String,
    #[serde(default)]
    pub(crate) subresources: Vec<Subresource>,
    #[serde(default)]
    pub(crate) columns: Vec<Column>,
}

/// A subresource.
#[derive(Deserialize)]
pub(crate) struct Subresource {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) group: String,
    #[serde(default)]
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) verbs: Vec<String>,
}

/// A column of a table.
#[derive(Deserialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) type_: String,
    #[serde(default)]
    pub(crate) format: String,
    #[serde(default)]
    pub(crate) priority: i32,
}

/// A message.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Message {
    /// `package.Type` in Go.
    pub(crate) go: String,
    #[serde(default)]
    pub(crate) form: String,
    #[serde(default)]
    pub(crate) gvk: Vec<[String; 3]>,
    #[serde(default)]
    pub(crate) map_type: String,
    /// Whether at most one of the optional fields is set.
    #[serde(default)]
    pub(crate) union: bool,
    /// Whether the server's OpenAPI documents contain it.
    #[serde(default)]
    pub(crate) openapi: bool,
    /// The item type of messages that are lists in Go.
    #[serde(default)]
    pub(crate) item: String,
    #[serde(default)]
    pub(crate) fields: Vec<Field>,
}

/// A field.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Field {
    #[serde(default)]
    pub(crate) go: String,
    #[serde(default)]
    pub(crate) json: String,
    #[serde(rename = "type")]
    pub(crate) type_: String,
    #[serde(default)]
    pub(crate) num: u32,
    /// The protobuf name, if it differs from the JSON name.
    #[serde(default)]
    pub(crate) proto: String,
    #[serde(default)]
    pub(crate) omit: String,
    #[serde(default)]
    pub(crate) inline: bool,
    #[serde(default)]
    pub(crate) required: bool,
    #[serde(default)]
    pub(crate) patch_strategy: String,
    #[serde(default)]
    pub(crate) patch_merge_key: String,
    #[serde(default)]
    pub(crate) list_type: String,
    #[serde(default)]
    pub(crate) list_map_keys: Vec<String>,
    #[serde(default)]
    pub(crate) map_type: String,
    /// The type of the values, if it is a named scalar.
    #[serde(default)]
    pub(crate) named: String,
    /// The type of the map keys, if it is a named scalar.
    #[serde(default)]
    pub(crate) key: String,
    pub(crate) default: Option<Value>,
    /// Whether it is the discriminator of a union.
    #[serde(default)]
    pub(crate) discriminator: bool,
}

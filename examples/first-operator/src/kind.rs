//! `Website`: the kind of this operator.

use kubist::apimachinery::Condition;
use kubist::custom_resource::{CustomResource, message_schema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is wanted of a Website.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(group = "example.com", version = "v1", namespaced)]
#[custom_resource(kind = "Website", status = "WebsiteStatus")]
#[custom_resource(crate = kubist::custom_resource)] // where the facade has it
#[custom_resource(printcolumn(name = "Image", type = "string", json_path = ".spec.image"))]
#[custom_resource(printcolumn(name = "Ready", type = "integer", json_path = ".status.ready"))]
#[serde(rename_all = "camelCase")]
pub(crate) struct WebsiteSpec {
    /// The image of its container.
    pub(crate) image: String,
    /// How many Pods run it.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 100))]
    pub(crate) replicas: i32,
}

/// What is known of a Website.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct WebsiteStatus {
    /// How many of its Pods are ready.
    pub(crate) ready: i32,
    /// `Ready` is true when all of its Pods are.
    #[schemars(schema_with = "message_schema::<Vec<Condition>>")]
    pub(crate) conditions: Vec<Condition>,
}

fn one() -> i32 {
    1
}

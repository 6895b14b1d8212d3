//! `Website`: the kind of this operator.

use kubist::custom_resource::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A website that is served by a number of Pods.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(group = "example.com", version = "v1", kind = "Website", namespaced)]
#[custom_resource(status = "WebsiteStatus", shortname = "web")]
#[custom_resource(crate = kubist::custom_resource)]
#[custom_resource(printcolumn(name = "Image", type = "string", json_path = ".spec.image"))]
#[custom_resource(printcolumn(name = "Ready", type = "integer", json_path = ".status.ready"))]
#[serde(rename_all = "camelCase")]
pub struct WebsiteSpec {
    /// The image of the web server.
    pub image: String,
    /// How many Pods serve it.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 100))]
    pub replicas: i32,
}

/// What is known of a website.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct WebsiteStatus {
    /// How many of its Pods are ready.
    pub ready: i32,
    /// The generation of the spec that this is about.
    pub observed_generation: i64,
}

fn one() -> i32 {
    1
}

//! `Website` in its second version: the stored one, and the hub of conversions.

use kubist::custom_resource::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A website.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(group = "example.com", version = "v2", kind = "Website", namespaced)]
#[custom_resource(crate = kubist::custom_resource)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WebsiteSpec {
    /// The image of the web server.
    pub(crate) image: String,
    /// How many Pods serve it.
    pub(crate) scale: Scale,
}

/// A range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Scale {
    /// At least so many.
    pub(crate) min: i32,
    /// At most so many.
    pub(crate) max: i32,
}

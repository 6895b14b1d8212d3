//! `Website` in its first version, and how it becomes the second and back.

use crate::v2;
use kubist::custom_resource::{ConvertFrom, ConvertTo, CustomResource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;

/// The annotation that keeps what this version has no field for.
const MAX: &str = "example.com/max-replicas";

/// A website.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(group = "example.com", version = "v1", kind = "Website", namespaced)]
#[custom_resource(crate = kubist::custom_resource)]
#[custom_resource(deprecated = "use example.com/v2")]
#[serde(rename_all = "camelCase")]
pub(crate) struct WebsiteSpec {
    /// The image of the web server.
    pub(crate) image: String,
    /// How many Pods serve it.
    pub(crate) replicas: i32,
}

impl ConvertTo<v2::Website> for Website {
    type Error = Infallible;

    fn convert_to(&self) -> Result<v2::Website, Infallible> {
        let mut metadata = self.metadata.clone();
        let max = metadata.annotations.remove(MAX);
        let max = max.and_then(|it| it.parse().ok());
        let scale = v2::Scale {
            min: self.spec.replicas,
            max: self.spec.replicas.max(max.unwrap_or_default()),
        };
        let image = self.spec.image.clone();
        let mut website = v2::Website::new("", v2::WebsiteSpec { image, scale });
        website.metadata = metadata;
        Ok(website)
    }
}

impl ConvertFrom<v2::Website> for Website {
    type Error = Infallible;

    fn convert_from(hub: &v2::Website) -> Result<Self, Infallible> {
        let v2::Scale { min, max } = hub.spec.scale;
        let spec = WebsiteSpec {
            image: hub.spec.image.clone(),
            replicas: min,
        };
        let mut website = Self::new("", spec);
        website.metadata = hub.metadata.clone();
        if max != min {
            let annotations = &mut website.metadata.annotations;
            annotations.insert(MAX.into(), max.to_string().into());
        }
        Ok(website)
    }
}

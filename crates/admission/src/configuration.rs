//! `AdmissionConfiguration`: upstream's file with the configurations of plugins.
//!
//! A configuration is within the file, or in a file of its own that it names. What this server
//! cannot obey is refused, by the name of the plugin: a rule that is not enforced would be worse
//! than none.

use crate::document::{Document, DocumentError, read_document, typed};
use crate::event_rate_limit::EventLimits;
use crate::pod_security::PodSecurityConfig;
use crate::pods::{NodeSelectors, Tolerations};
use crate::resource_quota::LimitedResources;
use serde::Deserialize;
use serde_json::Value;
use std::fmt;
use std::io;
use std::sync::Arc;

/// The configurations of plugins. The default is that of a server without a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdmissionConfiguration {
    pub(crate) pod_security: Arc<PodSecurityConfig>,
    pub(crate) node_selectors: Arc<NodeSelectors>,
    pub(crate) tolerations: Arc<Tolerations>,
    pub(crate) limited: Arc<LimitedResources>,
    pub(crate) event_limits: Arc<EventLimits>,
    /// The plugins with a configuration.
    pub(crate) configured: Vec<String>,
}

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdmissionConfigurationError {
    /// It is not an `AdmissionConfiguration`.
    #[error("{0}")]
    Malformed(String),
    /// The configuration of a plugin cannot be used.
    #[error("couldn't init admission plugin {name:?}: {reason}")]
    Plugin {
        /// The name of the plugin.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The file with the configuration of a plugin cannot be read.
    #[error("couldn't open admission plugin configuration {path} of {name:?}")]
    Unreadable {
        /// The name of the plugin.
        name: String,
        /// The file.
        path: String,
        /// The cause.
        source: io::Error,
    },
    /// The plugin has no configuration, or this server does not have the plugin.
    #[error("admission plugin {name:?} {why}")]
    NotConfigurable {
        /// The name of the plugin.
        name: String,
        /// Why.
        why: &'static str,
    },
    /// A plugin is configured twice.
    #[error("admission plugin {0:?} is configured twice")]
    Twice(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    #[serde(default)]
    plugins: Vec<PluginFile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PluginFile {
    name: String,
    #[serde(default)]
    path: String,
    #[serde(default)]
    configuration: Option<Value>,
}

/// The versions of the file.
const VERSIONS: [&str; 2] = [
    "apiserver.config.k8s.io/v1",
    "apiserver.config.k8s.io/v1alpha1",
];
/// The kind of the file.
const KIND: &str = "AdmissionConfiguration";
/// What the file of a server before versions of it has, for one plugin.
const OLD_NODE_SELECTORS: &str = "podNodeSelectorPluginConfig";

impl AdmissionConfiguration {
    /// Parses a file. `is_available` reports whether this server has a plugin; none if upstream has
    /// none of that name.
    pub(crate) fn parse_with(
        text: &[u8],
        read: &dyn Fn(&str) -> io::Result<Vec<u8>>,
        is_available: fn(&str) -> Option<bool>,
    ) -> Result<Self, AdmissionConfigurationError> {
        let malformed =
            |error: DocumentError| AdmissionConfigurationError::Malformed(error.to_string());
        let document = read_document(text).map_err(malformed)?;
        let mut configuration = Self::default();
        if document.is_unversioned() && document.has(OLD_NODE_SELECTORS) {
            configuration.add("PodNodeSelector", document, is_available)?;
            return Ok(configuration);
        }
        let file: File = typed(document, &VERSIONS, KIND).map_err(malformed)?;
        let mut known: Vec<&str> = Vec::new();
        for plugin in &file.plugins {
            let name = plugin.name.as_str();
            if known.contains(&name) {
                return Err(AdmissionConfigurationError::Twice(name.to_owned()));
            }
            known.push(name);
            let document = match (&plugin.configuration, plugin.path.as_str()) {
                (Some(Value::Null) | None, "") => continue,
                (Some(own), _) if !own.is_null() => Document::new(own.clone()),
                (_, path) => {
                    let unreadable = |source| AdmissionConfigurationError::Unreadable {
                        name: name.to_owned(),
                        path: path.to_owned(),
                        source,
                    };
                    let text = read(path).map_err(unreadable)?;
                    read_document(&text).map_err(|error| invalid(name, &error))?
                }
            };
            configuration.add(name, document, is_available)?;
        }
        Ok(configuration)
    }

    /// Checks what a plugin that is enabled cannot do without.
    pub(crate) fn check_for(
        &self,
        is_enabled: impl Fn(&str) -> bool,
    ) -> Result<(), AdmissionConfigurationError> {
        if !is_enabled("EventRateLimit") {
            return Ok(());
        }
        let checked = self.event_limits.check("null");
        checked.map_err(|error| invalid("EventRateLimit", &error))
    }

    fn add(
        &mut self,
        name: &str,
        document: Document,
        is_available: fn(&str) -> Option<bool>,
    ) -> Result<(), AdmissionConfigurationError> {
        let wrong = |error: DocumentError| invalid(name, &error);
        self.configured.push(name.to_owned());
        match name {
            "PodSecurity" => {
                self.pod_security = Arc::new(PodSecurityConfig::parse(document).map_err(wrong)?);
            }
            "PodNodeSelector" => {
                self.node_selectors = Arc::new(NodeSelectors::parse(document).map_err(wrong)?);
            }
            "PodTolerationRestriction" => {
                self.tolerations = Arc::new(Tolerations::parse(document).map_err(wrong)?);
            }
            "ResourceQuota" => {
                self.limited = Arc::new(LimitedResources::parse(document).map_err(wrong)?);
            }
            "EventRateLimit" => {
                self.event_limits = Arc::new(EventLimits::parse(document).map_err(wrong)?);
            }
            "MutatingAdmissionWebhook" | "ValidatingAdmissionWebhook" => {
                no_credentials(document).map_err(wrong)?;
            }
            _ => {
                let why = match is_available(name) {
                    Some(true) => "has no configuration",
                    Some(false) => "is not available in this server",
                    None => "is unknown",
                };
                let name = name.to_owned();
                return Err(AdmissionConfigurationError::NotConfigurable { name, why });
            }
        }
        Ok(())
    }
}

fn invalid(name: &str, why: &dyn fmt::Display) -> AdmissionConfigurationError {
    AdmissionConfigurationError::Plugin {
        name: name.to_owned(),
        reason: why.to_string(),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[derive(Default)]
struct WebhookFile {
    kube_config_file: String,
    static_manifests_dir: String,
}

/// The versions and kinds of the configurations of webhooks.
const OF_WEBHOOKS: [(&str, &str); 2] = [
    (
        "apiserver.config.k8s.io/v1",
        "WebhookAdmissionConfiguration",
    ),
    ("apiserver.config.k8s.io/v1alpha1", "WebhookAdmission"),
];

/// Accepts a configuration of webhooks that asks for nothing.
fn no_credentials(document: Document) -> Result<(), DocumentError> {
    let file: WebhookFile = document.of_kinds(&OF_WEBHOOKS)?;
    for (field, value) in [
        ("kubeConfigFile", &file.kube_config_file),
        ("staticManifestsDir", &file.static_manifests_dir),
    ] {
        if !value.is_empty() {
            let why = format!("{field} is not supported by this server");
            return Err(DocumentError::new(why));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;

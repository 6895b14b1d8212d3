//! `PodNodeSelector`: Pods run on the nodes that are for their namespace.
//!
//! The namespace says which, in an annotation; a configuration says which nodes Pods of other
//! namespaces run on, and which labels the Pods of a namespace may ask for.

use super::PODS;
use super::namespace_annotation::of_namespace;
use crate::document::{Document, DocumentError};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::validate_name::{label_value, qualified_name};
use kubist_apimachinery::{Status, Str};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Target};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Adds the node selector of the namespace to that of Pods, and refuses those that contradict it.
#[derive(Debug)]
pub(crate) struct PodNodeSelector(pub(crate) Arc<NodeSelectors>);

/// The configuration: selectors by namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NodeSelectors {
    /// That of namespaces without one of their own.
    default: Labels,
    /// The labels that Pods of a namespace may select; any, where there are none.
    permitted: BTreeMap<String, Labels>,
}

/// The key of the selector of namespaces without one.
const DEFAULT: &str = "clusterDefaultNodeSelector";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    #[serde(default)]
    pod_node_selector_plugin_config: BTreeMap<String, String>,
}

impl NodeSelectors {
    /// Reads a configuration, which has no version.
    pub(crate) fn parse(document: Document) -> Result<Self, DocumentError> {
        let file: File = document.unversioned()?;
        let mut selectors = Self::default();
        for (namespace, selector) in file.pod_node_selector_plugin_config {
            let wrong = |status: Status| {
                DocumentError::new(format!("the selector of {namespace:?}: {}", status.message))
            };
            let labels = labels(&selector).map_err(wrong)?;
            if namespace == DEFAULT {
                selectors.default = labels;
            } else {
                selectors.permitted.insert(namespace, labels);
            }
        }
        Ok(selectors)
    }
}

/// The annotation of a namespace.
const SELECTOR: &str = "scheduler.alpha.kubernetes.io/node-selector";

type Labels = BTreeMap<Str, Str>;

impl AdmissionPlugin for PodNodeSelector {
    fn name(&self) -> &'static str {
        "PodNodeSelector"
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(PODS)
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        target.creates_object()
    }

    fn admit<'a>(
        &'a self,
        attributes: &'a mut Attributes<'_>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let wanted = self.checked(attributes).await?;
            if let Some(pod) = attributes.typed_mut::<Pod>() {
                pod.spec.node_selector.extend(wanted);
            }
            self.permits(attributes)
        })
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            self.checked(attributes).await?;
            self.permits(attributes)
        })
    }
}

impl PodNodeSelector {
    /// Returns the selector of the namespace, which a Pod does not contradict.
    async fn checked(&self, attributes: &Attributes<'_>) -> Result<Labels, Status> {
        let Some(pod) = attributes.typed::<Pod>() else {
            return Ok(Labels::new());
        };
        let wanted = match of_namespace(attributes, SELECTOR).await? {
            Some(selector) => labels(&selector)?,
            None => self.0.default.clone(),
        };
        let own = &pod.spec.node_selector;
        let contradicts = |(key, value): (&Str, &Str)| own.get(key).is_some_and(|it| it != value);
        if wanted.iter().any(contradicts) {
            let why = "pod node label selector conflicts with its namespace node label selector";
            return Err(refused(attributes, pod, why));
        }
        Ok(wanted)
    }

    /// Refuses labels that Pods of the namespace may not select.
    fn permits(&self, attributes: &Attributes<'_>) -> Result<(), Status> {
        let permitted = self.0.permitted.get(attributes.target().namespace);
        let permitted = permitted.filter(|it| !it.is_empty());
        let (Some(pod), Some(permitted)) = (attributes.typed::<Pod>(), permitted) else {
            return Ok(());
        };
        let mut own = pod.spec.node_selector.iter();
        if own.all(|(key, value)| permitted.get(key) == Some(value)) {
            return Ok(());
        }
        let why = "pod node label selector labels conflict with its namespace whitelist";
        Err(refused(attributes, pod, why))
    }
}

fn refused(attributes: &Attributes<'_>, pod: &Pod, why: &str) -> Status {
    let resource = attributes.target().group_resource();
    Status::forbidden(&resource, &pod.metadata.name, why)
}

/// Parses a selector of the form `key=value,key=value`.
fn labels(selector: &str) -> Result<Labels, Status> {
    let mut labels = Labels::new();
    if selector.is_empty() {
        return Ok(labels);
    }
    for label in selector.split(',') {
        let parts: Vec<&str> = label.split('=').collect();
        let [key, value] = parts[..] else {
            let shown = parts.join(" ");
            let why = format!("invalid selector: [{shown}]");
            return Err(Status::unmapped_error(why));
        };
        let (key, value) = (key.trim(), value.trim());
        let invalid = |path: &str, value: &str, why: &[String]| {
            let why = why.join("; ");
            Status::unmapped_error(format!("{path}: Invalid value: {value:?}: {why}"))
        };
        let problems = qualified_name(key);
        if !problems.is_empty() {
            return Err(invalid("<nil>", key, &problems));
        }
        let problems = label_value(value);
        if !problems.is_empty() {
            return Err(invalid(&format!("[{key}]"), value, &problems));
        }
        labels.insert(key.into(), value.into());
    }
    Ok(labels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::read_document;

    #[test]
    fn selectors_are_lists_of_labels() {
        let found = labels("a=b, c.d/e = f").expect("it is valid");
        let expected = [("a", "b"), ("c.d/e", "f")].map(|(key, value)| (key.into(), value.into()));
        assert_eq!(found, Labels::from(expected));
        assert_eq!(labels("").expect("nothing is valid"), Labels::new());
        let refused = |text: &str| labels(text).expect_err("it is invalid").message.to_string();
        assert_eq!(refused("a==b"), "invalid selector: [a  b]");
        assert!(refused("a b=c").starts_with("<nil>: Invalid value: \"a b\": "));
        let document = |text: &str| read_document(text.as_bytes()).expect("it is YAML");
        let configured = "podNodeSelectorPluginConfig: {clusterDefaultNodeSelector: a=b, ns: c=d}";
        let selectors = NodeSelectors::parse(document(configured)).expect("it is valid");
        assert_eq!(selectors.default, Labels::from([("a".into(), "b".into())]));
        assert_eq!(
            selectors.permitted["ns"],
            Labels::from([("c".into(), "d".into())])
        );
        let wrong = NodeSelectors::parse(document("podNodeSelectorPluginConfig: {ns: c}"));
        let why = "the selector of \"ns\": invalid selector: [c]";
        assert_eq!(wrong.expect_err("it is invalid").to_string(), why);
        assert!(refused("a=b c").starts_with("[a]: Invalid value: \"b c\": "));
    }
}

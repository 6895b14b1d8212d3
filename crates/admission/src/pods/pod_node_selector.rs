//! `PodNodeSelector`: Pods run on the nodes that are for their namespace.
//!
//! The namespace says which, in an annotation. Upstream has further settings in a file.

use super::PODS;
use super::namespace_annotation::of_namespace;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::validate_name::{label_value, qualified_name};
use kubist_apimachinery::{Status, Str};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Target};
use std::collections::BTreeMap;

/// Adds the node selector of the namespace to that of Pods, and refuses those that contradict it.
#[derive(Debug)]
pub(crate) struct PodNodeSelector;

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
            let wanted = checked(attributes).await?;
            if let Some(pod) = attributes.typed_mut::<Pod>() {
                pod.spec.node_selector.extend(wanted);
            }
            Ok(())
        })
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move { checked(attributes).await.map(drop) })
    }
}

/// Returns the selector of the namespace, which a Pod does not contradict.
async fn checked(attributes: &Attributes<'_>) -> Result<Labels, Status> {
    let Some(pod) = attributes.typed::<Pod>() else {
        return Ok(Labels::new());
    };
    let selector = of_namespace(attributes, SELECTOR).await?;
    let wanted = labels(selector.as_deref().unwrap_or_default())?;
    let own = &pod.spec.node_selector;
    let contradicts = |(key, value): (&Str, &Str)| own.get(key).is_some_and(|it| it != value);
    if wanted.iter().any(contradicts) {
        return Err(Status::forbidden(
            &attributes.target().group_resource(),
            &pod.metadata.name,
            "pod node label selector conflicts with its namespace node label selector",
        ));
    }
    Ok(wanted)
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

    #[test]
    fn selectors_are_lists_of_labels() {
        let found = labels("a=b, c.d/e = f").expect("it is valid");
        let expected = [("a", "b"), ("c.d/e", "f")].map(|(key, value)| (key.into(), value.into()));
        assert_eq!(found, Labels::from(expected));
        assert_eq!(labels("").expect("nothing is valid"), Labels::new());
        let refused = |text: &str| labels(text).expect_err("it is invalid").message.to_string();
        assert_eq!(refused("a==b"), "invalid selector: [a  b]");
        assert!(refused("a b=c").starts_with("<nil>: Invalid value: \"a b\": "));
        assert!(refused("a=b c").starts_with("[a]: Invalid value: \"b c\": "));
    }
}

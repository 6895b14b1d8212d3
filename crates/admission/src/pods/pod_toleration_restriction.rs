//! `PodTolerationRestriction`: which taints the Pods of a namespace may and do tolerate.
//!
//! The namespace says it, in annotations; where it does not, a configuration does.

use super::PODS;
use super::namespace_annotation::of_namespace;
use super::tolerations::{includes, merge};
use crate::document::{Document, DocumentError};
use crate::quality_of_service::is_best_effort;
use kubist_api::core::v1::{Pod, PodSpec, Toleration};
use kubist_apimachinery::wire::{DecodeContext, merge_json};
use kubist_apimachinery::{FieldError, FieldPath, Status};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};
use serde::Deserialize;
use std::sync::Arc;

/// Adds the tolerations of the namespace, and refuses those that it does not list.
#[derive(Debug)]
pub(crate) struct PodTolerationRestriction(pub(crate) Arc<Tolerations>);

/// The configuration: the tolerations of namespaces that have none of their own.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tolerations {
    defaults: Vec<Toleration>,
    permitted: Vec<Toleration>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    default: Vec<Toleration>,
    #[serde(default)]
    whitelist: Vec<Toleration>,
}

/// The version of the configuration.
const VERSION: &str = "podtolerationrestriction.admission.k8s.io/v1alpha1";

impl Tolerations {
    /// Reads a configuration.
    pub(crate) fn parse(document: Document) -> Result<Self, DocumentError> {
        let file: File = document.of_kinds(&[(VERSION, "Configuration")])?;
        let path = FieldPath::new("podtolerationrestriction");
        let mut errors = Vec::new();
        for (name, list) in [("default", &file.default), ("whitelist", &file.whitelist)] {
            for (place, it) in list.iter().enumerate() {
                problems(it, &path.child(name).index(place), &mut errors);
            }
        }
        DocumentError::unless_empty(&errors)?;
        Ok(Self {
            defaults: file.default,
            permitted: file.whitelist,
        })
    }
}

/// Adds what is wrong with a toleration: the rest is found in the Pods that get it.
fn problems(it: &Toleration, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let (operators, effects) = (
        ["Equal", "Exists"],
        ["NoSchedule", "PreferNoSchedule", "NoExecute"],
    );
    if !it.operator.is_empty() && !operators.contains(&&*it.operator) {
        let at = path.child("operator");
        errors.push(FieldError::not_supported(&at, &*it.operator, &operators));
    }
    if !it.effect.is_empty() && !effects.contains(&&*it.effect) {
        let at = path.child("effect");
        errors.push(FieldError::not_supported(&at, &*it.effect, &effects));
    }
}

/// The annotation with the tolerations that new Pods get.
const DEFAULTS: &str = "scheduler.alpha.kubernetes.io/defaultTolerations";
/// The annotation with the tolerations that Pods may have; nothing means all.
const PERMITTED: &str = "scheduler.alpha.kubernetes.io/tolerationsWhitelist";
/// The taint of nodes that are short of memory: Pods that request resources may still run there.
const LITTLE_MEMORY: &str = "node.kubernetes.io/memory-pressure";

impl AdmissionPlugin for PodTolerationRestriction {
    fn name(&self) -> &'static str {
        "PodTolerationRestriction"
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(PODS)
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        let writes = matches!(target.operation, Operation::Create | Operation::Update);
        writes && target.subresource.is_empty()
    }

    fn admit<'a>(
        &'a self,
        attributes: &'a mut Attributes<'_>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let mut more = match attributes.target().operation {
                Operation::Create => {
                    let own = listed(attributes, DEFAULTS).await?;
                    own.unwrap_or_else(|| self.0.defaults.clone())
                }
                _ => Vec::new(),
            };
            if let Some(pod) = attributes.typed_mut::<Pod>() {
                if !is_of_best_effort(pod) {
                    more.push(Toleration {
                        key: LITTLE_MEMORY.into(),
                        operator: "Exists".into(),
                        effect: "NoSchedule".into(),
                        ..Toleration::default()
                    });
                }
                if !more.is_empty() {
                    pod.spec.tolerations = merge(&pod.spec.tolerations, &more);
                }
            }
            self.check(attributes).await
        })
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(self.check(attributes))
    }
}

impl PodTolerationRestriction {
    async fn check(&self, attributes: &Attributes<'_>) -> Result<(), Status> {
        let Some(pod) = attributes.typed::<Pod>() else {
            return Ok(());
        };
        let tolerations = &pod.spec.tolerations;
        if tolerations.is_empty() {
            return Ok(());
        }
        let own = listed(attributes, PERMITTED).await?;
        let (permitted, scope) = match &own {
            Some(own) => (own, "namespace"),
            None => (&self.0.permitted, "cluster"),
        };
        let is_permitted = |it: &Toleration| permitted.iter().any(|other| includes(other, it));
        if permitted.is_empty() || tolerations.iter().all(is_permitted) {
            return Ok(());
        }
        Err(Status::unmapped_error(format!(
            "pod tolerations (possibly merged with namespace default tolerations) conflict with \
             its {scope} whitelist"
        )))
    }
}

/// Reports whether nothing is promised to a Pod, so that it is the first to be evicted.
fn is_of_best_effort(pod: &Pod) -> bool {
    match pod.status.qos_class.as_str() {
        "" => is_best_effort(&pod.spec),
        class => class == "BestEffort",
    }
}

/// Returns the tolerations in an annotation of the namespace; none if it has no such annotation.
async fn listed(attributes: &Attributes<'_>, key: &str) -> Result<Option<Vec<Toleration>>, Status> {
    let Some(text) = of_namespace(attributes, key).await? else {
        return Ok(None);
    };
    if text.is_empty() {
        return Ok(Some(Vec::new()));
    }
    // The list alone is no message, and a part of one that has it is.
    let json = format!("{{\"tolerations\":{text}}}");
    let mut spec = PodSpec::default();
    let decoded = merge_json(&mut spec, json.as_bytes(), &mut DecodeContext::new());
    decoded.map_err(|error| Status::unmapped_error(error.to_string()))?;
    Ok(Some(spec.tolerations))
}

//! `LimitRanger`: sets default requests and limits of containers, and keeps Pods and claims within
//! the limit ranges of their namespace.

mod constraints;

use self::constraints::{check_claim, check_pod};
use crate::amounts::Amounts;
use crate::objects::typed;
use kubist_api::core::v1::{Container, LimitRange, PersistentVolumeClaim, Pod};
use kubist_apimachinery::{AnyObject, Status};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};
use std::sync::Arc;

/// Enforces limit ranges.
#[derive(Debug)]
pub(crate) struct LimitRanger;

/// Where the plugin notes what it has set.
const ANNOTATION: &str = "kubernetes.io/limit-ranger";

impl AdmissionPlugin for LimitRanger {
    fn name(&self) -> &'static str {
        "LimitRanger"
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[("", "pods"), ("", "persistentvolumeclaims")])
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        match (target.operation, target.subresource) {
            // Containers do not change otherwise.
            (Operation::Update, "resize") => target.is("", "pods"),
            (Operation::Create, "") => true,
            (Operation::Update, "") => target.is("", "persistentvolumeclaims"),
            _ => false,
        }
    }

    fn admit<'a>(
        &'a self,
        attributes: &'a mut Attributes<'_>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let ranges = ranges(attributes).await?;
            if let Some(pod) = attributes.typed_mut::<Pod>() {
                for range in ranges.iter().filter_map(|it| typed::<LimitRange>(&**it)) {
                    set_defaults(range, pod);
                }
            }
            Ok(())
        })
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let ranges = ranges(attributes).await?;
            for range in ranges.iter().filter_map(|it| typed::<LimitRange>(&**it)) {
                let why = if let Some(pod) = attributes.typed::<Pod>() {
                    check_pod(range, pod)
                } else if let Some(claim) = attributes.typed::<PersistentVolumeClaim>() {
                    check_claim(range, claim)
                } else {
                    None
                };
                if let Some(why) = why {
                    return Err(attributes.forbidden(why));
                }
            }
            Ok(())
        })
    }
}

/// Returns the limit ranges of the namespace; none for an object that is being deleted.
async fn ranges(attributes: &Attributes<'_>) -> Result<Vec<Arc<dyn AnyObject>>, Status> {
    if let Some(old) = attributes.old_object()
        && old.meta().is_terminating()
    {
        return Ok(Vec::new());
    }
    let target = attributes.target();
    let found = attributes
        .objects()
        .list("", "limitranges", target.namespace);
    found.await.map_err(|_| {
        let facts = target.resource;
        attributes.forbidden(format_args!(
            "unable to {} {}/{}, Resource={} at this time because there was an error enforcing \
             limit ranges",
            target.operation, facts.group, facts.version, facts.plural
        ))
    })
}

/// Sets the requests and limits that containers omit, and notes that in an annotation.
fn set_defaults(range: &LimitRange, pod: &mut Pod) {
    let (mut requests, mut limits) = (Amounts::new(), Amounts::new());
    for limit in range
        .spec
        .limits
        .iter()
        .filter(|it| it.type_ == "Container")
    {
        requests.extend(limit.default_request.clone());
        limits.extend(limit.default.clone());
    }
    let mut notes = Vec::new();
    let mut set = |container: &mut Container, kind: &str| {
        let Container {
            name, resources, ..
        } = container;
        let of_requests = fill(&mut resources.requests, &requests);
        let of_limits = fill(&mut resources.limits, &limits);
        for (names, word) in [(of_requests, "request"), (of_limits, "limit")] {
            if !names.is_empty() {
                notes.push(format!("{} {word} for {kind} {name}", names.join(", ")));
            }
        }
    };
    for container in &mut pod.spec.containers {
        set(container, "container");
    }
    for container in &mut pod.spec.init_containers {
        set(container, "init container");
    }
    if !notes.is_empty() {
        let note = format!("LimitRanger plugin set: {}", notes.join("; "));
        let annotations = &mut pod.metadata.annotations;
        annotations.insert(ANNOTATION.into(), note.into());
    }
}

/// Adds missing amounts, and returns their names.
fn fill(amounts: &mut Amounts, defaults: &Amounts) -> Vec<String> {
    let mut added = Vec::new();
    for (name, amount) in defaults {
        if !amounts.contains_key(name) {
            amounts.insert(name.clone(), amount.clone());
            added.push(name.to_string());
        }
    }
    added
}

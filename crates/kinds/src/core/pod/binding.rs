//! The subresource `pods/binding`, which assigns a pod to a node.

use super::action::{pod, set_condition, success};
use kubist_api::core::v1::{Binding, PodCondition};
use kubist_api::{Kind, find_kind};
use kubist_apimachinery::{
    AnyObject, FieldError, FieldPath, GroupKind, GroupResource, Preconditions, Status, Str, Time,
};
use kubist_registry::{Action, ActionCall, BoxFuture, Created, UpdatePath, UpdatedObject};
use std::any::Any;

const SUBRESOURCE: &str = "binding";

/// Assigns a pod to the node that a binding names.
#[derive(Debug)]
pub(crate) struct Bind;

impl Action for Bind {
    fn kind(&self) -> Option<&'static Kind> {
        find_kind("", "v1", "Binding")
    }

    fn act<'a>(&'a self, call: ActionCall<'a>) -> BoxFuture<'a, Result<Created, Status>> {
        Box::pin(bind(call))
    }
}

async fn bind(call: ActionCall<'_>) -> Result<Created, Status> {
    let ActionCall {
        store, cx, name, ..
    } = call;
    let object: &dyn Any = call.body;
    let binding = object
        .downcast_ref::<Binding>()
        .ok_or_else(|| Status::bad_request("expected a Binding"))?;
    if binding.metadata.name != *name {
        let message = "name in URL does not match name in Binding object";
        return Err(Status::bad_request(message));
    }
    let errors = check(binding);
    if !errors.is_empty() {
        let kind = GroupKind::new("", "Binding");
        return Err(Status::invalid(&kind, name, &errors));
    }
    let bound = Bound {
        binding,
        now: cx.now(),
    };
    // The same for the resource `bindings`.
    let path = UpdatePath::Everything(SUBRESOURCE);
    store
        .update(cx, (call.namespace, name), &bound, path, call.dry_run)
        .await?;
    Ok(success())
}

fn check(binding: &Binding) -> Vec<FieldError> {
    let path = FieldPath::new("target");
    let mut errors = Vec::new();
    let kind = &binding.target.kind;
    if !kind.is_empty() && *kind != "Node" {
        let supported = ["Node", "<empty>"];
        errors.push(FieldError::not_supported_text(
            &path.child("kind"),
            kind,
            &supported,
        ));
    }
    if binding.target.name.is_empty() {
        errors.push(FieldError::required(&path.child("name"), ""));
    }
    errors
}

/// The update that binds a pod to the node of a binding.
struct Bound<'a> {
    binding: &'a Binding,
    now: Time,
}

impl UpdatedObject for Bound<'_> {
    fn preconditions(&self) -> Preconditions {
        let meta = &self.binding.metadata;
        let non_empty = |it: &Str| Some(it.clone()).filter(|it| !it.is_empty());
        Preconditions {
            uid: non_empty(&meta.uid),
            resource_version: non_empty(&meta.resource_version),
        }
    }

    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let mut pod = pod(old)?;
        let name = &self.binding.metadata.name;
        let conflict = |why: String| {
            Err(Status::conflict(
                &GroupResource::new("", "pods/binding"),
                name,
                why,
            ))
        };
        if pod.metadata.is_terminating() {
            return conflict(format!(
                "pod {name} is being deleted, cannot be assigned to a host"
            ));
        }
        if !pod.spec.node_name.is_empty() {
            let node = &pod.spec.node_name;
            return conflict(format!("pod {name} is already assigned to node {node:?}"));
        }
        if !pod.spec.scheduling_gates.is_empty() {
            return conflict(format!("pod {name} has non-empty .spec.schedulingGates"));
        }
        pod.spec.node_name = self.binding.target.name.clone();
        for (key, value) in &self.binding.metadata.annotations {
            pod.metadata.annotations.insert(key.clone(), value.clone());
        }
        // Admission may have added those of the node.
        let labels = self.binding.metadata.labels.clone();
        pod.metadata.labels.extend(labels);
        // The nomination was only a hint and no longer applies.
        pod.status.nominated_node_name = Str::default();
        let condition = PodCondition {
            type_: "PodScheduled".into(),
            status: "True".into(),
            ..PodCondition::default()
        };
        set_condition(&mut pod, condition, self.now);
        Ok(Box::new(pod))
    }
}

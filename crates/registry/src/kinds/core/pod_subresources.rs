//! `pods/binding` and `pods/eviction`: a pod is given to a node, or asked to leave it.

mod disruption;

use disruption::Leave;

use crate::kinds::core::pod::topology;
use crate::rest::{Created, Rest, UpdatedObject};
use crate::store::{DeleteCall, IGNORE_READ_ERROR, Part, UpdateRequest, check_preconditions};
use crate::{RequestContext, Stored};
use kubist_api::core::v1::{Binding, Pod, PodCondition};
use kubist_api::policy::v1::Eviction;
use kubist_apimachinery::{
    AnyObject, DeleteOptions, FieldError, FieldPath, GroupKind, GroupResource, Preconditions,
    Status, Str, Time,
};
use std::any::Any;
use std::collections::BTreeMap;

/// Gives a pod to the node that a binding names.
pub(crate) async fn bind(
    rest: &Rest,
    cx: &RequestContext,
    namespace: &str,
    name: &str,
    object: &dyn AnyObject,
    dry_run: bool,
) -> Result<Created, Status> {
    let object: &dyn Any = object;
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
    let mut labels = binding.metadata.labels.clone();
    if binding.target.kind == "Node" {
        labels.extend(topology::of_node(&*rest.shared, &binding.target.name).await?);
    }
    let bound = Bound {
        binding,
        labels,
        now: cx.now(),
    };
    change(rest, cx, namespace, name, &bound, dry_run).await?;
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

/// A pod on the node of a binding.
struct Bound<'a> {
    binding: &'a Binding,
    /// What is put on the pod, whatever is there.
    labels: BTreeMap<Str, Str>,
    now: Time,
}

impl UpdatedObject for Bound<'_> {
    fn preconditions(&self) -> Preconditions {
        let meta = &self.binding.metadata;
        let given = |it: &Str| Some(it.clone()).filter(|it| !it.is_empty());
        Preconditions {
            uid: given(&meta.uid),
            resource_version: given(&meta.resource_version),
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
        pod.metadata.labels.extend(self.labels.clone());
        // It was a hint, and is none any more.
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

/// Deletes a pod, if its disruption budget has room.
pub(crate) async fn evict(
    rest: &Rest,
    cx: &RequestContext,
    namespace: &str,
    name: &str,
    object: &dyn AnyObject,
    dry_run: bool,
) -> Result<Created, Status> {
    let object: &dyn Any = object;
    let eviction = object
        .downcast_ref::<Eviction>()
        .ok_or_else(|| Status::bad_request("expected an Eviction"))?;
    if eviction.metadata.name != *name {
        let message = "name in URL does not match name in Eviction object";
        return Err(Status::bad_request(message));
    }
    let options = eviction.delete_options.as_deref().map(options_of);
    let options = dry_as_asked(options.unwrap_or_default(), dry_run)?;
    let dry_run = !options.dry_run.is_empty();
    let asked = eviction.delete_options.as_deref();
    let ignores = asked.and_then(|it| it.ignore_store_read_error_with_cluster_breaking_potential);
    if ignores == Some(true) {
        return Err(cannot_ignore(name));
    }
    let resource = GroupResource::new("", "pods");
    for attempt in 1.. {
        let stored = rest.shared.one(rest.store(), namespace, name).await?;
        let stored = stored.ok_or_else(|| Status::not_found(&resource, name))?;
        let pod = pod(Some(&**stored.object()?))?;
        let leave = disruption::take(rest, cx, &pod, dry_run).await?;
        // Another that becomes ready meanwhile is another case.
        let (any_version, mut asked) = (asks_no_version(&options), options.clone());
        // Of one that its budget spares, upstream forgets the version that was asked for, and
        // evicts a pod that is not the one that was meant.
        if any_version && leave != Leave::Granted {
            let preconditions = asked.preconditions.get_or_insert_default();
            preconditions.resource_version = Some(pod.metadata.resource_version.clone());
        }
        let removed = remove(rest, cx, &pod, &asked, dry_run).await;
        let lost = any_version && removed.as_ref().is_err_and(Status::is_conflict);
        match (removed, leave) {
            (Err(_), _) if lost && attempt < EVICTION_TRIES && asks_for(&options, &pod) => {}
            (Err(_), Leave::Spared(budget)) if lost => return Err(disruption::undecided(&budget)),
            (removed, _) => return removed.map(|()| success()),
        }
    }
    unreachable!("the last attempt returns")
}

/// What says that it is only tried: the options of the request, those of the deletion in the
/// eviction, or both, which must not say different things then.
fn dry_as_asked(mut options: DeleteOptions, dry_run: bool) -> Result<DeleteOptions, Status> {
    if !dry_run {
        return Ok(options);
    }
    if options.dry_run.iter().any(|it| *it != ALL_STAGES) {
        let told = options.dry_run.iter().map(Str::as_str).collect::<Vec<_>>();
        // Upstream has no code for it, and answers with 500.
        return Err(Status::bad_request(format!(
            "Non-matching dry-run options in request and content: [{ALL_STAGES}] and [{}]",
            told.join(" ")
        )));
    }
    if options.dry_run.is_empty() {
        options.dry_run.push(ALL_STAGES.into());
    }
    Ok(options)
}

/// The only value of `dryRun`.
const ALL_STAGES: &str = "All";

/// 422: an eviction reads the pod.
fn cannot_ignore(name: &str) -> Status {
    let path = FieldPath::new("deleteOptions").child(IGNORE_READ_ERROR);
    let detail = "can not be set for pod eviction, try after removing the option";
    let kind = GroupKind::new("policy", "Eviction");
    Status::invalid(&kind, name, &[FieldError::invalid(&path, true, detail)])
}

/// How often an eviction begins anew because the pod changed, as upstream.
const EVICTION_TRIES: usize = 20;

fn asks_no_version(options: &DeleteOptions) -> bool {
    let preconditions = options.preconditions.as_deref();
    preconditions.is_none_or(|it| it.resource_version.is_none())
}

/// Whether the options mean this pod, and not only its name.
fn asks_for(options: &DeleteOptions, pod: &Pod) -> bool {
    let preconditions = options.preconditions.as_deref();
    let uid = preconditions.and_then(|it| it.uid.as_ref());
    uid.is_none_or(|uid| *uid == pod.metadata.uid)
}

/// Marks a pod as evicted and deletes it: this one, whoever has its name by now, and only under
/// the preconditions of the options.
async fn remove(
    rest: &Rest,
    cx: &RequestContext,
    pod: &Pod,
    options: &DeleteOptions,
    dry_run: bool,
) -> Result<(), Status> {
    let (namespace, name) = (&pod.metadata.namespace, &pod.metadata.name);
    let asked = options.preconditions.as_deref();
    let mut marked_version = None;
    if !dry_run {
        let evicted = Evicted {
            now: cx.now(),
            uid: pod.metadata.uid.clone(),
            asked: asked.cloned().unwrap_or_default(),
        };
        let marked = change(rest, cx, namespace, name, &evicted, false).await?;
        marked_version = Some(marked.resource_version().to_string().into());
    }
    let mut options = options.clone();
    let preconditions = options.preconditions.get_or_insert_default();
    // The version that was wanted was there when the pod was marked, and is the marked one now.
    if let Some(wanted) = &mut preconditions.resource_version
        && let Some(marked) = marked_version
    {
        *wanted = marked;
    }
    let uid = || pod.metadata.uid.clone();
    preconditions.uid.get_or_insert_with(uid);
    let call = DeleteCall {
        cx,
        namespace,
        name,
        options: &options,
        only: None,
    };
    rest.store().delete(call).await.map(drop)
}

/// A pod that says that it is evicted.
struct Evicted {
    now: Time,
    uid: Str,
    /// What whoever evicts it wants it to be.
    asked: Preconditions,
}

impl UpdatedObject for Evicted {
    fn preconditions(&self) -> Preconditions {
        Preconditions {
            uid: Some(self.uid.clone()),
            resource_version: None,
        }
    }

    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let mut pod = pod(old)?;
        let given = |it: &Option<Str>| it.clone().filter(|it| !it.is_empty());
        let asked = Preconditions {
            uid: given(&self.asked.uid),
            resource_version: given(&self.asked.resource_version),
        };
        check_preconditions("", "Pod", &pod.metadata, &asked)?;
        let condition = PodCondition {
            type_: "DisruptionTarget".into(),
            status: "True".into(),
            reason: "EvictionByEvictionAPI".into(),
            message: "Eviction API: evicting".into(),
            ..PodCondition::default()
        };
        set_condition(&mut pod, condition, self.now);
        Ok(Box::new(pod))
    }
}

/// The options in an eviction are another Rust type of the same message.
fn options_of(options: &kubist_api::meta::v1::DeleteOptions) -> DeleteOptions {
    let preconditions = options.preconditions.as_deref().map(|it| {
        Box::new(Preconditions {
            uid: it.uid.clone(),
            resource_version: it.resource_version.clone(),
        })
    });
    DeleteOptions {
        grace_period_seconds: options.grace_period_seconds,
        preconditions,
        orphan_dependents: options.orphan_dependents,
        propagation_policy: options.propagation_policy.clone(),
        dry_run: options.dry_run.clone(),
        ignore_store_read_error_with_cluster_breaking_potential: None,
    }
}

async fn change(
    rest: &Rest,
    cx: &RequestContext,
    namespace: &str,
    name: &str,
    object: &dyn UpdatedObject,
    dry_run: bool,
) -> Result<Stored, Status> {
    let request = UpdateRequest {
        shared: &rest.shared,
        cx,
        namespace,
        name,
        object,
        part: Part::Everything,
        subresource: rest.subresource.name(),
        dry_run,
        rules: None,
    };
    Ok(rest.store().update(request).await?.stored)
}

fn pod(object: Option<&dyn AnyObject>) -> Result<Pod, Status> {
    let found = object.and_then(|object| (object as &dyn Any).downcast_ref::<Pod>());
    found
        .cloned()
        .ok_or_else(|| Status::internal_error("expected a Pod"))
}

/// Sets a condition of a pod; its time moves only with its status.
fn set_condition(pod: &mut Pod, mut condition: PodCondition, now: Time) {
    condition.last_transition_time = Some(now);
    let conditions = &mut pod.status.conditions;
    match conditions.iter_mut().find(|it| it.type_ == condition.type_) {
        Some(found) => {
            if found.status == condition.status {
                condition.last_transition_time = found.last_transition_time;
            }
            *found = condition;
        }
        None => conditions.push(condition),
    }
}

fn success() -> Created {
    let mut status = Status::success();
    status.code = 201;
    Created::Status(Box::new(status))
}

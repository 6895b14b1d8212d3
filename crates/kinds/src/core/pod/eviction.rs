//! The subresource `pods/eviction`, which deletes a pod if its disruption budget permits it.

use super::action::{pod, set_condition, success};
use super::disruption::{self, Permission};
use kubist_api::core::v1::{Pod, PodCondition};
use kubist_api::policy::v1::Eviction;
use kubist_api::{Kind, find_kind};
use kubist_apimachinery::{
    AnyObject, DeleteOptions, FieldError, FieldPath, GroupKind, GroupResource, Preconditions,
    Status, Str, Time,
};
use kubist_registry::{
    Action, ActionCall, BoxFuture, Created, IGNORE_READ_ERROR, UpdatePath, UpdatedObject,
    check_preconditions,
};
use std::any::Any;

/// Deletes a pod if its disruption budget permits it.
#[derive(Debug)]
pub(crate) struct Evict;

impl Action for Evict {
    fn kind(&self) -> Option<&'static Kind> {
        find_kind("policy", "v1", "Eviction")
    }

    fn act<'a>(&'a self, call: ActionCall<'a>) -> BoxFuture<'a, Result<Created, Status>> {
        Box::pin(evict(call))
    }
}

async fn evict(call: ActionCall<'_>) -> Result<Created, Status> {
    let ActionCall {
        namespace, name, ..
    } = call;
    let object: &dyn Any = call.body;
    let eviction = object
        .downcast_ref::<Eviction>()
        .ok_or_else(|| Status::bad_request("expected an Eviction"))?;
    if eviction.metadata.name != *name {
        let message = "name in URL does not match name in Eviction object";
        return Err(Status::bad_request(message));
    }
    let options = eviction.delete_options.as_deref().map(options_of);
    let options = with_dry_run(options.unwrap_or_default(), call.dry_run)?;
    let dry_run = !options.dry_run.is_empty();
    let own = eviction.delete_options.as_deref();
    let ignores = own.and_then(|it| it.ignore_store_read_error_with_cluster_breaking_potential);
    if ignores == Some(true) {
        return Err(cannot_ignore(name));
    }
    let resource = GroupResource::new("", "pods");
    for attempt in 1.. {
        let stored = call.store.get(namespace, name).await?;
        let stored = stored.ok_or_else(|| Status::not_found(&resource, name))?;
        let pod = pod(Some(&**stored.object()?))?;
        let permission = disruption::check_and_decrement(call, &pod, dry_run).await?;
        // If the request names no version, this one is required: a pod that becomes ready meanwhile
        // needs a new decision.
        let (any_version, mut required) = (has_no_version_precondition(&options), options.clone());
        // For a pod that its budget does not count, upstream drops the requested version and evicts
        // a pod that the request did not mean.
        if any_version && permission != Permission::Granted {
            let preconditions = required.preconditions.get_or_insert_default();
            preconditions.resource_version = Some(pod.metadata.resource_version.clone());
        }
        let removed = remove(call, &pod, &required, dry_run).await;
        let lost = any_version && removed.as_ref().is_err_and(Status::is_conflict);
        match (removed, permission) {
            (Err(_), _) if lost && attempt < EVICTION_TRIES && matches_uid(&options, &pod) => {}
            (Err(_), Permission::NotCounted(budget)) if lost => {
                return Err(disruption::not_processed(&budget));
            }
            (removed, _) => return removed.map(|()| success()),
        }
    }
    unreachable!("the last attempt returns")
}

/// Combines the dry-run options of the request with those of the eviction's delete options. Fails
/// if both are set and differ.
fn with_dry_run(mut options: DeleteOptions, dry_run: bool) -> Result<DeleteOptions, Status> {
    if !dry_run {
        return Ok(options);
    }
    if options.dry_run.iter().any(|it| *it != ALL_STAGES) {
        let values = options.dry_run.iter().map(Str::as_str).collect::<Vec<_>>();
        // Upstream sets no status code here and answers with 500.
        return Err(Status::bad_request(format!(
            "Non-matching dry-run options in request and content: [{ALL_STAGES}] and [{}]",
            values.join(" ")
        )));
    }
    if options.dry_run.is_empty() {
        options.dry_run.push(ALL_STAGES.into());
    }
    Ok(options)
}

/// The only value of `dryRun`.
const ALL_STAGES: &str = "All";

/// Returns 422: an eviction must read the pod.
fn cannot_ignore(name: &str) -> Status {
    let path = FieldPath::new("deleteOptions").child(IGNORE_READ_ERROR);
    let detail = "can not be set for pod eviction, try after removing the option";
    let kind = GroupKind::new("policy", "Eviction");
    Status::invalid(&kind, name, &[FieldError::invalid(&path, true, detail)])
}

/// How often an eviction restarts because the pod changed, as upstream.
const EVICTION_TRIES: usize = 20;

fn has_no_version_precondition(options: &DeleteOptions) -> bool {
    let preconditions = options.preconditions.as_deref();
    preconditions.is_none_or(|it| it.resource_version.is_none())
}

/// Reports whether the uid precondition of the options, if set, matches this pod.
fn matches_uid(options: &DeleteOptions, pod: &Pod) -> bool {
    let preconditions = options.preconditions.as_deref();
    let uid = preconditions.and_then(|it| it.uid.as_ref());
    uid.is_none_or(|uid| *uid == pod.metadata.uid)
}

/// Marks a pod as evicted and deletes it. Never deletes a newer pod of the same name, and respects
/// the preconditions of the options.
async fn remove(
    call: ActionCall<'_>,
    pod: &Pod,
    options: &DeleteOptions,
    dry_run: bool,
) -> Result<(), Status> {
    let ActionCall { store, cx, .. } = call;
    let place = (&*pod.metadata.namespace, &*pod.metadata.name);
    let requested = options.preconditions.as_deref();
    let mut marked_version = None;
    if !dry_run {
        let evicted = Evicted {
            now: cx.now(),
            uid: pod.metadata.uid.clone(),
            requested: requested.cloned().unwrap_or_default(),
        };
        let path = UpdatePath::Everything(call.subresource);
        let marked = store.update(cx, place, &evicted, path, false).await?;
        marked_version = Some(marked.resource_version().to_string().into());
    }
    let mut options = options.clone();
    let preconditions = options.preconditions.get_or_insert_default();
    // The requested version was checked when the pod was marked; the marked version replaces it.
    if let Some(wanted) = &mut preconditions.resource_version
        && let Some(marked) = marked_version
    {
        *wanted = marked;
    }
    let uid = || pod.metadata.uid.clone();
    preconditions.uid.get_or_insert_with(uid);
    store.delete(cx, place, &options).await
}

/// The update that marks a pod as evicted.
struct Evicted {
    now: Time,
    uid: Str,
    /// The preconditions of the eviction request.
    requested: Preconditions,
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
        let non_empty = |it: &Option<Str>| it.clone().filter(|it| !it.is_empty());
        let requested = Preconditions {
            uid: non_empty(&self.requested.uid),
            resource_version: non_empty(&self.requested.resource_version),
        };
        check_preconditions("", "Pod", &pod.metadata, &requested)?;
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

/// Converts the options in an eviction, which have a different Rust type for the same message.
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

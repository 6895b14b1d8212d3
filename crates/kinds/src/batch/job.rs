//! Jobs.

pub(crate) mod indexes;
pub(crate) mod policies;
pub(crate) mod status;
pub(crate) mod update;
pub(crate) mod validation;

use crate::pod_spec::defaults::{default_pod_template, labels_from_template};
use crate::pod_spec::{self, disabled_fields};
use crate::shared::{fill, metadata_checks};
use kubist_api::batch::v1::Job;
use kubist_apimachinery::{DeleteOptions, FieldError, Str};
use kubist_registry::{
    Dependents, ForKind, Generation, KindStrategy, MetadataUpdate, RequestContext, StatusKeeps,
    Strategy, StrategyFacts,
};
use std::borrow::Cow;

#[derive(Debug)]
pub(crate) struct Jobs;

/// The labels by which a Job selects its Pods. The unprefixed ones are kept for older clients.
const CONTROLLER_UID: &str = "batch.kubernetes.io/controller-uid";
const JOB_NAME: &str = "batch.kubernetes.io/job-name";
const OLD_CONTROLLER_UID: &str = "controller-uid";
const OLD_JOB_NAME: &str = "job-name";
/// The warning if no deletion policy is given.
const PODS_STAY: &str = "child pods are preserved by default when jobs are deleted; set \
     propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this \
     warning";

impl KindStrategy for Jobs {
    type Kind = Job;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_on_update: MetadataUpdate::Whole,
        generation: Generation::Spec,
        status_keeps: StatusKeeps::Nothing,
        default_dependents: Dependents::Orphan,
        selectable_fields: &["status.successful"],
        delete_warning,
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        (name == "status").then_some(&ForKind(JobsStatus))
    }
    fn apply_defaults(&self, object: &mut Job) {
        let spec = &mut object.spec;
        default_pod_template(&mut spec.template);
        if spec.completions.is_none() && spec.parallelism.is_none() {
            spec.completions = Some(1);
        }
        spec.parallelism.get_or_insert(1);
        let per_index = spec.backoff_limit_per_index.is_some();
        spec.backoff_limit
            .get_or_insert(if per_index { i32::MAX } else { 6 });
        fill::option(&mut spec.completion_mode, "NonIndexed");
        spec.suspend.get_or_insert(false);
        spec.manual_selector.get_or_insert(false);
        let replacement = match &mut spec.pod_failure_policy {
            None => "TerminatingOrFailed",
            Some(policy) => {
                let rules = policy.rules.iter_mut();
                for pattern in rules.flat_map(|rule| &mut rule.on_pod_conditions) {
                    fill::text(&mut pattern.status, "True");
                }
                "Failed"
            }
        };
        fill::option(&mut spec.pod_replacement_policy, replacement);
        labels_from_template(&mut object.metadata.labels, &object.spec.template);
    }
    fn prepare_for_update(&self, _: &RequestContext, new: &mut Job, old: &Job) {
        let old = &old.spec.template.spec;
        disabled_fields::drop_from(&mut new.spec.template.spec, Some(old));
    }
    fn prepare_for_create(&self, _: &RequestContext, new: &mut Job) {
        disabled_fields::drop_from(&mut new.spec.template.spec, None);
        // Labels that were copied from the template follow the template's labels. If the template
        // had none, the Job is stored without labels, and they are filled in on read.
        let follows = !new.metadata.labels.is_empty()
            && new.metadata.labels == new.spec.template.metadata.labels;
        if new.spec.manual_selector != Some(true) {
            select_own_pods(new);
        }
        if follows {
            new.metadata.labels.clear();
            labels_from_template(&mut new.metadata.labels, &new.spec.template);
        }
    }
    fn warnings(&self, new: &Job, old: Option<&Job>) -> Vec<String> {
        let (meta, before) = (&new.metadata, old.map(|it| &it.metadata));
        let path = pod_spec::warnings::template_path();
        let mut found = pod_spec::warnings::of_named(meta, before, &new.spec.template, &path);
        let spec = &new.spec;
        let is_indexed = spec.completion_mode.as_deref() == Some("Indexed");
        let (completions, parallelism) = (spec.completions, spec.parallelism);
        if old.is_none() && is_indexed && completions > Some(100_000) && parallelism > Some(10_000)
        {
            found.push(
                "spec: In Indexed Jobs with a number of completions higher than 10^5 and a \
                 parallelism higher than 10^4, Kubernetes might not be able to track \
                 completedIndexes when a big number of indexes fail"
                    .to_owned(),
            );
        }
        found
    }
    fn validate(&self, new: &Job) -> Vec<FieldError> {
        validation::check(new, None)
    }
    fn validate_update(&self, new: &Job, old: &Job) -> Vec<FieldError> {
        let mut errors = validation::check(new, Some(old));
        errors.extend(metadata_checks::change(self, new, old));
        errors.extend(update::check(new, old));
        errors
    }
    fn field<'a>(&self, object: &'a Job, _: &str) -> Cow<'a, str> {
        Cow::Owned(object.status.succeeded.to_string())
    }
}

fn delete_warning(options: &DeleteOptions) -> Option<&'static str> {
    let is_set = options.propagation_policy.is_some() || options.orphan_dependents.is_some();
    (!is_set).then_some(PODS_STAY)
}

/// The `status` subresource of [`Jobs`].
#[derive(Debug)]
struct JobsStatus;

impl KindStrategy for JobsStatus {
    type Kind = Job;

    fn validate_update(&self, new: &Job, old: &Job) -> Vec<FieldError> {
        status::check(new, old)
    }
}

/// Adds the Job's uid and name to the template's labels, and selects by the uid.
fn select_own_pods(job: &mut Job) {
    let uid = job.metadata.uid.clone();
    let name = job.metadata.name.clone();
    let labels = &mut job.spec.template.metadata.labels;
    let mut mark = |key: &str, value: &Str| {
        labels.entry(key.into()).or_insert_with(|| value.clone());
    };
    mark(CONTROLLER_UID, &uid);
    mark(JOB_NAME, &name);
    mark(OLD_CONTROLLER_UID, &uid);
    mark(OLD_JOB_NAME, &name);
    let selector = job.spec.selector.get_or_insert_default();
    selector
        .match_labels
        .entry(CONTROLLER_UID.into())
        .or_insert(uid);
}

/// Returns the labels that a Job's template must have. The selector uses the third one.
pub(crate) fn own_labels(job: &Job) -> [(&'static str, &Str); 4] {
    let (uid, name) = (&job.metadata.uid, &job.metadata.name);
    [
        (OLD_CONTROLLER_UID, uid),
        (OLD_JOB_NAME, name),
        (CONTROLLER_UID, uid),
        (JOB_NAME, name),
    ]
}

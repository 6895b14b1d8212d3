//! The Pods of a Job: how they are made, and what their annotations and finalizers say.

use crate::pod_state;
use kubist_api::batch::v1::Job;
use kubist_api::core::v1::{Container, EnvVar, EnvVarSource, ObjectFieldSelector, Pod};
use kubist_apimachinery::Str;
use kubist_controller::controller_reference;

/// Keeps a Pod until the Job has counted it.
pub(super) const FINALIZER: &str = "batch.kubernetes.io/job-tracking";
const INDEX: &str = "batch.kubernetes.io/job-completion-index";
const FAILURES: &str = "batch.kubernetes.io/job-index-failure-count";
const IGNORED: &str = "batch.kubernetes.io/job-index-ignored-failure-count";
const INDEX_VARIABLE: &str = "JOB_COMPLETION_INDEX";
/// The length of a prefix of generated names.
const PREFIX_MAX: usize = 58;

/// Reports whether each completion has an index.
pub(super) fn is_indexed(job: &Job) -> bool {
    job.spec.completion_mode.as_deref() == Some("Indexed")
}

/// Reports whether a Pod is only replaced when it has ended.
pub(super) fn waits_for_ends(job: &Job) -> bool {
    let policy = job.spec.pod_replacement_policy.as_deref();
    policy == Some("Failed") || job.spec.pod_failure_policy.is_some()
}

/// Reports whether a Pod has failed, in the eyes of its Job.
pub(super) fn has_failed(job: &Job, pod: &Pod) -> bool {
    let phase = pod.status.phase.as_str();
    phase == "Failed" || (!waits_for_ends(job) && pod_state::is_ending(pod))
}

/// Reports whether the Job has not counted the Pod yet.
pub(super) fn is_tracked(pod: &Pod) -> bool {
    pod.metadata.finalizers.iter().any(|it| *it == FINALIZER)
}

/// Returns the index of a Pod, if it has one.
pub(super) fn index(pod: &Pod) -> Option<i32> {
    let index = pod.metadata.annotations.get(INDEX)?.parse().ok()?;
    (index >= 0).then_some(index)
}

/// Returns the index of a Pod of this Job, if it is below its completions.
pub(super) fn valid_index(job: &Job, pod: &Pod) -> Option<i32> {
    index(pod).filter(|it| *it < job.spec.completions.unwrap_or(0))
}

/// The failures of a Pod's index before it, those that count.
pub(super) fn index_failures(pod: &Pod) -> i32 {
    number(pod, FAILURES)
}

/// And those that do not.
pub(super) fn ignored_failures(pod: &Pod) -> i32 {
    number(pod, IGNORED)
}

fn number(pod: &Pod, annotation: &str) -> i32 {
    let text = pod.metadata.annotations.get(annotation);
    text.and_then(|it| it.parse().ok())
        .filter(|it| *it >= 0)
        .unwrap_or(0)
}

/// A Pod that is to be created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Its index, if the Job has such.
    pub(super) index: Option<i32>,
    /// The failures of the index so far, those that count and the others, if they are limited.
    pub(super) failures: Option<(i32, i32)>,
}

/// Returns a Pod of the template.
pub(super) fn made(job: &Job, wanted: Wanted) -> Pod {
    let template = &job.spec.template;
    let mut pod = Pod {
        spec: template.spec.clone(),
        ..Pod::default()
    };
    let meta = &mut pod.metadata;
    meta.generate_name = format!("{}-", job.metadata.name).into();
    meta.namespace = job.metadata.namespace.clone();
    meta.labels = template.metadata.labels.clone();
    meta.annotations = template.metadata.annotations.clone();
    meta.finalizers.clone_from(&template.metadata.finalizers);
    if !meta.finalizers.iter().any(|it| *it == FINALIZER) {
        meta.finalizers.push(FINALIZER.into());
    }
    meta.owner_references = vec![controller_reference(job)];
    if let Some(index) = wanted.index {
        meta.generate_name = prefix(&job.metadata.name, index).into();
        let pair = || (Str::from(INDEX), Str::from(index.to_string()));
        meta.annotations.extend([pair()]);
        meta.labels.extend([pair()]);
        pod.spec.hostname = format!("{}-{index}", job.metadata.name).into();
        let spec = &mut pod.spec;
        let containers = spec.init_containers.iter_mut().chain(&mut spec.containers);
        containers.for_each(tell_index);
    }
    if let Some((counted, ignored)) = wanted.failures {
        let annotations = &mut pod.metadata.annotations;
        annotations.insert(FAILURES.into(), counted.to_string().into());
        if ignored > 0 {
            annotations.insert(IGNORED.into(), ignored.to_string().into());
        }
    }
    pod
}

/// The beginning of an indexed Pod's name; long names of Jobs are cut.
fn prefix(job: &str, index: i32) -> String {
    let end = format!("-{index}-");
    let kept = job.len().min(PREFIX_MAX.saturating_sub(end.len()));
    format!("{}{end}", job.get(..kept).unwrap_or(job))
}

/// Lets a container know its index, unless the template has such a variable.
fn tell_index(container: &mut Container) {
    if container.env.iter().any(|it| it.name == INDEX_VARIABLE) {
        return;
    }
    let field = ObjectFieldSelector {
        field_path: format!("metadata.labels['{INDEX}']").into(),
        ..ObjectFieldSelector::default()
    };
    container.env.push(EnvVar {
        name: INDEX_VARIABLE.into(),
        value_from: Some(Box::new(EnvVarSource {
            field_ref: Some(Box::new(field)),
            ..EnvVarSource::default()
        })),
        ..EnvVar::default()
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_indexed_pod_knows_its_index_everywhere() {
        let mut job = Job::default();
        job.metadata.name = "sum".into();
        job.metadata.uid = "u".into();
        job.spec.completions = Some(5);
        job.spec.template.spec.containers = vec![Container::default(), Container::default()];
        job.spec.template.spec.containers[1].env.push(EnvVar {
            name: INDEX_VARIABLE.into(),
            ..EnvVar::default()
        });
        let wanted = Wanted {
            index: Some(3),
            failures: Some((2, 1)),
        };
        let pod = made(&job, wanted);
        assert_eq!(pod.metadata.generate_name, "sum-3-");
        assert_eq!(pod.spec.hostname, "sum-3");
        assert_eq!(pod.metadata.labels[INDEX], "3");
        assert_eq!((index(&pod), valid_index(&job, &pod)), (Some(3), Some(3)));
        assert_eq!((index_failures(&pod), ignored_failures(&pod)), (2, 1));
        assert!(is_tracked(&pod));
        let field = |at: usize| pod.spec.containers[at].env[0].value_from.as_ref();
        let path = field(0).and_then(|it| it.field_ref.as_ref());
        let expected = "metadata.labels['batch.kubernetes.io/job-completion-index']";
        assert_eq!(path.map(|it| &*it.field_path), Some(expected));
        assert!(field(1).is_none(), "its own variable stays");
        job.spec.completions = Some(3);
        assert_eq!(valid_index(&job, &pod), None);
        let plain = made(&job, Wanted::default());
        assert_eq!(plain.metadata.generate_name, "sum-");
        assert_eq!(plain.metadata.owner_references[0].kind, "Job");
        assert_eq!(index(&plain), None);
    }

    #[test]
    fn long_names_are_cut_before_the_index() {
        let name = "x".repeat(63);
        assert_eq!(prefix(&name, 12), format!("{}-12-", &name[..54]));
    }
}

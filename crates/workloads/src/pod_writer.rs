//! `PodWriter`: creates and deletes the Pods of one owner, and tells events about it.

use crate::is_namespace_ending;
use futures_util::future::join_all;
use kubist_api::core::v1::{ObjectReference, Pod};
use kubist_apimachinery::{DeleteOptions, KubeObject};
use kubist_client::{Api, ApiError};
use kubist_events::{EventRecorder, EventType};
use std::sync::Arc;

/// Writes the Pods of one owner.
#[derive(Debug)]
pub(crate) struct PodWriter<'a> {
    api: &'a Api<Pod>,
    recorder: &'a EventRecorder,
    owner: ObjectReference,
}

impl<'a> PodWriter<'a> {
    pub(crate) fn new(
        api: &'a Api<Pod>,
        recorder: &'a EventRecorder,
        owner: &impl KubeObject,
    ) -> Self {
        let owner = ObjectReference::of(owner);
        Self {
            api,
            recorder,
            owner,
        }
    }

    pub(crate) fn api(&self) -> &Api<Pod> {
        self.api
    }

    /// Tells an event about the owner.
    pub(crate) fn tell(&self, type_: EventType, reason: &str, note: String) {
        self.recorder.event(&self.owner, type_, reason, "", note);
    }

    /// Tells what became of a Pod. Each Pod has an event of its own.
    fn tell_of(&self, pod: &Pod, reason: &str, note: String) {
        let (owner, pod) = (&self.owner, ObjectReference::of(pod));
        let type_ = EventType::Normal;
        self.recorder
            .event_related(owner, &pod, type_, reason, "", note);
    }

    /// Creates Pods in batches of 1, 2, 4, …, so that a template that the server rejects costs one
    /// request. Returns how many were created, and the first error; that the namespace ends is
    /// none.
    pub(crate) async fn create(&self, pods: &[Pod]) -> (usize, Option<ApiError>) {
        let (mut rest, mut batch, mut created) = (pods, 1, 0);
        while !rest.is_empty() {
            let (now, later) = rest.split_at(batch.min(rest.len()));
            let mut failure = None;
            for made in join_all(now.iter().map(|it| self.api.create(it))).await {
                match made {
                    Ok(pod) => {
                        created += 1;
                        let note = format!("Created pod: {}", pod.metadata.name);
                        self.tell_of(&pod, "SuccessfulCreate", note);
                    }
                    Err(error) if is_namespace_ending(&error) => return (created, None),
                    Err(error) => {
                        let note = format!("Error creating: {error}");
                        self.tell(EventType::Warning, "FailedCreate", note);
                        failure.get_or_insert(error);
                    }
                }
            }
            if failure.is_some() {
                return (created, failure);
            }
            (rest, batch) = (later, batch * 2);
        }
        (created, None)
    }

    /// Deletes Pods. Returns those that are going to end, and the first error.
    pub(crate) async fn delete(&self, pods: &[Arc<Pod>]) -> (Vec<Arc<Pod>>, Option<ApiError>) {
        let answers = join_all(pods.iter().map(|pod| async move {
            let options = DeleteOptions::default().with_uid(pod.metadata.uid.clone());
            self.api.delete_with(&pod.metadata.name, &options).await
        }));
        let (mut deleted, mut failure) = (Vec::new(), None);
        for (pod, answer) in pods.iter().zip(answers.await) {
            match answer {
                Ok(_) => {
                    let note = format!("Deleted pod: {}", pod.metadata.name);
                    self.tell_of(pod, "SuccessfulDelete", note);
                }
                Err(error) if error.is_not_found() || error.is_conflict() => {}
                Err(error) => {
                    let note = format!("Error deleting: {error}");
                    self.tell(EventType::Warning, "FailedDelete", note);
                    failure.get_or_insert(error);
                    continue;
                }
            }
            deleted.push(Arc::clone(pod));
        }
        (deleted, failure)
    }
}

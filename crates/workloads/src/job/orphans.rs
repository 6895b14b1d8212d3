//! Pods whose Job is gone, or has finished without them: they lose its finalizer, which nobody else
//! would remove.

use super::{conditions, pods};
use crate::done_unless_refused;
use kubist_api::batch::v1::Job;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::{Object as _, ObjectName};
use kubist_cache::{Encoded, Index, Lister};
use kubist_client::{Api, Client, Patch};
use kubist_controller::{Action, Controller, Error, Reconciler};
use kubist_informers::SharedInformerFactory;
use serde_json::json;

/// The label of the Pods of Jobs, by which they are known without being decoded.
const JOB_NAME: &str = "batch.kubernetes.io/job-name";

/// Creates the controller and its reconciler.
pub fn orphan_controller(
    client: &Client,
    factory: &SharedInformerFactory<Client>,
) -> (Controller, OrphanReconciler) {
    let (jobs, pods) = (
        factory.informer::<Job>(),
        factory.informer::<Encoded<Pod>>(),
    );
    let by_job = pods.add_index(Index::label(JOB_NAME));
    let lister = pods.lister_unsynced();
    let controller = Controller::keyed("job-orphans")
        .watches(&pods, |pod: &Encoded<Pod>| {
            let of_a_job = pod.labels().get(JOB_NAME).is_some();
            of_a_job.then(|| pod.object_name()).into_iter().collect()
        })
        .watches(&jobs, move |job: &Job| {
            let named = lister.by_index(&by_job, &job.metadata.name);
            let near = named.iter().filter(|it| it.namespace() == job.namespace());
            near.map(|it| it.object_name()).collect()
        });
    let reconciler = OrphanReconciler {
        client: client.clone(),
        jobs: jobs.lister_unsynced(),
        pods: pods.lister_unsynced(),
    };
    (controller, reconciler)
}

/// Releases Pods that no Job counts.
#[derive(Debug)]
pub struct OrphanReconciler {
    client: Client,
    jobs: Lister<Job>,
    pods: Lister<Encoded<Pod>>,
}

impl Reconciler for OrphanReconciler {
    async fn reconcile(&self, key: ObjectName) -> Result<Action, Error> {
        let Some(pod) = self.pods.get(&key) else {
            return Ok(Action::done());
        };
        let pod = pod.decode()?;
        if !pods::is_tracked(&pod) || self.is_counted(&pod) {
            return Ok(Action::done());
        }
        let patch = Patch::Strategic(json!({"metadata": {
            "uid": &*pod.metadata.uid,
            "$deleteFromPrimitiveList/finalizers": [pods::FINALIZER],
        }}));
        let api: Api<Pod> = Api::namespaced(self.client.clone(), key.namespace.clone());
        done_unless_refused(api.patch(&key.name, &patch).await)
    }
}

impl OrphanReconciler {
    /// Reports whether a Job that goes on counts the Pod, or somebody else takes care of it.
    fn is_counted(&self, pod: &Pod) -> bool {
        let Some(owner) = pod.metadata.controller() else {
            return false;
        };
        if owner.kind != "Job" || owner.api_version != "batch/v1" {
            return true;
        }
        let job = self.jobs.find(&pod.metadata.namespace, &owner.name);
        job.filter(|it| it.metadata.uid == owner.uid)
            .is_some_and(|it| {
                let managed = it.spec.managed_by.as_deref();
                managed.is_some_and(|it| it != super::MANAGER) || conditions::ending(&it).is_none()
            })
    }
}

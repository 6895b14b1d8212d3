//! Volumes that do not exist: every PersistentVolumeClaim is bound to a PersistentVolume of its
//! own, and both are let go when nobody needs them.
//!
//! It stands for upstream's volume binder, a provisioner of every storage class, and the
//! controllers that keep claims and volumes while they are in use. It does not look for volumes
//! that fit: a claim that names none gets a new one.

mod steps;

use self::steps::{ClaimStep, VolumeStep};
use crate::done_unless_refused;
use crate::pod_state::is_finished;
use kubist_api::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod};
use kubist_apimachinery::{DeleteOptions, ObjectName, Selector, Str};
use kubist_cache::{Encoded, Lister};
use kubist_client::{Api, ApiError, Client, Patch};
use kubist_controller::{Action, Controller, Error, Reconciler};
use kubist_informers::SharedInformerFactory;
use serde_json::json;
use std::time::Duration;

/// How soon to check again whether a claim that is to go is still in use; the end of a Pod changes
/// no claim.
const USE_POLL: Duration = Duration::from_millis(500);

/// Creates the controller of claims and its reconciler.
pub fn claim_controller(
    client: &Client,
    factory: &SharedInformerFactory<Client>,
) -> (Controller, ClaimReconciler) {
    let claims = factory.informer::<PersistentVolumeClaim>();
    let volumes = factory.informer::<PersistentVolume>();
    let pods = factory.informer::<Encoded<Pod>>();
    let reconciler = ClaimReconciler {
        client: client.clone(),
        claims: claims.lister_unsynced(),
        volumes: volumes.lister_unsynced(),
        pods: pods.lister_unsynced(),
    };
    let controller = Controller::new("volume-claims", &claims)
        .watches(&volumes, |volume: &PersistentVolume| {
            let claim = volume.spec.claim_ref.as_deref();
            let name = claim.map(|it| ObjectName {
                namespace: it.namespace.clone(),
                name: it.name.clone(),
            });
            name.into_iter().collect()
        })
        .watches(&pods, |_: &Encoded<Pod>| Vec::new());
    (controller, reconciler)
}

/// Creates the controller of volumes and its reconciler.
pub fn volume_controller(
    client: &Client,
    factory: &SharedInformerFactory<Client>,
) -> (Controller, VolumeReconciler) {
    let claims = factory.informer::<PersistentVolumeClaim>();
    let volumes = factory.informer::<PersistentVolume>();
    let reconciler = VolumeReconciler {
        client: client.clone(),
        claims: claims.lister_unsynced(),
        volumes: volumes.lister_unsynced(),
    };
    let controller =
        Controller::new("volumes", &volumes).watches(&claims, |claim: &PersistentVolumeClaim| {
            let name = steps::volume_name(claim);
            vec![ObjectName {
                namespace: Str::default(),
                name,
            }]
        });
    (controller, reconciler)
}

/// Binds claims, and lets those go that nobody uses.
#[derive(Debug)]
pub struct ClaimReconciler {
    client: Client,
    claims: Lister<PersistentVolumeClaim>,
    volumes: Lister<PersistentVolume>,
    pods: Lister<Encoded<Pod>>,
}

impl Reconciler for ClaimReconciler {
    async fn reconcile(&self, key: ObjectName) -> Result<Action, Error> {
        let Some(claim) = self.claims.get(&key) else {
            return Ok(Action::done());
        };
        let volume = self.volumes.find("", &steps::volume_name(&claim));
        let claims = Api::namespaced(self.client.clone(), key.namespace.clone());
        let volumes = Api::all(self.client.clone());
        match steps::of_claim(&claim, volume.as_deref()) {
            ClaimStep::Provision(volume) => {
                done_unless_refused(existing(volumes.create(&*volume).await))
            }
            ClaimStep::Take(volume) => done_unless_refused(volumes.replace(&*volume).await),
            ClaimStep::Name(claim) => done_unless_refused(claims.replace(&*claim).await),
            ClaimStep::Bind(claim) => done_unless_refused(claims.replace_status(&*claim).await),
            ClaimStep::Release if self.is_used(&claim) => Ok(Action::requeue_after(USE_POLL)),
            ClaimStep::Release => {
                done_unless_refused(release(&claims, &*claim, steps::CLAIM_PROTECTION).await)
            }
            ClaimStep::Nothing => Ok(Action::done()),
        }
    }
}

impl ClaimReconciler {
    /// Reports whether a Pod that has not ended has the claim among its volumes.
    fn is_used(&self, claim: &PersistentVolumeClaim) -> bool {
        let everything = Selector::everything();
        let pods = self.pods.select_in(&claim.metadata.namespace, &everything);
        let mut alive = pods.iter().filter(|it| !is_finished(it));
        alive.any(|pod| {
            pod.decode().is_ok_and(|pod| {
                let mut volumes = pod.spec.volumes.iter();
                volumes.any(|it| {
                    let used = it.persistent_volume_claim.as_ref();
                    used.is_some_and(|it| it.claim_name == claim.metadata.name)
                })
            })
        })
    }
}

/// Follows what volumes are bound to.
#[derive(Debug)]
pub struct VolumeReconciler {
    client: Client,
    claims: Lister<PersistentVolumeClaim>,
    volumes: Lister<PersistentVolume>,
}

impl Reconciler for VolumeReconciler {
    async fn reconcile(&self, key: ObjectName) -> Result<Action, Error> {
        let Some(volume) = self.volumes.get(&key) else {
            return Ok(Action::done());
        };
        let reference = volume.spec.claim_ref.as_deref();
        let claim = reference.and_then(|it| self.claims.find(&it.namespace, &it.name));
        let api: Api<PersistentVolume> = Api::all(self.client.clone());
        let now = self.client.ambient().time();
        match steps::of_volume(&volume, claim.as_deref()) {
            VolumeStep::Phase(phase) => {
                let mut volume = PersistentVolume::clone(&volume);
                volume.status.phase = phase.into();
                volume.status.last_phase_transition_time = Some(now);
                done_unless_refused(api.replace_status(&volume).await)
            }
            VolumeStep::Delete => {
                let options = DeleteOptions::default().with_uid(volume.metadata.uid.clone());
                done_unless_refused(api.delete_with(&key.name, &options).await)
            }
            VolumeStep::Release => {
                done_unless_refused(release(&api, &*volume, steps::VOLUME_PROTECTION).await)
            }
            VolumeStep::Nothing => Ok(Action::done()),
        }
    }
}

/// That it exists already is no failure.
fn existing<T>(answer: Result<T, ApiError>) -> Result<Option<T>, ApiError> {
    match answer {
        Ok(made) => Ok(Some(made)),
        Err(error) if error.is_already_exists() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes a finalizer.
async fn release<K: kubist_apimachinery::KubeObject>(
    api: &Api<K>,
    object: &K,
    finalizer: &str,
) -> Result<K, ApiError> {
    let patch = Patch::Strategic(json!({"metadata": {
        "uid": object.uid(),
        "$deleteFromPrimitiveList/finalizers": [finalizer],
    }}));
    api.patch(object.name(), &patch).await
}

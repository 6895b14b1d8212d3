//! Processes one object: looks up its owners on the server, deletes, orphans, or releases it.
//!
//! No deletion relies on a cache: the object and every owner that was not seen are read from the
//! server, and each write includes the uid and, where it depends on what was read, the resource
//! version.

use super::Stats;
use super::absent::AbsentOwners;
use super::graph::{OwnerGraph, OwnerState, Plan, group_of};
use super::node::{FOREGROUND, ORPHAN};
use super::recent::Recent;
use super::watched::Watched;
use kubist_apimachinery::{
    ApiResource, DeleteOptions, GroupKind, Object as _, ObjectMeta, ObjectName, OwnerReference,
    PropagationPolicy, Str,
};
use kubist_cache::Metadata;
use kubist_client::{Api, ApiError, Client, Patch};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) struct Collector {
    pub(super) client: Client,
    pub(super) graph: Arc<Mutex<OwnerGraph>>,
    pub(super) watched: Arc<Watched>,
    pub(super) absent: Mutex<AbsentOwners>,
    /// The uids of owners that were deleted without their dependents. A dependent that the graph
    /// learns of later than of the deletion is not collected either.
    pub(super) orphaned: Mutex<Recent<Str>>,
    pub(super) stats: Mutex<Stats>,
}

/// Why an object could not be processed.
#[derive(Debug, thiserror::Error)]
pub(super) enum CollectError {
    #[error(transparent)]
    Api(#[from] ApiError),
    #[error("the server serves no {kind} of group {group:?}")]
    UnknownKind { group: Str, kind: Str },
}

/// Further objects to process, and whether this object must be processed again without a change.
#[derive(Debug, Default)]
pub(super) struct Next {
    pub(super) look: Vec<Str>,
    pub(super) again: bool,
}

/// The owners of one object, by state.
#[derive(Default)]
struct OwnersByState {
    present: usize,
    /// The uids of owners that do not exist.
    dangling: Vec<Str>,
    /// The uids of owners that were deleted without their dependents.
    orphaning: Vec<Str>,
    /// The uids of owners that wait for their dependents.
    waiting: Vec<Str>,
    /// Whether an owner exists whose deletion will not be observed.
    unwatched: bool,
}

impl Collector {
    pub(super) async fn collect(&self, uid: &Str) -> Result<Next, CollectError> {
        let (plan, node) = {
            let graph = self.graph.lock();
            (graph.plan(uid), graph.node(uid).cloned())
        };
        let Some(node) = node else {
            return Ok(Next::default());
        };
        let found = Found {
            api: Api::dynamic_namespaced(
                self.client.clone(),
                &node.resource,
                node.object.namespace(),
            ),
            name: node.object.object_name(),
            uid: uid.clone(),
        };
        match plan {
            Plan::Nothing => Ok(Next::default()),
            Plan::CheckOwners => self.check_owners(&found).await,
            Plan::Orphan { dependents } => {
                for dependent in dependents {
                    self.orphan(&dependent, uid).await?;
                }
                self.orphaned.lock().insert(uid.clone());
                found.remove_finalizer(ORPHAN).await?;
                self.stats.lock().released += 1;
                Ok(Next::default())
            }
            Plan::Wait { dependents } => Ok(Next {
                look: dependents,
                again: false,
            }),
            Plan::Release => {
                found.remove_finalizer(FOREGROUND).await?;
                self.stats.lock().released += 1;
                Ok(Next::default())
            }
        }
    }

    async fn check_owners(&self, found: &Found) -> Result<Next, CollectError> {
        let Some(metadata) = found.read().await? else {
            return Ok(Next::default()); // the graph will receive its deletion
        };
        if metadata.is_terminating() || metadata.owner_references.is_empty() {
            return Ok(Next::default());
        }
        let owners = self.classify_owners(&metadata).await?;
        let again = owners.unwatched;
        if !owners.orphaning.is_empty() {
            // Its change brings it here again, with the owners that it keeps.
            let keep = |owner: &OwnerReference| !owners.orphaning.contains(&owner.uid);
            found.keep_owners(&metadata, keep).await?;
            self.stats.lock().orphaned += 1;
            return Ok(Next::default());
        }
        let (waiting, dangling) = (owners.waiting, owners.dangling);
        if owners.present > 0 {
            if !waiting.is_empty() || !dangling.is_empty() {
                let lost = |owner: &OwnerReference| {
                    waiting.contains(&owner.uid) || dangling.contains(&owner.uid)
                };
                found.keep_owners(&metadata, |owner| !lost(owner)).await?;
                self.stats.lock().patched += 1;
            }
            return Ok(Next {
                look: Vec::new(),
                again,
            });
        }
        let (parent, cycle) = {
            let graph = self.graph.lock();
            (
                graph.has_dependents(&found.uid),
                graph.has_waiting_dependent(&found.uid),
            )
        };
        let policy = if !waiting.is_empty() && parent {
            if cycle {
                // Two objects that own each other would wait for each other.
                found.block_no_owner(&metadata).await?;
            }
            PropagationPolicy::Foreground
        } else {
            propagation_asked_for(&metadata)
        };
        found.delete(policy).await?;
        self.stats.lock().deleted += 1;
        Ok(Next::default())
    }

    async fn classify_owners(&self, metadata: &ObjectMeta) -> Result<OwnersByState, CollectError> {
        let mut owners = OwnersByState::default();
        for owner in &metadata.owner_references {
            let state = self.graph.lock().owner_state(owner, &metadata.namespace);
            match state {
                OwnerState::Present => owners.present += 1,
                OwnerState::Waiting => owners.waiting.push(owner.uid.clone()),
                OwnerState::Unseen if self.is_absent(owner, &metadata.namespace).await? => {
                    let orphaned = self.orphaned.lock().contains(&owner.uid);
                    let absent = if orphaned {
                        &mut owners.orphaning
                    } else {
                        &mut owners.dangling
                    };
                    absent.push(owner.uid.clone());
                }
                OwnerState::Unseen => {
                    owners.present += 1;
                    owners.unwatched = true;
                }
            }
        }
        Ok(owners)
    }

    /// Reports whether the server does not have this owner, or has another object of its name.
    async fn is_absent(
        &self,
        owner: &OwnerReference,
        namespace: &str,
    ) -> Result<bool, CollectError> {
        if self.absent.lock().contains(namespace, owner) {
            return Ok(true);
        }
        let resource = self.resource_of(owner)?;
        if resource.namespaced && namespace.is_empty() {
            // A namespaced object cannot own a cluster-scoped one: an invalid reference, which must
            // not delete.
            return Ok(false);
        }
        let api: Api<Metadata<()>> =
            Api::dynamic_namespaced(self.client.clone(), &resource, namespace);
        self.stats.lock().lookups += 1;
        let found = api.get_opt(&owner.name).await?;
        let absent = found.is_none_or(|it| it.metadata.uid != owner.uid);
        if absent {
            self.absent.lock().insert(namespace, owner);
        }
        Ok(absent)
    }

    fn resource_of(&self, owner: &OwnerReference) -> Result<Arc<ApiResource>, CollectError> {
        let kind = GroupKind::new(group_of(owner), owner.kind.clone());
        self.watched
            .resource_of(&kind)
            .ok_or(CollectError::UnknownKind {
                group: kind.group,
                kind: kind.kind,
            })
    }

    /// Removes an owner from one of its dependents.
    async fn orphan(&self, dependent: &Str, owner: &Str) -> Result<(), CollectError> {
        let Some(node) = self.graph.lock().node(dependent).cloned() else {
            return Ok(());
        };
        let namespace = node.object.namespace();
        let found = Found {
            api: Api::dynamic_namespaced(self.client.clone(), &node.resource, namespace),
            name: node.object.object_name(),
            uid: dependent.clone(),
        };
        if let Some(metadata) = found.read().await? {
            found.keep_owners(&metadata, |it| it.uid != *owner).await?;
            self.stats.lock().orphaned += 1;
        }
        Ok(())
    }
}

/// An object of the graph, for access on the server.
struct Found {
    api: Api<Metadata<()>>,
    name: ObjectName,
    uid: Str,
}

impl Found {
    /// Returns the current metadata; `None` if the object was deleted or replaced.
    async fn read(&self) -> Result<Option<ObjectMeta>, ApiError> {
        let found = self.api.get_opt(&self.name.name).await?;
        Ok(found.map(|it| it.metadata).filter(|it| it.uid == self.uid))
    }

    /// Keeps only some of the owners. A conflict is an error and is retried.
    async fn keep_owners(
        &self,
        metadata: &ObjectMeta,
        keep: impl Fn(&OwnerReference) -> bool,
    ) -> Result<(), ApiError> {
        let owners = metadata.owner_references.iter().filter(|it| keep(it));
        self.write_owners(metadata, owners.cloned().collect()).await
    }

    async fn block_no_owner(&self, metadata: &ObjectMeta) -> Result<(), ApiError> {
        let mut owners = metadata.owner_references.clone();
        for owner in &mut owners {
            owner.block_owner_deletion = Some(false);
        }
        self.write_owners(metadata, owners).await
    }

    async fn write_owners(
        &self,
        metadata: &ObjectMeta,
        owners: Vec<OwnerReference>,
    ) -> Result<(), ApiError> {
        if owners == metadata.owner_references {
            return Ok(());
        }
        let owners: Vec<Value> = owners.iter().map(|it| json!(it)).collect();
        self.patch(metadata, json!({"ownerReferences": owners}))
            .await
    }

    /// Removes a finalizer.
    async fn remove_finalizer(&self, finalizer: &str) -> Result<(), ApiError> {
        let Some(metadata) = self.read().await? else {
            return Ok(());
        };
        let kept: Vec<&str> = metadata
            .finalizers
            .iter()
            .map(Str::as_str)
            .filter(|it| *it != finalizer)
            .collect();
        if kept.len() == metadata.finalizers.len() {
            return Ok(());
        }
        self.patch(&metadata, json!({"finalizers": kept})).await
    }

    /// Every resource supports merge patches; the resource version prevents overwriting concurrent
    /// changes.
    async fn patch(&self, metadata: &ObjectMeta, mut change: Value) -> Result<(), ApiError> {
        change["resourceVersion"] = json!(&*metadata.resource_version);
        let patch = Patch::Merge(json!({"metadata": change}));
        gone_is_done(self.api.patch(&self.name.name, &patch).await)
    }

    /// Deletes this object, not another of its name.
    async fn delete(&self, policy: PropagationPolicy) -> Result<(), ApiError> {
        let options = DeleteOptions::default()
            .with_propagation(policy)
            .with_uid(self.uid.clone());
        match self.api.delete_with(&self.name.name, &options).await {
            Err(error) if error.is_conflict() => Ok(()), // another object of that name
            answer => gone_is_done(answer),
        }
    }
}

fn gone_is_done<T>(answer: Result<T, ApiError>) -> Result<(), ApiError> {
    match answer {
        Err(error) if error.is_not_found() => Ok(()),
        answer => answer.map(drop),
    }
}

/// Returns the propagation policy that the object's own finalizers request.
fn propagation_asked_for(metadata: &ObjectMeta) -> PropagationPolicy {
    let has = |finalizer: &str| metadata.finalizers.iter().any(|it| *it == *finalizer);
    if has(ORPHAN) {
        PropagationPolicy::Orphan
    } else if has(FOREGROUND) {
        PropagationPolicy::Foreground
    } else {
        PropagationPolicy::Background
    }
}

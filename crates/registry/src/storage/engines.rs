//! `Engines`: the storage engine of each resource: one for all, except where the configuration
//! names another for a resource, as upstream's `--etcd-servers-overrides`.
//!
//! Each engine has revisions of its own, so a resource version means something only within its
//! resource; Kubernetes promises no more. A create is guarded by the namespace it was judged by.
//! Where both are in one engine, that is one transaction. Where they are not, [`ApartKv`] reads
//! the guard before the write and after it, and takes back a write whose guard has changed:
//! nothing is created that a namespace's deletion overlooks, but a watch can see such an object
//! come and go.

mod apart_kv;

use self::apart_kv::ApartKv;
use crate::finishing::Finishing;
use crate::stored::key::KeyLayout;
use kubist_apimachinery::GroupResource;
use kubist_storage::{
    DeleteRequest, Expected, Fault, FaultKind, Guard, Kv, PutRequest, ReadError, Revision,
    WriteError, WriteOutcome,
};
use std::sync::Arc;

/// The engine of each resource.
#[derive(Clone, Debug)]
pub(crate) struct Engines {
    /// That of every resource without its own.
    main: Arc<dyn Kv>,
    apart: Arc<[Apart]>,
    finishing: Finishing,
}

/// A resource with an engine of its own.
#[derive(Debug)]
struct Apart {
    resource: GroupResource,
    /// The prefix of its keys.
    prefix: String,
    kv: Arc<dyn Kv>,
}

impl Engines {
    /// Every resource in one engine.
    pub(crate) fn one(main: Arc<dyn Kv>) -> Self {
        Self {
            main,
            apart: Arc::default(),
            finishing: Finishing::default(),
        }
    }

    /// Built-in resources, with keys below `root`, in engines of their own. The last entry of a
    /// resource counts.
    pub(crate) fn with(self, root: &str, apart: Vec<(GroupResource, Arc<dyn Kv>)>) -> Self {
        let apart = apart.into_iter().rev().map(|(resource, kv)| Apart {
            prefix: KeyLayout::folder_prefix(root, &resource),
            resource,
            kv,
        });
        Self {
            apart: apart.collect(),
            ..self
        }
    }

    /// Returns the engine of a resource.
    pub(crate) fn of(&self, resource: &GroupResource) -> Arc<dyn Kv> {
        if self.apart.is_empty() {
            return Arc::clone(&self.main);
        }
        let found = self.apart.iter().find(|it| it.resource == *resource);
        Arc::new(ApartKv {
            own: Arc::clone(found.map_or(&self.main, |it| &it.kv)),
            engines: self.clone(),
        })
    }

    /// Returns each engine once, the main one first.
    pub(crate) fn all(&self) -> Vec<&Arc<dyn Kv>> {
        let mut all = vec![&self.main];
        for apart in self.apart.iter() {
            if !all.iter().any(|it| Arc::ptr_eq(it, &apart.kv)) {
                all.push(&apart.kv);
            }
        }
        all
    }

    /// Returns the main engine.
    pub(crate) fn main(&self) -> &Arc<dyn Kv> {
        &self.main
    }

    /// Returns the resources that are stored elsewhere.
    pub(crate) fn apart(&self) -> impl Iterator<Item = &GroupResource> {
        self.apart.iter().map(|it| &it.resource)
    }

    /// Returns the engine that has a key.
    fn having(&self, key: &[u8]) -> &Arc<dyn Kv> {
        let mut all = self.apart.iter();
        let found = all.find(|it| key.starts_with(it.prefix.as_bytes()));
        found.map_or(&self.main, |it| &it.kv)
    }

    /// Reports whether all guards still hold, by a read of each.
    async fn hold(&self, guards: &[Guard]) -> Result<bool, ReadError> {
        for guard in guards {
            let found = self.having(&guard.key).get(&guard.key, None).await?.kv;
            if !Expected::Revision(guard.revision).holds(found.as_deref()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Writes to `own` while guards in other engines hold. A new key is taken back if they do not
    /// hold afterwards either; another write cannot be.
    async fn put_guarded(
        &self,
        own: &dyn Kv,
        request: PutRequest,
        elsewhere: &[Guard],
    ) -> Result<WriteOutcome, WriteError> {
        if !self.hold(elsewhere).await.map_err(before_write)? {
            return Ok(conflict(Revision::ZERO));
        }
        let (key, is_new) = (request.key.clone(), request.expected == Expected::Absent);
        let outcome = own.put(request).await?;
        if !is_new {
            return Ok(outcome);
        }
        let Some(revision) = outcome.committed() else {
            return Ok(outcome);
        };
        let verdict = self.hold(elsewhere).await;
        if let Ok(true) = verdict {
            return Ok(outcome);
        }
        let undo = DeleteRequest::new(key, Expected::Revision(revision));
        match (own.delete(undo).await, verdict) {
            // If somebody has changed the object since, it is theirs. It was visible, as anything
            // that was created a moment before the namespace's deletion began.
            (Ok(_), Ok(_)) => Ok(conflict(revision)),
            (Ok(_), Err(error)) => Err(before_write(error)),
            (Err(error), _) => Err(undecided(error)),
        }
    }
}

/// Nothing was written, and the key's version was not read: the guards are to be judged again.
fn conflict(revision: Revision) -> WriteOutcome {
    WriteOutcome::Conflict {
        revision,
        current: None,
    }
}

/// The error of a write that did not happen, because its guards could not be read.
fn before_write(error: ReadError) -> WriteError {
    match error {
        ReadError::Closed => WriteError::Closed,
        ReadError::Fault(fault) => fault.into(),
        other => Fault::new(FaultKind::Unknown, other).into(),
    }
}

/// The error of a write that happened although its guards changed, and could not be taken back.
fn undecided(error: WriteError) -> WriteError {
    Fault::new(FaultKind::Timeout, error).into()
}

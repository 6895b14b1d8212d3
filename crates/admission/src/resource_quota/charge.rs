//! `Charged`: the usage that a request has added to quotas, until the result of its write is known.

use crate::amounts::{Amounts, add, less};
use crate::objects::typed;
use kubist_api::core::v1::ResourceQuota;
use kubist_apimachinery::{AnyObject, GroupResource, Status, Str};
use kubist_registry::admission::Attributes;
use kubist_registry::{
    Begun, BoxFuture, Finishing, RequestContext, ResourceStore, UpdatePath, UpdatedObject, User,
};
use parking_lot::Mutex;

/// Adds usage to quotas, as the server itself.
#[derive(Clone, Debug)]
pub(super) struct Charge {
    quotas: ResourceStore,
    cx: RequestContext,
    finishing: Finishing,
}

impl Charge {
    /// Returns `None` if quotas are not stored.
    pub(super) fn new(attributes: &Attributes<'_>) -> Option<Self> {
        let stores = attributes.stores();
        let mut cx = stores.request(User {
            name: "system:apiserver".into(),
            ..User::default()
        });
        cx.user_agent = "kube-apiserver".into();
        Some(Self {
            quotas: stores.resource("", "resourcequotas")?,
            cx,
            finishing: stores.finishing().clone(),
        })
    }

    async fn update(&self, at: (&str, &str), change: &dyn UpdatedObject) -> Result<(), Status> {
        let updated = self
            .quotas
            .update(&self.cx, at, change, UpdatePath::Status, false);
        updated.await.map(drop)
    }
}

/// What a request has added to quotas. Dropped before its write has begun, it is given back.
#[derive(Debug)]
pub(super) struct Charged {
    charge: Charge,
    entries: Vec<Entry>,
}

/// What was added to one quota.
#[derive(Clone, Debug)]
struct Entry {
    namespace: String,
    name: Str,
    uid: Str,
    added: Amounts,
}

/// Returns what a request adds to the current state of a quota.
pub(super) type Added<'a> = dyn Fn(&ResourceQuota) -> Result<Amounts, Status> + Send + Sync + 'a;

impl Charged {
    pub(super) fn new(charge: Charge) -> Self {
        Self {
            charge,
            entries: Vec::new(),
        }
    }

    /// Adds to a quota. A quota that is gone limits nothing.
    pub(super) async fn add(
        &mut self,
        namespace: &str,
        name: &Str,
        added: &Added<'_>,
    ) -> Result<(), Status> {
        let raise = Raise {
            added,
            done: Mutex::new(None),
        };
        match self.charge.update((namespace, name), &raise).await {
            Ok(()) => {}
            Err(status) if status.is_not_found() => return Ok(()),
            Err(status) => return Err(status),
        }
        if let Some((uid, added)) = raise.done.into_inner() {
            self.entries.push(Entry {
                namespace: namespace.to_owned(),
                name: name.clone(),
                uid,
                added,
            });
        }
        Ok(())
    }

    /// Gives everything back.
    pub(super) async fn release(mut self) {
        give_back(&self.charge, std::mem::take(&mut self.entries)).await;
    }
}

impl Begun for Charged {
    fn commit(mut self: Box<Self>) -> BoxFuture<'static, ()> {
        self.entries.clear();
        Box::pin(std::future::ready(()))
    }

    fn rollback(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(self.release())
    }

    fn abandon(mut self: Box<Self>) {
        // Counted once too often, until usage is counted anew.
        self.entries.clear();
    }
}

impl Drop for Charged {
    fn drop(&mut self) {
        let entries = std::mem::take(&mut self.entries);
        if !entries.is_empty() {
            let charge = self.charge.clone();
            let work = async move { give_back(&charge, entries).await };
            self.charge.finishing.finish(work);
        }
    }
}

/// What cannot be given back is found when usage is counted anew.
async fn give_back(charge: &Charge, entries: Vec<Entry>) {
    for entry in entries {
        let at = (entry.namespace.as_str(), entry.name.as_str());
        drop(charge.update(at, &Lower(&entry)).await);
    }
}

/// Raises the usage of a quota.
struct Raise<'a> {
    added: &'a Added<'a>,
    /// The quota's uid, and what the last attempt added.
    done: Mutex<Option<(Str, Amounts)>>,
}

impl UpdatedObject for Raise<'_> {
    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let mut quota = quota(old)?;
        let added = (self.added)(&quota)?;
        add(&mut quota.status.used, &added);
        let done = (!added.is_empty()).then(|| (quota.metadata.uid.clone(), added));
        *self.done.lock() = done;
        Ok(Box::new(quota))
    }
}

/// Lowers the usage of a quota again.
struct Lower<'a>(&'a Entry);

impl UpdatedObject for Lower<'_> {
    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let mut quota = quota(old)?;
        if quota.metadata.uid == self.0.uid {
            let used = &mut quota.status.used;
            let mut lower = less(used, &self.0.added);
            lower.retain(|name, _| used.contains_key(name));
            *used = lower;
        }
        Ok(Box::new(quota))
    }
}

fn quota(object: Option<&dyn AnyObject>) -> Result<ResourceQuota, Status> {
    let quota = object.and_then(typed::<ResourceQuota>).cloned();
    quota.ok_or_else(|| Status::not_found(&GroupResource::new("", "resourcequotas"), ""))
}

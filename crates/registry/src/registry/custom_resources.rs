//! Follows the stored definitions: sets their conditions, serves them, and cleans up deleted ones.
//!
//! Several servers on one store each do this; they reach the same result, and a second write of it
//! changes nothing.

mod installed_storage;
pub(crate) mod served;

use crate::custom::content::is_ending;
use crate::custom::known_definition::KnownDefinition;
use crate::custom::names::{ESTABLISHED, NamesInUse, TERMINATING};
use crate::custom::structural::Problem;
use crate::custom::{CLEANUP, names};
use crate::registry::Registry;
use crate::rest::Rest;
use crate::storage::error::Operation;
use crate::storage::watch_event::WatchEvent;
use crate::store::update::{UpdateRequest, UpdateScope};
use crate::store::updated_object::Replacement;
use crate::strategy::context::{RequestContext, User};
use kubist_api::apiextensions::v1::CustomResourceDefinition;
use kubist_apimachinery::{
    DeleteOptions, GroupResource, ListOptions, PostOptions, ResourceVersion, Status, Str,
};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The interval of checks on a deleted definition whose objects are not gone yet.
const CLEANUP_RETRY: Duration = Duration::from_secs(1);
/// The pause after a storage error.
const RETRY: Duration = Duration::from_secs(1);

/// The name of the server as a field manager, as upstream.
const SERVER_AGENT: &str = "kube-apiserver";
/// The message for objects that are kept because their definition is not served.
const NOT_READABLE: &str = "the limit for definitions is exhausted until the server restarts";

/// The last observed definitions, by name.
type Known = BTreeMap<Str, KnownDefinition>;

impl Registry {
    /// Serves CustomResourceDefinitions, sets their conditions, and cleans up deleted ones. Runs
    /// until it is dropped; one must run for each serving registry. Definitions that existed at
    /// [`start`](Self::start) are served without it.
    ///
    /// # Cancel safety
    ///
    /// Can be dropped at any time, and run again.
    pub async fn run_definitions(&self) {
        loop {
            // It ends only with a storage error; the next round begins with a list.
            drop(self.follow_definitions().await);
            self.custom_resources
                .followed
                .store(false, Ordering::Release);
            tokio::time::sleep(RETRY).await;
        }
    }

    /// Reports whether [`run_definitions`](Self::run_definitions) has caught up with the stored
    /// definitions.
    pub fn follows_definitions(&self) -> bool {
        self.custom_resources.followed.load(Ordering::Acquire)
    }

    /// Serves the stored definitions.
    pub(crate) async fn load_definitions(&self) -> Result<(), Status> {
        let Some(rest) = self.definitions_resource() else {
            return Ok(());
        };
        let (known, _) = list(&rest).await?;
        let changed = known.keys().cloned().collect();
        self.settle_definitions(&rest, known, &changed, true)
            .await?;
        // Nothing is missing before it begins, or when it breaks off for the first time.
        self.custom_resources
            .followed
            .store(true, Ordering::Release);
        Ok(())
    }

    fn definitions_resource(&self) -> Option<Arc<Rest>> {
        self.resource("apiextensions.k8s.io", "v1", "customresourcedefinitions")
    }

    fn own_request(&self) -> RequestContext {
        let mut cx = self.request(User {
            name: "system:apiserver".into(),
            ..User::default()
        });
        cx.user_agent = SERVER_AGENT.into();
        cx
    }

    fn served_definitions(&self) -> Vec<Str> {
        let served = self.custom_resources.served();
        served.by_definition.keys().cloned().collect()
    }

    async fn follow_definitions(&self) -> Result<(), Status> {
        let Some(rest) = self.definitions_resource() else {
            return std::future::pending().await;
        };
        let cx = self.own_request();
        let (known, version) = list(&rest).await?;
        let options = ListOptions {
            resource_version: version,
            ..ListOptions::default()
        };
        let mut events = rest.watch(&cx, "", None, &options, None).await?;
        let mut changed: BTreeSet<Str> = known.keys().cloned().collect();
        // Definitions deleted while the watch was down. Their snapshot is not held on, as it has
        // the compiled schemas of all that is served now.
        changed.extend(self.served_definitions());
        let mut known = known;
        loop {
            let settled = self.settle_definitions(&rest, known, &changed, false);
            known = settled.await?;
            self.custom_resources
                .followed
                .store(true, Ordering::Release);
            let ending = known.iter().filter(|(_, it)| is_ending(&it.outline));
            changed = ending.map(|(name, _)| name.clone()).collect();
            let next = events.next();
            let batch = if changed.is_empty() {
                Ok(next.await)
            } else {
                tokio::time::timeout(CLEANUP_RETRY, next).await
            };
            if let Ok(batch) = batch {
                for event in batch.ok_or_else(over)? {
                    apply(&mut known, event, &mut changed)?;
                }
            }
        }
    }

    /// Processes changed definitions: names, serving, and the cleanup of deleted ones. `begins`:
    /// whether the server is starting.
    async fn settle_definitions(
        &self,
        rest: &Rest,
        mut known: Known,
        changed: &BTreeSet<Str>,
        begins: bool,
    ) -> Result<Known, Status> {
        let groups: BTreeSet<Str> = changed.iter().map(|name| group_of(name)).collect();
        // A change can free names for its whole group.
        let names: Vec<Str> = known
            .keys()
            .chain(changed)
            .filter(|name| groups.contains(&group_of(name)))
            .cloned()
            .collect();
        let mut taken = BTreeMap::<Str, NamesInUse>::new();
        for name in names {
            let Some(it) = known.get(&name) else {
                self.uninstall(&name);
                continue;
            };
            let definition = &it.outline;
            let group = &definition.spec.group;
            let taken = match taken.entry(group.clone()) {
                Entry::Occupied(it) => it.into_mut(),
                Entry::Vacant(it) => it.insert(names_in_use(&known, group)),
            };
            let mut status = definition.status.clone();
            if !is_ending(definition) {
                let now = self.own_request().now();
                status = names::settle(definition, taken, now);
                Problem::set(it.problem(), &mut status, now);
            }
            let is_settled = status == definition.status && self.is_installed(definition);
            if is_settled && !changed.contains(&name) {
                continue;
            }
            let Some(mut settled) = self.whole(rest, it).await? else {
                known
                    .get_mut(&name)
                    .into_iter()
                    .for_each(KnownDefinition::miss);
                continue;
            };
            settled.status = status;
            // Served first, so that a client that observes the condition finds the resource.
            let is_new = !names::is_true(&definition.status, ESTABLISHED);
            let serving = self.install(&settled, is_new).await;
            serving.set_conditions(definition, &mut settled, self.own_request().now(), begins);
            let cleaned = is_ending(&settled) && self.clean(&mut settled).await;
            if settled.status != definition.status {
                serving.log(&settled);
                self.write_status(rest, &settled).await?;
            }
            self.custom_resources.announce(&name);
            if cleaned {
                self.finish(rest, &settled).await?;
            }
            if let Some(it) = known.get_mut(&name) {
                let (before, now) = (&it.outline.status, &settled.status);
                taken.replace(&name, &before.accepted_names, &now.accepted_names);
                it.settle(&settled);
            }
        }
        Ok(known)
    }

    /// Returns the whole of a definition; `None` if it has changed since, or is gone: then an event
    /// follows.
    async fn whole(
        &self,
        rest: &Rest,
        known: &KnownDefinition,
    ) -> Result<Option<CustomResourceDefinition>, Status> {
        if !known.is_reduced() {
            return Ok(known.decode(None));
        }
        let (cx, name) = (self.own_request(), &known.outline.metadata.name);
        let latest = ResourceVersion::default();
        match rest.get(&cx, "", name, &latest).await {
            Ok(stored) => Ok(known.decode(Some(&stored))),
            Err(status) if status.is_not_found() => Ok(None),
            Err(status) => Err(status),
        }
    }

    /// Writes a status, unless the definition has changed: then an event triggers it again.
    async fn write_status(
        &self,
        rest: &Rest,
        definition: &CustomResourceDefinition,
    ) -> Result<(), Status> {
        let Some(status) = rest.subresource("status") else {
            return Ok(());
        };
        let (cx, options) = (self.own_request(), PostOptions::default());
        let name = definition.metadata.name.clone();
        let new = Replacement(Box::new(definition.clone()));
        let written = status.update(&cx, "", &name, &new, &options).await;
        tolerate(written.map(drop))
    }

    /// Removes the finalizer of a definition whose objects are gone.
    async fn finish(
        &self,
        rest: &Rest,
        definition: &CustomResourceDefinition,
    ) -> Result<(), Status> {
        let mut free = definition.clone();
        free.metadata.finalizers.retain(|it| it != CLEANUP);
        // Without the validation of a user's update: an invalid definition can be removed too.
        let request = UpdateRequest {
            stores: &self.stores,
            cx: &self.own_request(),
            namespace: "",
            name: &definition.metadata.name,
            object: &Replacement(Box::new(free)),
            scope: UpdateScope::Everything,
            subresource: "",
            dry_run: false,
            tracking: None,
            rules: None,
            admitting: None,
        };
        let written = rest.store.update(request).await;
        tolerate(written.map(drop))
    }

    /// Deletes the objects of a definition. Returns whether none is left. An obstacle is reported
    /// in a condition, and does not block other definitions.
    async fn clean(&self, definition: &mut CustomResourceDefinition) -> bool {
        match self.is_cleaned(definition).await {
            Ok(cleaned) => cleaned,
            Err(status) => {
                let message = format!("could not delete all instances: {}", status.message);
                let why = ("InstanceDeletionFailed", message.as_str());
                let (now, before) = (self.own_request().now(), definition.status.clone());
                names::set(&mut definition.status, TERMINATING, true, why, now);
                if definition.status != before {
                    let definition = &definition.metadata.name;
                    tracing::warn!(%definition, "{message}");
                }
                false
            }
        }
    }

    async fn is_cleaned(&self, definition: &CustomResourceDefinition) -> Result<bool, Status> {
        let served = self.custom_resources.served();
        let installed = served.by_definition.get(&definition.metadata.name);
        // The objects exist whether or not the definition is served, in any version.
        let rest = match installed.map(|it| Arc::clone(&it.objects)) {
            Some(rest) => rest,
            None if !self.has_objects(definition).await? => return Ok(true),
            None => self
                .unserved_objects(definition)
                .ok_or_else(|| Status::internal_error(NOT_READABLE))?,
        };
        let (cx, list) = (self.own_request(), ListOptions::default());
        let options = DeleteOptions::default();
        rest.delete_collection(&cx, "", &list, &options).await?;
        Ok(rest.list(&cx, "", &list).await?.items.is_empty())
    }

    /// Reports whether a definition that is not served has objects. A definition without a valid
    /// storage location has none: the values there belong to another resource.
    async fn has_objects(&self, definition: &CustomResourceDefinition) -> Result<bool, Status> {
        if names::place(definition).is_err() {
            return Ok(false);
        }
        let (group, plural) = (&definition.spec.group, &definition.spec.names.plural);
        let found = self.stores.engine.has_custom_objects(group, plural).await;
        let resource = GroupResource::new(group.clone(), plural.clone());
        found.map_err(|error| error.to_status(Operation::List, &resource, ""))
    }
}

/// Returns all stored definitions that can be decoded, and the list version. One that cannot be
/// decoded does not affect the others.
async fn list(rest: &Rest) -> Result<(Known, ResourceVersion), Status> {
    let page = rest.list_readable().await?;
    let definitions = page.items.iter().filter_map(KnownDefinition::of);
    let known = definitions.map(|it| (it.outline.metadata.name.clone(), it));
    Ok((
        known.collect(),
        page.metadata.resource_version.to_string().into(),
    ))
}

fn apply(known: &mut Known, event: WatchEvent, changed: &mut BTreeSet<Str>) -> Result<(), Status> {
    let (stored, there) = match event {
        WatchEvent::Added(stored) | WatchEvent::Modified(stored) => (stored, true),
        WatchEvent::Deleted(stored) => (stored, false),
        WatchEvent::Bookmark(_) => return Ok(()),
        WatchEvent::Error(status) => return Err(*status),
    };
    let Some(definition) = KnownDefinition::of(&stored) else {
        return Ok(());
    };
    let name = definition.outline.metadata.name.clone();
    let is_changed = if there {
        match known.get_mut(&name) {
            Some(before) => before.follow(definition),
            None => known.insert(name.clone(), definition).is_none(),
        }
    } else {
        known.remove(&name);
        true
    };
    if is_changed {
        changed.insert(name);
    }
    Ok(())
}

/// Returns the group in the name of a definition.
fn group_of(name: &str) -> Str {
    name.split_once('.').map_or("", |(_, group)| group).into()
}

/// Ignores conflicts, missing objects and validation errors: concurrent changes arrive as events.
fn tolerate(written: Result<(), Status>) -> Result<(), Status> {
    match written {
        Err(status) if status.is_conflict() || status.is_not_found() || status.is_invalid() => {
            Ok(())
        }
        other => other,
    }
}

fn over() -> Status {
    Status::internal_error("the watch of definitions has ended")
}

/// Returns the names in use in a group.
fn names_in_use(known: &Known, group: &str) -> NamesInUse {
    let definitions = known.values().map(|it| &it.outline);
    let of_group = definitions.filter(|it| it.spec.group == *group);
    NamesInUse::by(of_group).with_built_in(group)
}

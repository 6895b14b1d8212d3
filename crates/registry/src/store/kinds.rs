//! `Kinds`: the interface between a registry and the kinds that it serves.
//!
//! The registry implements create, update, list, watch and delete for any object. A set of kinds
//! supplies the differences: strategies, conversions, subresources with actions, and the system
//! objects of every cluster. `kubist-kinds` supplies upstream's built-in kinds.

use crate::storage::StorageFactory;
use crate::storage::raw::RawStorage;
use crate::store::GroupRules;
use crate::store::action::Action;
use crate::store::announcement::Announcement;
use crate::store::clock::WallClock;
use crate::store::hooks::Hooks;
use crate::store::random::Random;
use crate::store::stores::Stores;
use crate::stored::scheme::{Scheme, StoredKind};
use crate::strategy::{BoxFuture, PlainStrategy, Strategy};
use kubist_api::{Kind, ResourceFacts};
use kubist_apimachinery::{FieldSelector, GroupResource, Status};
use std::fmt;
use std::sync::Arc;

/// A set of kinds. Each method has a default for kinds without special rules; [`PlainKinds`] is
/// such a set.
pub trait Kinds: fmt::Debug + Send + Sync + 'static {
    /// Returns the scheme: conversions between versions and the presentation of stored objects.
    fn scheme(&self) -> &'static Scheme {
        &Scheme::PLAIN
    }

    /// Returns the strategy of a resource, by its storage group and plural.
    fn strategy(&self, group: &str, plural: &str) -> Arc<dyn Strategy> {
        let _ = (group, plural);
        Arc::new(PlainStrategy::default())
    }

    /// Reports whether objects of a served resource are stored. Default: yes.
    fn is_stored(&self, facts: &ResourceFacts) -> bool {
        let _ = facts;
        true
    }

    /// Returns the storage group of a served resource: two groups may serve the same objects
    /// (upstream: events). Default: its own.
    fn storage_group(&self, facts: &ResourceFacts) -> &'static str {
        facts.group
    }

    /// Returns the validation rules for writes through this group, which replace those of the
    /// strategy. Default: none.
    fn group_rules(&self, facts: &ResourceFacts) -> Option<GroupRules> {
        let _ = facts;
        None
    }

    /// Translates the field selector of a served resource to the fields of the stored version.
    /// `selectable` lists the strategy's fields beside name and namespace. Default: the fields have
    /// the same names, and only the strategy's fields are accepted.
    ///
    /// # Errors
    /// 400, with the kind's own message, if a field is not selectable.
    fn stored_fields(
        &self,
        facts: &ResourceFacts,
        fields: &FieldSelector,
        selectable: &[&str],
    ) -> Result<FieldSelector, Status> {
        let _ = (facts, selectable);
        Ok(fields.clone())
    }

    /// Returns the subresource of that name whose creation acts on the object (upstream:
    /// `pods/binding`, `pods/eviction`). Default: none.
    fn action(&self, facts: &ResourceFacts, subresource: &str) -> Option<&'static dyn Action> {
        let _ = (facts, subresource);
        None
    }

    /// Reports whether the subresource of that name, other than status, updates objects through
    /// its [strategy](Strategy::subresource) (upstream: `pods/resize`). Default: no.
    fn updates_through(&self, facts: &ResourceFacts, subresource: &str) -> bool {
        let _ = (facts, subresource);
        false
    }

    /// Returns the system objects of every cluster. Called once per registry. Default: none.
    fn cluster(&self, parts: &RegistryParts<'_>) -> Option<Arc<dyn ClusterObjects>> {
        let _ = parts;
        None
    }
}

/// Kinds without special rules: every served object is stored unchanged.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to it")]
pub struct PlainKinds;

impl Kinds for PlainKinds {}

/// The system objects of every cluster, and the range allocations that writes need.
pub trait ClusterObjects: fmt::Debug + Send + Sync {
    /// Returns the hooks of a resource, by its storage group and plural. They run before those of
    /// the [configuration](crate::RegistryConfig::hooks).
    fn hooks(&self, group: &str, plural: &str) -> Option<Arc<dyn Hooks>> {
        let _ = (group, plural);
        None
    }

    /// Creates missing objects, once everything else is ready to serve.
    ///
    /// # Errors
    /// Storage does not answer, or rejects an object.
    fn start<'a>(&'a self, stores: &'a Arc<Stores>) -> BoxFuture<'a, Result<(), Status>>;

    /// Maintains the objects while a server runs, until the future is dropped. See
    /// [`Registry::run_system_objects`](crate::Registry::run_system_objects).
    fn run<'a>(
        &'a self,
        stores: &'a Arc<Stores>,
        announcement: &'a Announcement,
    ) -> BoxFuture<'a, ()>;

    /// Removes what says that this server is there; [`run`](Self::run) has been dropped. Default:
    /// nothing.
    ///
    /// # Errors
    /// Storage does not answer.
    fn withdraw<'a>(
        &'a self,
        stores: &'a Arc<Stores>,
        announcement: &'a Announcement,
    ) -> BoxFuture<'a, Result<(), Status>> {
        let _ = (stores, announcement);
        Box::pin(std::future::ready(Ok(())))
    }
}

/// The components of a registry, for its [`ClusterObjects`].
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "the registry fills it in")]
pub struct RegistryParts<'a> {
    /// Creates storages.
    pub factory: &'a StorageFactory,
    /// The conversions between the versions of the kinds.
    pub scheme: &'static Scheme,
    /// The source of uids and generated names.
    pub random: &'a Arc<Random>,
    /// The source of timestamps.
    pub clock: &'a Arc<dyn WallClock>,
}

impl RegistryParts<'_> {
    /// Returns the storage of a resource with objects of `kind`, below its strategy and watch
    /// cache.
    pub fn raw(
        &self,
        resource: &GroupResource,
        namespaced: bool,
        kind: &'static Kind,
    ) -> RawStorage {
        let scheme = self.scheme;
        self.factory
            .raw(resource, namespaced, StoredKind { kind, scheme })
    }
}

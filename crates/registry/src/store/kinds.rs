//! `Kinds`: the seam between a registry and the kinds that it serves.
//!
//! The registry knows how any object is created, changed, listed, watched and deleted. A set of
//! kinds supplies what differs between them: strategies, conversions, subresources that act, and
//! the objects that every cluster has. `kubist-kinds` supplies upstream's built-in kinds.

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

/// What a set of kinds supplies. Each method has a default that fits kinds without peculiarities;
/// [`PlainKinds`] is a set of such.
pub trait Kinds: fmt::Debug + Send + Sync + 'static {
    /// How versions are converted and stored objects shown.
    fn scheme(&self) -> &'static Scheme {
        &Scheme::PLAIN
    }

    /// The strategy of a resource, by the group and plural that it is stored under.
    fn strategy(&self, group: &str, plural: &str) -> Arc<dyn Strategy> {
        let _ = (group, plural);
        Arc::new(PlainStrategy::default())
    }

    /// Whether objects of a served resource are stored. Default: yes.
    fn is_stored(&self, facts: &ResourceFacts) -> bool {
        let _ = facts;
        true
    }

    /// The group that a served resource is stored under: two groups may serve the same objects
    /// (upstream: events). Default: its own.
    fn storage_group(&self, facts: &ResourceFacts) -> &'static str {
        facts.group
    }

    /// What objects must satisfy that are written through this group, in place of the rules of the
    /// strategy. Default: nothing else.
    fn group_rules(&self, facts: &ResourceFacts) -> Option<GroupRules> {
        let _ = facts;
        None
    }

    /// Translates the field selector of a served resource to the fields of the stored version.
    /// `selectable` are the fields that the strategy has beside name and namespace. Default: the
    /// fields have the same names, and are judged by what the strategy has.
    ///
    /// # Errors
    /// 400, in words of the kind's own: objects cannot be selected by one of the fields.
    fn stored_fields(
        &self,
        facts: &ResourceFacts,
        fields: &FieldSelector,
        selectable: &[&str],
    ) -> Result<FieldSelector, Status> {
        let _ = (facts, selectable);
        Ok(fields.clone())
    }

    /// The subresource of that name whose creation acts on the object (upstream: `pods/binding`,
    /// `pods/eviction`). Default: none.
    fn action(&self, facts: &ResourceFacts, subresource: &str) -> Option<&'static dyn Action> {
        let _ = (facts, subresource);
        None
    }

    /// Whether objects are updated through a subresource of that name, which is no status, by
    /// [`Strategy::prepare_for_subresource_update`] (upstream: `pods/resize`). Default: no.
    fn updates_through(&self, facts: &ResourceFacts, subresource: &str) -> bool {
        let _ = (facts, subresource);
        false
    }

    /// The objects that every cluster has. Called once for each registry. Default: none.
    fn cluster(&self, parts: &RegistryParts<'_>) -> Option<Arc<dyn ClusterObjects>> {
        let _ = parts;
        None
    }
}

/// Kinds without peculiarities: whatever is served is stored as it comes.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to it")]
pub struct PlainKinds;

impl Kinds for PlainKinds {}

/// What every cluster has beside what its users store, and what is allocated from ranges while
/// they write.
pub trait ClusterObjects: fmt::Debug + Send + Sync {
    /// The hooks of a resource, by the group and plural that it is stored under. They come before
    /// those of the [configuration](crate::RegistryConfig::hooks).
    fn hooks(&self, group: &str, plural: &str) -> Option<Arc<dyn Hooks>> {
        let _ = (group, plural);
        None
    }

    /// Creates what is missing, once everything else is ready to serve.
    ///
    /// # Errors
    /// Storage does not answer, or does not take an object.
    fn start<'a>(&'a self, stores: &'a Arc<Stores>) -> BoxFuture<'a, Result<(), Status>>;

    /// Keeps everything there while a server runs, until the future is dropped. See
    /// [`Registry::run_system_objects`](crate::Registry::run_system_objects).
    fn run<'a>(
        &'a self,
        stores: &'a Arc<Stores>,
        announcement: &'a Announcement,
    ) -> BoxFuture<'a, ()>;
}

/// What a registry is made of, for its [`ClusterObjects`].
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "the registry fills it in")]
pub struct RegistryParts<'a> {
    /// What storages are made by.
    pub factory: &'a StorageFactory,
    /// How the versions of the kinds are converted.
    pub scheme: &'static Scheme,
    /// What uids and generated names come from.
    pub random: &'a Arc<Random>,
    /// Where timestamps come from.
    pub clock: &'a Arc<dyn WallClock>,
}

impl RegistryParts<'_> {
    /// The storage of a resource with objects of `kind`, below its strategy and its watch cache.
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

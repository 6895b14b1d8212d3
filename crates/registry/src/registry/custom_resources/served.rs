//! `CustomResources`: the custom resources that are currently served.
//!
//! The set is replaced as a whole, so a request sees one consistent state of it.

use crate::custom::content::{ServedContent, defined_by, is_ending};
use crate::custom::conversion::{Conversion, ConversionParts};
use crate::custom::names;
use crate::custom::names::ESTABLISHED;
use crate::custom::serving_conditions::Serving;
use crate::custom::shape::Shape;
use crate::custom::static_texts::Shortage;
use crate::custom::strategy::CustomStrategy;
use crate::custom::versioned_storage::VersionedStorage;
use crate::registry::catalog::ServedGroup;
use crate::registry::custom_resources::installed_storage::InstalledStorage;
use crate::registry::{Registry, catalog};
use crate::rest::Rest;
use crate::rest::subresource::Subresource;
use crate::storage::DryRunnable;
use crate::storage::cacher::CacherStats;
use crate::store::stores::Stores;
use crate::store::{Defined, DefinedBy, Store};
use hashbrown::HashMap;
use kubist_api::ResourceFacts;
use kubist_api::apiextensions::v1::{CustomResourceConversion, CustomResourceDefinition};
use kubist_apimachinery::{GroupResource, Str};
use parking_lot::RwLock;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tokio::sync::watch;

/// The maximum of served versions over all definitions.
const SERVED_VERSIONS_MAX: usize = 20_000;
/// Group, version and plural.
type Path = (&'static str, &'static str, &'static str);

/// The custom resources that are currently served.
#[derive(Debug, Default)]
pub(crate) struct CustomResources {
    /// The groups without custom resources.
    base: Arc<[ServedGroup]>,
    served: RwLock<Arc<Served>>,
    /// Whether the stored definitions are being followed.
    pub(super) followed: AtomicBool,
}

/// A snapshot of the served custom resources.
#[derive(Clone, Debug, Default)]
pub(crate) struct Served {
    pub(crate) resources: HashMap<Path, Arc<Rest>>,
    /// Everything that is served.
    pub(crate) groups: Arc<[ServedGroup]>,
    pub(super) by_definition: BTreeMap<Str, Arc<Installed>>,
    /// Definitions that are not in `groups` yet: who finds their resources there must not meet the
    /// write of their first status.
    pub(crate) unannounced: BTreeSet<Str>,
}

#[derive(Debug)]
pub(super) struct Installed {
    shapes: Vec<Arc<Shape>>,
    stored: Arc<Shape>,
    /// All objects, each in the version it is stored in. Never converted, so that the objects of a
    /// deleted definition can be deleted without its webhook.
    pub(super) objects: Arc<Rest>,
    is_ending: bool,
    /// The generation of the definition.
    generation: i64,
    storage: InstalledStorage,
    conversion: Arc<Conversion>,
    versions: Versions,
    /// Ends the watches.
    ends: Arc<watch::Sender<()>>,
}

/// The properties of a definition that the watches of its objects depend on: watches continue while
/// they are equal.
#[derive(Clone, Debug, PartialEq)]
struct Versions {
    by: DefinedBy,
    served: Vec<&'static str>,
    stored: &'static str,
    /// The conversion, unless it only renames versions.
    conversion: Option<Box<CustomResourceConversion>>,
}

impl Versions {
    fn of(content: &ServedContent, definition: &CustomResourceDefinition) -> Self {
        let conversion = content.conversion.has_webhook();
        let conversion = conversion.then(|| definition.spec.conversion.clone());
        Self {
            conversion: conversion.flatten(),
            by: content.by.clone(),
            served: content.shapes.iter().map(|it| it.facts.version).collect(),
            stored: content.stored.facts.version,
        }
    }
}

impl CustomResources {
    /// Creates an empty set, beside these groups.
    pub(crate) fn new(base: Arc<[ServedGroup]>) -> Self {
        let served = Served {
            groups: Arc::clone(&base),
            ..Served::default()
        };
        Self {
            base,
            served: RwLock::new(Arc::new(served)),
            followed: AtomicBool::new(false),
        }
    }

    /// Replaces the served set.
    fn change(&self, change: impl FnOnce(&mut Served)) {
        let mut served = self.served.write();
        let mut next = Served::clone(&served);
        change(&mut next);
        next.groups = catalog::with_more(&self.base, catalog::custom(&next));
        *served = Arc::new(next);
    }

    pub(crate) fn served(&self) -> Arc<Served> {
        Arc::clone(&self.served.read())
    }

    /// Shows the resources of a definition in discovery.
    pub(super) fn announce(&self, name: &str) {
        if self.served().unannounced.contains(name) {
            self.change(|next| drop(next.unannounced.take(name)));
        }
    }
}

impl Served {
    /// Returns the served resources with objects of a kind, by its `group/version`.
    pub(crate) fn of_kind(&self, api_version: &str, kind: &str) -> Vec<&'static ResourceFacts> {
        let versions = self.groups.iter().flat_map(|it| &it.versions);
        let versions = versions.filter(|it| it.api_version == *api_version);
        let facts = versions.flat_map(|it| &it.resources).map(|it| it.facts);
        facts.filter(|it| it.kind == kind).collect()
    }

    /// Returns the watch caches of the served resources.
    pub(crate) fn caches(&self) -> impl Iterator<Item = (GroupResource, CacherStats)> {
        self.by_definition.values().filter_map(|installed| {
            let facts = installed.objects.facts;
            let cache = installed.storage.cache.as_deref()?;
            Some((GroupResource::new(facts.group, facts.plural), cache.stats()))
        })
    }

    /// Reports whether there is room for all served versions of a changed definition.
    fn has_room(&self, before: Option<&Arc<Installed>>, content: &ServedContent) -> bool {
        let before = before.map_or(0, |it| it.shapes.len());
        let others = self.resources.len().saturating_sub(before);
        content.shapes.len() <= before || others + content.shapes.len() <= SERVED_VERSIONS_MAX
    }

    fn remove(&mut self, name: &str) {
        self.unannounced.remove(name);
        if let Some(installed) = self.by_definition.remove(name) {
            for shape in &installed.shapes {
                let facts = shape.facts;
                self.resources
                    .remove(&(facts.group, facts.version, facts.plural));
            }
        }
    }
}

impl Installed {
    /// Reports whether it matches the current definition.
    fn matches(&self, content: &ServedContent) -> bool {
        let mut pairs = self.shapes.iter().zip(&content.shapes);
        self.is_ending == content.is_ending
            && self.generation == content.generation
            && self.storage.matches(content)
            && Arc::ptr_eq(&self.stored, &content.stored)
            && self.shapes.len() == content.shapes.len()
            && pairs.all(|(one, other)| Arc::ptr_eq(one, other))
    }

    /// Returns the served state if the definition's change is ignored, except for its deletion.
    fn unchanged(&self, definition: &CustomResourceDefinition) -> ServedContent {
        ServedContent {
            by: self.storage.definition.clone(),
            shapes: self.shapes.clone(),
            stored: Arc::clone(&self.stored),
            conversion: Arc::clone(&self.conversion),
            is_ending: is_ending(definition),
            generation: self.generation,
            field_managers: Arc::clone(&self.objects.store.field_managers),
        }
    }
}

/// Creates the store of the objects in one version.
fn new_store(
    stores: &Stores,
    (shape, storage): (&Arc<Shape>, DryRunnable),
    content: &ServedContent,
    ends: &watch::Sender<()>,
) -> Store {
    let (facts, has_status) = (shape.facts, shape.has_status);
    let (conversion, versions) = (&content.conversion, content.shapes.clone());
    let strategy = CustomStrategy::new(shape, conversion, versions, content.is_ending);
    Store {
        group: facts.group,
        plural: facts.plural,
        namespaced: facts.namespaced,
        storage,
        strategy: Arc::new(strategy),
        has_status,
        hooks: Vec::new(),
        finishing: stores.finishing.clone(),
        field_managers: Arc::clone(&content.field_managers),
        definition: Some(Defined {
            by: content.by.clone(),
            stored: content.stored.facts.version,
            judged: Arc::default(),
        }),
        served_as: content.shapes.iter().map(|it| it.facts).collect(),
        ends: Some(ends.subscribe()),
    }
}

impl Registry {
    /// Serves the current state of a definition, or stops serving it. The previous state is served
    /// on while there is no room for the change. `is_new`: it has to be
    /// [announced](CustomResources::announce) yet.
    pub(super) async fn install(
        &self,
        definition: &CustomResourceDefinition,
        is_new: bool,
    ) -> Serving {
        let name = &definition.metadata.name;
        if !names::is_true(&definition.status, ESTABLISHED) {
            self.uninstall(name);
            return Serving::AsDefined;
        }
        let served = self.custom_resources.served();
        let before = served.by_definition.get(name);
        let parts = ConversionParts {
            caller: self.webhooks.clone(),
            stores: Arc::clone(&self.stores),
        };
        let content =
            ServedContent::of(definition, Some(&parts)).and_then(|content| match content {
                Some(content) if !served.has_room(before, &content) => Err(Shortage::Process),
                content => Ok(content),
            });
        match content {
            Ok(Some(content)) => {
                self.install_content((definition, is_new), before, content)
                    .await;
                Serving::AsDefined
            }
            Ok(None) => {
                self.uninstall(name);
                Serving::AsDefined
            }
            Err(shortage) => match before {
                Some(before) if before.storage.definition == defined_by(definition) => {
                    let content = before.unchanged(definition);
                    self.install_content((definition, is_new), Some(before), content)
                        .await;
                    Serving::Previous(shortage)
                }
                _ => {
                    self.uninstall(name);
                    Serving::Nothing(shortage)
                }
            },
        }
    }

    async fn install_content(
        &self,
        (definition, is_new): (&CustomResourceDefinition, bool),
        before: Option<&Arc<Installed>>,
        content: ServedContent,
    ) {
        let name = &definition.metadata.name;
        if before.is_some_and(|it| it.matches(&content)) {
            return;
        }
        let storage = match before {
            Some(before) if before.storage.matches(&content) => before.storage.clone(),
            _ => {
                let (by, versions) = (content.by.clone(), content.conversion.versions().collect());
                let made = InstalledStorage::make(&self.stores, &content.stored, by, versions);
                let made = made.await;
                let Ok(storage) = made else {
                    // A condition reports it.
                    self.uninstall(name);
                    return;
                };
                storage
            }
        };
        let versions = Versions::of(&content, definition);
        let same = before.filter(|it| it.versions == versions);
        let ends = match same {
            Some(same) => Arc::clone(&same.ends),
            None => Arc::new(watch::Sender::new(())),
        };
        let rest = |shape: &Arc<Shape>, inner: DryRunnable| Rest {
            stores: Arc::clone(&self.stores),
            facts: shape.facts,
            kind: shape.kind,
            store: Arc::new(new_store(&self.stores, (shape, inner), &content, &ends)),
            subresource: Subresource::None,
        };
        let view = |shape: &Arc<Shape>| {
            let (inner, conversion) = (Arc::clone(&storage.inner.0), &content.conversion);
            let view = VersionedStorage::new(inner, shape.kind, Arc::clone(conversion));
            rest(shape, DryRunnable(Arc::new(view)))
        };
        let views = content.shapes.iter().map(|shape| {
            let facts = shape.facts;
            let path = (facts.group, facts.version, facts.plural);
            (path, Arc::new(view(shape)))
        });
        let views: Vec<_> = views.collect();
        let installed = Installed {
            objects: Arc::new(rest(&content.stored, storage.inner.clone())),
            conversion: Arc::clone(&content.conversion),
            shapes: content.shapes,
            stored: content.stored,
            is_ending: content.is_ending,
            generation: content.generation,
            storage,
            versions,
            ends,
        };
        self.custom_resources.change(|next| {
            next.remove(name);
            next.resources.extend(views);
            next.by_definition.insert(name.clone(), Arc::new(installed));
            if is_new {
                next.unannounced.insert(name.clone());
            }
        });
        if let (Some(before), None) = (before, same) {
            before.ends.send_replace(());
        }
    }

    /// Returns the objects of a definition that is not served, for deletion; `None` if there is no
    /// room even for that.
    pub(super) fn unserved_objects(
        &self,
        definition: &CustomResourceDefinition,
    ) -> Option<Arc<Rest>> {
        let content = ServedContent::bare(definition)?;
        let shape = &content.stored;
        let made = self
            .stores
            .engine
            .custom_raw(shape.kind, shape.facts)
            .ok()?;
        let (inner, ends) = (DryRunnable(Arc::new(made)), watch::Sender::new(()));
        let store = new_store(&self.stores, (shape, inner), &content, &ends);
        Some(Arc::new(Rest {
            stores: Arc::clone(&self.stores),
            facts: shape.facts,
            kind: shape.kind,
            store: Arc::new(store),
            subresource: Subresource::None,
        }))
    }

    /// Reports whether the current generation of a definition is served.
    pub(super) fn is_installed(&self, definition: &CustomResourceDefinition) -> bool {
        let served = self.custom_resources.served();
        let installed = served.by_definition.get(&definition.metadata.name);
        installed.is_some_and(|it| {
            it.generation == definition.metadata.generation
                && it.is_ending == is_ending(definition)
                && it.storage.definition == defined_by(definition)
        })
    }

    pub(super) fn uninstall(&self, name: &str) {
        let served = self.custom_resources.served();
        if let Some(before) = served.by_definition.get(name) {
            self.custom_resources.change(|next| next.remove(name));
            before.ends.send_replace(());
        }
    }
}

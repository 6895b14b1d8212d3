//! `Definitions`: which custom resources are served now.
//!
//! What is served is replaced as a whole, so a request sees one state of it.

use super::definitions::is_ending;
use super::names::{self, ESTABLISHED};
use super::{CustomStrategy, Shape};
use crate::Registry;
use crate::cacher::CacherStats;
use crate::catalog::{self, ServedGroup};
use crate::registry::{RunningCache, Shared};
use crate::rest::Rest;
use crate::storage::DryRunnable;
use crate::storage_key::NoPlace;
use crate::store::{DefinedBy, Store};
use crate::subresource::Subresource;
use hashbrown::HashMap;
use kubist_api::apiextensions::v1::CustomResourceDefinition;
use kubist_apimachinery::{GroupResource, Str};
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Versions of all definitions that are served at a time.
const SERVED_VERSIONS_MAX: usize = 20_000;
/// Group, version and plural.
type Path = (&'static str, &'static str, &'static str);

/// The custom resources that are served.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    /// The groups without custom resources.
    base: Arc<[ServedGroup]>,
    served: RwLock<Arc<Served>>,
    /// Whether what is stored is being followed.
    pub(super) followed: AtomicBool,
}

/// The custom resources that are served at one time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Served {
    pub(crate) resources: HashMap<Path, Arc<Rest>>,
    /// Everything that is served.
    pub(crate) groups: Arc<[ServedGroup]>,
    pub(super) by_definition: BTreeMap<Str, Installed>,
}

#[derive(Clone, Debug)]
pub(super) struct Installed {
    shapes: Vec<&'static Shape>,
    /// All objects, in the version of their storage, whether that is served or not.
    pub(super) objects: Arc<Rest>,
    is_ending: bool,
    kept: Kept,
}

/// Where the objects of a definition are. Stays the same while the definition changes in other
/// ways than in the version of its storage, so that its watch cache does.
#[derive(Clone, Debug)]
struct Kept {
    definition: DefinedBy,
    storage: DryRunnable,
    namespaced: bool,
    cache: Option<Arc<RunningCache>>,
}

impl Kept {
    async fn make(
        shared: &Shared,
        shape: &'static Shape,
        definition: DefinedBy,
    ) -> Result<Self, NoPlace> {
        let made = shared.engine.custom(shape.kind, shape.facts)?;
        let cache = match made.cacher {
            Some(cacher) => Some(Arc::new(RunningCache::start(cacher).await)),
            None => None,
        };
        Ok(Self {
            definition,
            storage: DryRunnable(made.storage),
            namespaced: shape.facts.namespaced,
            cache,
        })
    }

    fn fits(&self, shape: &'static Shape, definition: &DefinedBy) -> bool {
        std::ptr::eq(self.storage.kind(), shape.kind)
            && self.namespaced == shape.facts.namespaced
            && self.definition == *definition
    }
}

impl Definitions {
    /// None yet, beside these groups.
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

    /// Changes what is served.
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
}

impl Served {
    /// The watch caches of what is served.
    pub(crate) fn caches(&self) -> impl Iterator<Item = (GroupResource, CacherStats)> {
        self.by_definition.values().filter_map(|installed| {
            let facts = installed.objects.facts;
            let cache = installed.kept.cache.as_deref()?;
            Some((GroupResource::new(facts.group, facts.plural), cache.stats()))
        })
    }

    fn remove(&mut self, name: &str) {
        if let Some(installed) = self.by_definition.remove(name) {
            for shape in installed.shapes {
                let facts = shape.facts;
                self.resources
                    .remove(&(facts.group, facts.version, facts.plural));
            }
        }
    }
}

impl Installed {
    /// Whether it is what a definition says now.
    fn says(
        &self,
        shapes: &[&'static Shape],
        is_ending: bool,
        stored: &'static Shape,
        definition: &DefinedBy,
    ) -> bool {
        let mut pairs = self.shapes.iter().zip(shapes);
        self.is_ending == is_ending
            && self.kept.fits(stored, definition)
            && std::ptr::eq(self.objects.facts, stored.facts)
            && self.shapes.len() == shapes.len()
            && pairs.all(|(one, other)| std::ptr::eq(*one, *other))
    }
}

fn new_store(kept: &Kept, shape: &'static Shape, is_ending: bool) -> Store {
    let facts = shape.facts;
    Store {
        group: facts.group,
        plural: facts.plural,
        namespaced: facts.namespaced,
        storage: kept.storage.clone(),
        strategy: Arc::new(CustomStrategy { shape, is_ending }),
        has_status: shape.has_status,
        hooks: Vec::new(),
        definition: Some(kept.definition.clone()),
    }
}

impl Registry {
    /// Serves a definition as it is now, or no longer. False if there are too many.
    pub(super) async fn install(&self, definition: &CustomResourceDefinition) -> bool {
        let name = &definition.metadata.name;
        if !names::is_true(&definition.status, ESTABLISHED) {
            self.uninstall(name);
            return true;
        }
        let versions = definition.spec.versions.iter();
        let versions: Option<Vec<_>> = versions
            .filter(|version| version.served || version.storage)
            .map(|version| Some((version, Shape::of(definition, version)?)))
            .collect();
        let Some(versions) = versions else {
            self.uninstall(name);
            return false;
        };
        let Some((_, stored)) = versions.iter().find(|(version, _)| version.storage) else {
            self.uninstall(name);
            return true;
        };
        let stored = *stored;
        let of_served = versions.iter().filter(|(version, _)| version.served);
        let shapes: Vec<_> = of_served.map(|(_, shape)| *shape).collect();
        let is_ending = is_ending(definition);
        let served = self.definitions.served();
        let before = served.by_definition.get(name);
        let by = DefinedBy {
            name: name.clone(),
            uid: definition.metadata.uid.clone(),
        };
        if before.is_some_and(|it| it.says(&shapes, is_ending, stored, &by)) {
            return true;
        }
        if served.resources.len() + shapes.len() > SERVED_VERSIONS_MAX {
            return false;
        }
        let kept = match before {
            Some(before) if before.kept.fits(stored, &by) => before.kept.clone(),
            _ => {
                let Ok(kept) = Kept::make(&self.shared, stored, by).await else {
                    // A condition has said so.
                    self.uninstall(name);
                    return true;
                };
                kept
            }
        };
        let store = Arc::new(new_store(&kept, stored, is_ending));
        let rest = |shape: &Shape| Rest {
            shared: Arc::clone(&self.shared),
            facts: shape.facts,
            kind: shape.kind,
            store: Arc::clone(&store),
            subresource: Subresource::None,
        };
        let installed = Installed {
            objects: Arc::new(rest(stored)),
            shapes,
            is_ending,
            kept,
        };
        self.definitions.change(|next| {
            next.remove(name);
            for shape in &installed.shapes {
                let facts = shape.facts;
                let path = (facts.group, facts.version, facts.plural);
                next.resources.insert(path, Arc::new(rest(shape)));
            }
            next.by_definition.insert(name.clone(), installed);
        });
        true
    }

    pub(super) fn uninstall(&self, name: &str) {
        let served = self.definitions.served();
        if served.by_definition.contains_key(name) {
            self.definitions.change(|next| next.remove(name));
        }
    }
}

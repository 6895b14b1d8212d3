//! `FactoryConfig`: how a factory makes informers; `KindConfig`: what is different for one kind.

use crate::OnProblem;
use crate::{Budget, QueueKind, Resync};
use kubist_apimachinery::{ApiResource, Str};
use kubist_cache::Selection;
use kubist_reflector::{Config, Transform};
use std::fmt;
use std::time::Duration;

/// How long an informer of a factory runs on when nobody uses it, by default.
pub const UNUSED_AFTER: Duration = Duration::from_secs(30);

/// How a factory makes informers.
#[derive(Clone)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a configuration is built by its users"
)]
pub struct FactoryConfig {
    /// Stands before the names of its informers, which report by them. Default: empty.
    pub name: Str,
    /// What [`SharedInformerFactory::informer`](crate::SharedInformerFactory::informer) selects.
    /// Default: everything.
    pub selection: Selection,
    /// Several namespaces, instead of the selection's one or all. An informer of them is one
    /// informer with one store. Cluster-scoped kinds are not concerned. Default: none.
    pub namespaces: Vec<Str>,
    /// How informers list and watch.
    pub reflector: Config,
    /// As [`InformerConfig::queue`](crate::InformerConfig::queue).
    pub queue: QueueKind,
    /// As [`InformerConfig::resync`](crate::InformerConfig::resync).
    pub resync: Resync,
    /// How long a started informer runs on when nobody uses it: no handle and no lister of it
    /// exists, and it has no handler. `None`: as long as the factory. Default: [`UNUSED_AFTER`].
    pub unused_after: Option<Duration>,
    /// Resources that [`for_resource`](crate::SharedInformerFactory::for_resource) knows beside
    /// the built-in ones, as discovery gives them. Default: none.
    pub resources: Vec<ApiResource>,
    /// As [`InformerConfig::seed`](field@crate::InformerConfig::seed).
    pub seed: Option<u64>,
    /// As [`InformerConfig::on_problem`](crate::InformerConfig::on_problem), of all informers.
    pub on_problem: Option<OnProblem>,
}

impl Default for FactoryConfig {
    fn default() -> Self {
        Self {
            name: Str::default(),
            selection: Selection::default(),
            namespaces: Vec::new(),
            reflector: Config::default(),
            queue: QueueKind::default(),
            resync: Resync::default(),
            unused_after: Some(UNUSED_AFTER),
            resources: Vec::new(),
            seed: None,
            on_problem: None,
        }
    }
}

impl fmt::Debug for FactoryConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FactoryConfig")
            .field("name", &self.name)
            .field("selection", &self.selection)
            .field("namespaces", &self.namespaces)
            .field("reflector", &self.reflector)
            .finish_non_exhaustive()
    }
}

/// What is different for the informers of one form. What is `None` is as the factory has it.
#[expect(
    clippy::exhaustive_structs,
    reason = "a configuration is built by its users"
)]
pub struct KindConfig<F> {
    /// A name instead of the kind's. Default: the kind.
    pub name: Option<Str>,
    /// What is selected where a request names no selection.
    pub selection: Option<Selection>,
    /// As [`FactoryConfig::namespaces`].
    pub namespaces: Option<Vec<Str>>,
    /// Changes each object as it arrives, once, before anybody sees it. Default: none.
    pub transform: Option<Transform<F>>,
    /// How informers list and watch.
    pub reflector: Option<Config>,
    /// As [`InformerConfig::queue`](crate::InformerConfig::queue).
    pub queue: Option<QueueKind>,
    /// As [`InformerConfig::resync`](crate::InformerConfig::resync).
    pub resync: Option<Resync>,
    /// As [`InformerConfig::budget`](crate::InformerConfig::budget). Default: no limit.
    pub budget: Option<Budget<F>>,
}

impl<F> Default for KindConfig<F> {
    fn default() -> Self {
        Self {
            name: None,
            selection: None,
            namespaces: None,
            transform: None,
            reflector: None,
            queue: None,
            resync: None,
            budget: None,
        }
    }
}

impl<F> Clone for KindConfig<F> {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            selection: self.selection.clone(),
            namespaces: self.namespaces.clone(),
            transform: self.transform.clone(),
            reflector: self.reflector.clone(),
            queue: self.queue,
            resync: self.resync,
            budget: self.budget,
        }
    }
}

impl<F> fmt::Debug for KindConfig<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KindConfig")
            .field("name", &self.name)
            .field("selection", &self.selection)
            .field("namespaces", &self.namespaces)
            .finish_non_exhaustive()
    }
}

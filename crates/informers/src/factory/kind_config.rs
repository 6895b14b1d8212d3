//! `FactoryConfig`: the configuration of a factory. `KindConfig`: the differences for one form.

use crate::OnProblem;
use crate::{Budget, QueueKind, Resync};
use kubist_apimachinery::{ApiResource, Str};
use kubist_cache::Selection;
use kubist_reflector::{Config, Transform};
use std::fmt;
use std::time::Duration;

/// How long an unused informer of a factory keeps running by default.
pub const UNUSED_AFTER: Duration = Duration::from_secs(30);

/// The configuration of a factory.
#[derive(Clone)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a configuration is built by its users"
)]
pub struct FactoryConfig {
    /// A prefix of the informers' names, which appear in reports. Default: empty.
    pub name: Str,
    /// The selection of
    /// [`SharedInformerFactory::informer`](crate::SharedInformerFactory::informer). Default: all
    /// objects.
    pub selection: Selection,
    /// Several namespaces, in place of the selection's one or all. They are one informer with one
    /// store. Cluster-scoped kinds are unaffected. Default: none.
    pub namespaces: Vec<Str>,
    /// The configuration of lists and watches.
    pub reflector: Config,
    /// See [`InformerConfig::queue`](crate::InformerConfig::queue).
    pub queue: QueueKind,
    /// See [`InformerConfig::resync`](crate::InformerConfig::resync).
    pub resync: Resync,
    /// How long a started informer keeps running while it is unused: no handle and no lister of it
    /// exists, and no handler is registered. `None`: as long as the factory. Default:
    /// [`UNUSED_AFTER`].
    pub unused_after: Option<Duration>,
    /// Resources for [`for_resource`](crate::SharedInformerFactory::for_resource) in addition to
    /// the built-in ones, as discovery returns them. Default: none.
    pub resources: Vec<ApiResource>,
    /// See [`InformerConfig::seed`](field@crate::InformerConfig::seed).
    pub seed: Option<u64>,
    /// See [`InformerConfig::on_problem`](crate::InformerConfig::on_problem); for all informers.
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

/// The configuration of informers in one form. Fields that are `None` take the factory's setting.
#[expect(
    clippy::exhaustive_structs,
    reason = "a configuration is built by its users"
)]
pub struct KindConfig<F> {
    /// The name. Default: the kind.
    pub name: Option<Str>,
    /// The selection of requests that do not specify one.
    pub selection: Option<Selection>,
    /// See [`FactoryConfig::namespaces`].
    pub namespaces: Option<Vec<Str>>,
    /// Changes each object once before it enters the store. Default: none.
    pub transform: Option<Transform<F>>,
    /// The configuration of lists and watches.
    pub reflector: Option<Config>,
    /// See [`InformerConfig::queue`](crate::InformerConfig::queue).
    pub queue: Option<QueueKind>,
    /// See [`InformerConfig::resync`](crate::InformerConfig::resync).
    pub resync: Option<Resync>,
    /// See [`InformerConfig::budget`](crate::InformerConfig::budget). Default: no limit.
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

//! `AdmissionChain`: the plugins of a registry, in their order.

use super::attributes::Attributes;
use super::plugin::AdmissionPlugin;
use super::step_times::{Step, StepTimes};
use super::target::Target;
use hashbrown::HashMap;
use kubist_api::ResourceFacts;
use kubist_apimachinery::Status;
use std::sync::Arc;
use tokio::time::Instant;

/// Some plugins, in their order.
type Plugins = Vec<Arc<Placed>>;

/// A plugin in a chain.
#[derive(Debug)]
struct Placed {
    plugin: Arc<dyn AdmissionPlugin>,
    admits: bool,
    validates: bool,
    times: StepTimes,
}

/// The plugins of a registry, in their order. The first error ends a request.
#[derive(Clone, Debug, Default)]
pub struct AdmissionChain {
    all: Plugins,
    /// For the resources that some plugin names.
    named: HashMap<(&'static str, &'static str), Plugins>,
    /// For all other resources.
    others: Plugins,
    /// How long all plugins took together.
    times: Arc<StepTimes>,
}

impl AdmissionChain {
    /// Creates the chain of these plugins.
    pub fn new(plugins: Vec<Arc<dyn AdmissionPlugin>>) -> Self {
        let mut chain = Self::default();
        let placed = plugins.into_iter().map(|plugin| {
            Arc::new(Placed {
                admits: plugin.admits(),
                validates: plugin.validates(),
                times: StepTimes::default(),
                plugin,
            })
        });
        let plugins: Plugins = placed.collect();
        let names = plugins.iter().filter_map(|it| it.plugin.resources());
        for name in names.flatten() {
            let takes_part = |it: &&Arc<Placed>| {
                let resources = it.plugin.resources();
                resources.is_none_or(|all| all.contains(name))
            };
            let of_resource = || plugins.iter().filter(takes_part).map(Arc::clone).collect();
            chain.named.entry(*name).or_insert_with(of_resource);
        }
        let any = plugins.iter().filter(|it| it.plugin.resources().is_none());
        chain.others = any.map(Arc::clone).collect();
        chain.all = plugins;
        chain
    }

    /// Returns the names of the plugins, in their order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.all.iter().map(|it| it.plugin.name())
    }

    /// Returns how long each plugin took for the requests that it took part in, by its name.
    pub fn plugin_times(&self) -> impl Iterator<Item = (&'static str, &StepTimes)> {
        self.all.iter().map(|it| (it.plugin.name(), &it.times))
    }

    /// Returns how long the steps took, of all plugins together.
    pub fn step_times(&self) -> &StepTimes {
        &self.times
    }

    /// Reports whether there are no plugins.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Reports whether any plugin takes part in a request.
    pub fn handles(&self, target: &Target<'_>) -> bool {
        let mut plugins = self.plugins(target.resource).iter();
        plugins.any(|it| it.plugin.handles(target))
    }

    /// Reports whether any plugin may reserve something for a request.
    pub(crate) fn reserves(&self, target: &Target<'_>) -> bool {
        let mut plugins = self.plugins(target.resource).iter();
        plugins.any(|it| it.plugin.reserves(target))
    }

    /// Lets the plugins change the object of a request, once, or a second time if one of them
    /// [requests](super::Reinvocation::request) that.
    ///
    /// # Errors
    /// That of the first plugin that refuses the request.
    ///
    /// # Cancel safety
    /// Dropping the future may leave the object changed in part.
    pub async fn admit(&self, attributes: &mut Attributes<'_>) -> Result<(), Status> {
        if self.all.is_empty() {
            return Ok(());
        }
        let (began, operation) = (Instant::now(), attributes.target().operation);
        let mut admitted = self.admit_once(attributes).await;
        if admitted.is_ok() && attributes.reinvocation_mut().begin() {
            admitted = self.admit_once(attributes).await;
        }
        let (rejected, took) = (admitted.is_err(), began.elapsed());
        self.times.took(Step::Admit, operation, rejected, took);
        admitted
    }

    async fn admit_once(&self, attributes: &mut Attributes<'_>) -> Result<(), Status> {
        let target = attributes.target();
        let mut before = None;
        for it in self.plugins(target.resource) {
            if it.admits && it.plugin.handles(&target) {
                let began = before.unwrap_or_else(Instant::now);
                let admitted = it.plugin.admit(attributes).await;
                before = Some(it.took((Step::Admit, &target), began, &admitted));
                admitted?;
            }
        }
        Ok(())
    }

    /// Lets the plugins judge the object of a request.
    ///
    /// # Errors
    /// That of the first plugin that refuses the request.
    ///
    /// # Cancel safety
    /// Dropping the future drops what was reserved.
    pub async fn validate(&self, attributes: &Attributes<'_>) -> Result<(), Status> {
        if self.all.is_empty() {
            return Ok(());
        }
        let (began, operation) = (Instant::now(), attributes.target().operation);
        let judged = self.validate_all(attributes).await;
        let (rejected, took) = (judged.is_err(), began.elapsed());
        self.times.took(Step::Validate, operation, rejected, took);
        judged
    }

    async fn validate_all(&self, attributes: &Attributes<'_>) -> Result<(), Status> {
        let target = attributes.target();
        let mut before = None;
        for it in self.plugins(target.resource) {
            if it.validates && it.plugin.handles(&target) {
                let began = before.unwrap_or_else(Instant::now);
                let judged = it.plugin.validate(attributes).await;
                before = Some(it.took((Step::Validate, &target), began, &judged));
                judged?;
            }
        }
        Ok(())
    }

    fn plugins(&self, resource: &ResourceFacts) -> &[Arc<Placed>] {
        if self.all.is_empty() {
            return &[];
        }
        let named = self.named.get(&(resource.group, resource.plural));
        named.unwrap_or(&self.others)
    }
}

impl Placed {
    /// Counts how long the plugin took, and returns the time.
    fn took(
        &self,
        (step, target): (Step, &Target<'_>),
        began: Instant,
        outcome: &Result<(), Status>,
    ) -> Instant {
        let now = Instant::now();
        let (rejected, took) = (outcome.is_err(), now.saturating_duration_since(began));
        self.times.took(step, target.operation, rejected, took);
        now
    }
}

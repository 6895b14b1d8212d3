//! `AdmissionChain`: the plugins of a registry, in their order.

use super::attributes::Attributes;
use super::plugin::AdmissionPlugin;
use super::target::Target;
use hashbrown::HashMap;
use kubist_api::ResourceFacts;
use kubist_apimachinery::Status;
use std::sync::Arc;

/// Some plugins, in their order.
type Plugins = Vec<Arc<dyn AdmissionPlugin>>;

/// The plugins of a registry, in their order. The first error ends a request.
#[derive(Clone, Debug, Default)]
pub struct AdmissionChain {
    all: Plugins,
    /// For the resources that some plugin names.
    named: HashMap<(&'static str, &'static str), Plugins>,
    /// For all other resources.
    others: Plugins,
}

impl AdmissionChain {
    /// Creates the chain of these plugins.
    pub fn new(plugins: Vec<Arc<dyn AdmissionPlugin>>) -> Self {
        let mut chain = Self::default();
        let names = plugins.iter().filter_map(|it| it.resources());
        for name in names.flatten() {
            let takes_part = |it: &&Arc<dyn AdmissionPlugin>| {
                let resources = it.resources();
                resources.is_none_or(|all| all.contains(name))
            };
            let of_resource = || plugins.iter().filter(takes_part).map(Arc::clone).collect();
            chain.named.entry(*name).or_insert_with(of_resource);
        }
        let any = plugins.iter().filter(|it| it.resources().is_none());
        chain.others = any.map(Arc::clone).collect();
        chain.all = plugins;
        chain
    }

    /// Returns the names of the plugins, in their order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.all.iter().map(|it| it.name())
    }

    /// Reports whether there are no plugins.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Reports whether any plugin takes part in a request.
    pub fn handles(&self, target: &Target<'_>) -> bool {
        let mut plugins = self.plugins(target.resource).iter();
        plugins.any(|it| it.handles(target))
    }

    /// Reports whether any plugin may reserve something for a request.
    pub(crate) fn reserves(&self, target: &Target<'_>) -> bool {
        let mut plugins = self.plugins(target.resource).iter();
        plugins.any(|it| it.reserves(target))
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
        self.admit_once(attributes).await?;
        if attributes.reinvocation_mut().begin() {
            self.admit_once(attributes).await?;
        }
        Ok(())
    }

    async fn admit_once(&self, attributes: &mut Attributes<'_>) -> Result<(), Status> {
        let target = attributes.target();
        for plugin in self.plugins(target.resource) {
            if plugin.handles(&target) {
                plugin.admit(attributes).await?;
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
        let target = attributes.target();
        for plugin in self.plugins(target.resource) {
            if plugin.handles(&target) {
                plugin.validate(attributes).await?;
            }
        }
        Ok(())
    }

    fn plugins(&self, resource: &ResourceFacts) -> &[Arc<dyn AdmissionPlugin>] {
        if self.all.is_empty() {
            return &[];
        }
        let named = self.named.get(&(resource.group, resource.plural));
        named.unwrap_or(&self.others)
    }
}

//! `Configuration`: the stored `FlowSchema`s and `PriorityLevelConfiguration`s.

use crate::mandatory;
use kubist_api::flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration};
use kubist_apimachinery::Str;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The stored flow schemas and priority levels. Whoever follows them puts them in. Default: only
/// what every server has, `exempt` and `catch-all`.
#[derive(Clone, Debug)]
pub struct Configuration {
    schemas: BTreeMap<Str, Arc<FlowSchema>>,
    levels: BTreeMap<Str, Arc<PriorityLevelConfiguration>>,
}

impl Default for Configuration {
    fn default() -> Self {
        let mut configuration = Self {
            schemas: BTreeMap::new(),
            levels: BTreeMap::new(),
        };
        configuration.clear_schemas();
        configuration.clear_levels();
        configuration
    }
}

impl Configuration {
    /// Adds or replaces a schema.
    pub fn put_schema(&mut self, schema: FlowSchema) {
        let name = schema.metadata.name.clone();
        self.schemas.insert(name, Arc::new(schema));
    }

    /// Removes a schema.
    pub fn remove_schema(&mut self, name: &str) {
        self.schemas.remove(name);
        self.complete_schemas();
    }

    /// Removes all schemas.
    pub fn clear_schemas(&mut self) {
        self.schemas.clear();
        self.complete_schemas();
    }

    /// Adds or replaces a level.
    pub fn put_level(&mut self, level: PriorityLevelConfiguration) {
        let name = level.metadata.name.clone();
        self.levels.insert(name, Arc::new(level));
    }

    /// Removes a level. Requests that wait in it are still handled.
    pub fn remove_level(&mut self, name: &str) {
        self.levels.remove(name);
        self.complete_levels();
    }

    /// Removes all levels.
    pub fn clear_levels(&mut self) {
        self.levels.clear();
        self.complete_levels();
    }

    /// Reports whether there is a level of this name: a schema without its level is not used.
    pub fn has_level(&self, name: &str) -> bool {
        self.levels.contains_key(name)
    }

    /// Returns the schemas, by name.
    pub fn schemas(&self) -> impl Iterator<Item = &Arc<FlowSchema>> {
        self.schemas.values()
    }

    pub(crate) fn levels(&self) -> impl Iterator<Item = &PriorityLevelConfiguration> {
        self.levels.values().map(AsRef::as_ref)
    }

    fn complete_schemas(&mut self) {
        for schema in mandatory::schemas() {
            let entry = self.schemas.entry(schema.metadata.name.clone());
            entry.or_insert_with(|| Arc::new(schema));
        }
    }

    fn complete_levels(&mut self) {
        for level in mandatory::levels() {
            let entry = self.levels.entry(level.metadata.name.clone());
            entry.or_insert_with(|| Arc::new(level));
        }
    }
}

//! `Plan`: flow schemas in the order in which they are asked, with their levels.

use crate::configuration::Configuration;
use crate::dealer::flow_hash;
use crate::flow_schema::{distinguisher, matches};
use crate::mandatory::CATCH_ALL;
use crate::request::Class;
use kubist_api::flowcontrol::v1::FlowSchema;
use kubist_authorization::Attributes;
use std::sync::Arc;

/// One flow schema and where it leads.
#[derive(Debug)]
struct Entry {
    schema: Arc<FlowSchema>,
    class: Arc<Class>,
    level: usize,
}

/// The schemas of a configuration, in order of precedence.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    entries: Vec<Entry>,
    /// The entry of what nothing matches.
    rest: usize,
}

/// How a request was classified.
#[derive(Debug)]
pub(crate) struct Classified<'a> {
    pub(crate) class: Arc<Class>,
    pub(crate) level: usize,
    pub(crate) flow: u64,
    /// What tells the flow apart.
    pub(crate) distinguisher: &'a str,
}

impl Plan {
    /// Makes a plan; `level_of` returns the place of a level and its uid by name.
    pub(crate) fn of(
        configuration: &Configuration,
        level_of: impl Fn(&str) -> Option<(usize, kubist_apimachinery::Str)>,
    ) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        for schema in configuration.schemas() {
            let level_name = &schema.spec.priority_level_configuration.name;
            // Without its level it is not used.
            let Some((level, uid)) = level_of(level_name) else {
                continue;
            };
            let class = Class {
                flow_schema: schema.metadata.name.clone(),
                flow_schema_uid: schema.metadata.uid.clone(),
                priority_level: level_name.clone(),
                priority_level_uid: uid,
            };
            entries.push(Entry {
                schema: Arc::clone(schema),
                class: Arc::new(class),
                level,
            });
        }
        entries.sort_by(|one, other| {
            let key = |it: &Entry| it.schema.spec.matching_precedence;
            let by_name = one.class.flow_schema.cmp(&other.class.flow_schema);
            key(one).cmp(&key(other)).then(by_name)
        });
        let is_rest = |it: &Entry| *it.class.flow_schema == *CATCH_ALL;
        let rest = entries.iter().position(is_rest).unwrap_or(0);
        Self { entries, rest }
    }

    /// Returns the first schema that matches.
    pub(crate) fn classify<'a>(&self, request: &Attributes<'a>) -> Option<Classified<'a>> {
        let mut entries = self.entries.iter();
        let found = entries.find(|it| matches(&it.schema, request));
        let entry = found.or_else(|| self.entries.get(self.rest))?;
        let distinguisher = distinguisher(&entry.schema, request);
        Some(Classified {
            class: Arc::clone(&entry.class),
            level: entry.level,
            flow: flow_hash(&entry.class.flow_schema, distinguisher),
            distinguisher,
        })
    }
}

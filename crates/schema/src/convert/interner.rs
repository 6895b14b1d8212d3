//! `Interner`: shares the equal parts of the schemas of one definition.

use super::{Pattern, Schema};
use hashbrown::{HashMap, HashSet};
use kubist_apimachinery::Str;
use std::fmt::Write as _;
use std::sync::Arc;

/// The parts so far. It lives as long as one conversion.
#[derive(Default)]
pub(super) struct Interner {
    schemas: HashMap<String, Arc<Schema>>,
    patterns: HashMap<Str, Arc<Pattern>>,
    texts: HashSet<Str>,
}

impl Interner {
    pub(super) fn text(&mut self, text: &Str) -> Str {
        self.texts.get_or_insert_with(text, Clone::clone).clone()
    }

    pub(super) fn pattern(&mut self, text: &Str) -> Arc<Pattern> {
        let text = self.text(text);
        let new = || Arc::new(Pattern::new(text.clone()));
        Arc::clone(self.patterns.entry(text.clone()).or_insert_with(new))
    }

    /// Returns an equal schema if there is one already. The schemas in it must be interned.
    pub(super) fn schema(&mut self, schema: Schema) -> Arc<Schema> {
        let key = key(&schema);
        Arc::clone(self.schemas.entry(key).or_insert_with(|| Arc::new(schema)))
    }
}

/// Returns a text that is equal for equal schemas. Schemas within are represented by their
/// addresses, so the text is as long as one level.
fn key(schema: &Schema) -> String {
    let mut key = String::new();
    let address = |it: &Arc<Schema>| Arc::as_ptr(it).addr();
    let children = schema.properties.iter().map(|(_, it)| it);
    let children = children.chain(&schema.items).chain(schema.additional());
    let shallow = Schema {
        properties: Box::default(),
        items: None,
        additional_properties: match &schema.additional_properties {
            Some(super::AdditionalProperties::Bool(it)) => {
                Some(super::AdditionalProperties::Bool(*it))
            }
            _ => None,
        },
        values: None,
        ..schema.clone()
    };
    // Writing to a String cannot fail.
    let _ = write!(key, "{shallow:?}");
    for (name, _) in &schema.properties {
        let _ = write!(key, "{name:?}");
    }
    for child in children {
        let _ = write!(key, " {}", address(child));
    }
    let _ = write!(
        key,
        "{}{}",
        schema.items.is_some(),
        schema.additional().is_some()
    );
    if let Some(values) = &schema.values {
        if let Some(junctors) = &values.junctors {
            for junctor in [&junctors.all_of, &junctors.any_of, &junctors.one_of] {
                let _ = write!(key, "[");
                for child in junctor {
                    let _ = write!(key, " {}", address(child));
                }
            }
            let _ = write!(key, "{:?}", junctors.not.as_ref().map(address));
        }
        let shallow = super::ValueRules {
            junctors: None,
            ..(**values).clone()
        };
        let _ = write!(key, "{shallow:?}");
    }
    key
}

//! `CompiledRules`: the compiled rules of a schema, in a tree that has only what leads to rules.

use super::compile::{CompiledRule, compile_rules};
use super::declare::{Declaration, Declarer};
use super::expressions::Language;
use crate::schema::Schema;
use hashbrown::HashMap;
use kubist_apimachinery::Str;
use kubist_cel::declared::{Declared, Kind};
use std::ptr;
use std::sync::Arc;

/// The compiled CEL rules of a schema. They are evaluated with the schema that they are compiled
/// from, or an equal one.
#[derive(Clone, Debug)]
pub struct CompiledRules {
    pub(super) root: Arc<Node>,
}

/// The rules of a schema and of those within. Equal nodes of one tree are shared.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) rules: Box<[CompiledRule]>,
    /// The type of the values, if there are rules; none if expressions cannot name them.
    pub(super) declared: Option<Arc<Declared>>,
    pub(super) properties: Box<[(Str, Arc<Self>)]>,
    pub(super) items: Option<Arc<Self>>,
    pub(super) additional: Option<Arc<Self>>,
}

impl CompiledRules {
    /// Compiles the rules of a schema of whole objects; none if there are none. A rule that does
    /// not compile is an error of every object.
    pub fn compile(schema: &Schema) -> Option<Self> {
        Self::of(schema, true)
    }

    /// Compiles the rules of a schema, of which `is_resource` reports whether it is one of whole
    /// objects.
    pub(crate) fn of(schema: &Schema, is_resource: bool) -> Option<Self> {
        if !has_rules(schema) {
            return None;
        }
        let mut compiler = Compiler::default();
        let root = compiler.declarer.declare(schema, is_resource);
        let declared = root.is_typed.then_some(&root.declared);
        let root = compiler.node(schema, declared)?;
        Some(Self { root })
    }
}

/// Reports whether a schema or one within has rules.
fn has_rules(schema: &Schema) -> bool {
    let properties = schema.properties.iter().map(|(_, it)| it);
    let mut within = properties.chain(&schema.items).chain(schema.additional());
    schema.rules.is_some() || within.any(|it| has_rules(it))
}

#[derive(Default)]
struct Compiler {
    declarer: Declarer,
    /// By the addresses of the schema and of its declared type.
    known: HashMap<(usize, usize), Option<Arc<Node>>>,
}

impl Compiler {
    fn node(&mut self, schema: &Schema, declared: Option<&Arc<Declared>>) -> Option<Arc<Node>> {
        let of_declared = declared.map_or(0, |it| Arc::as_ptr(it).addr());
        let key = (ptr::from_ref(schema).addr(), of_declared);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let made = self.make(schema, declared);
        self.known.insert(key, made.clone());
        made
    }

    fn make(&mut self, schema: &Schema, declared: Option<&Arc<Declared>>) -> Option<Arc<Node>> {
        let elements = declared.and_then(|it| it.elements());
        let items = schema.items.as_deref();
        let items = items.and_then(|it| self.node(it, elements));
        let additional = schema.additional();
        let additional = additional.and_then(|it| self.node(it, elements));
        let mut properties = Vec::new();
        for (name, property) in &schema.properties {
            if let Some(of_property) = self.of_property(name, property, declared)
                && let Some(node) = self.node(property, Some(&of_property))
            {
                properties.push((name.clone(), node));
            }
        }
        let rules = match declared {
            Some(declared) => compile_rules(schema, declared, Language::Stored),
            None => Vec::new(),
        };
        let has_rules = !schema.rules().is_empty();
        if !has_rules && items.is_none() && additional.is_none() && properties.is_empty() {
            return None;
        }
        Some(Arc::new(Node {
            rules: rules.into(),
            declared: declared.filter(|_| has_rules).cloned(),
            properties: properties.into(),
            items,
            additional,
        }))
    }

    /// Returns the declared type of a property; none if expressions cannot name its values.
    fn of_property(
        &mut self,
        name: &str,
        property: &Schema,
        declared: Option<&Arc<Declared>>,
    ) -> Option<Arc<Declared>> {
        let field = match &declared?.kind {
            Kind::Object(object) => object.field(name),
            _ => None,
        };
        match field {
            Some(field) if !field.exposed => None,
            Some(field) => Some(Arc::clone(&field.declared)),
            None => {
                // It has a name that is not escaped, in an object that is declared otherwise.
                let Declaration { declared, is_typed } = self
                    .declarer
                    .declare(property, property.is_embedded_resource);
                (is_typed && kubist_cel::escape(name).is_none()).then_some(declared)
            }
        }
    }
}

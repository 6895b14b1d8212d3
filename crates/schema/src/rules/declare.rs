//! Declared CEL types of structural schemas, with the sizes from which costs are estimated.
//!
//! Every schema has a declared type, because objects contain values that expressions cannot name:
//! those are not typed.

use crate::schema::{Kind, ListType, Schema, ValueRules};
use hashbrown::{HashMap, HashSet};
use kubist_apimachinery::Str;
use kubist_cel::declared::{Declared, Field, Kind as Declares, ListKind, Object};
use kubist_cel::{Name, escape};
use std::ptr;
use std::sync::Arc;

/// The maximum size of a request, from which the sizes of unlimited values are estimated.
pub(crate) const REQUEST_BYTES_MAX: u64 = 3 * 1024 * 1024;
/// The maximum length of a type name that is made of field names.
const NAME_BYTES_MAX: usize = 1 << 10;

/// The sizes of values as JSON, with quotes.
const STRING_BYTES_MIN: u64 = 2;
const BOOL_BYTES_MIN: u64 = 4;
const NUMBER_BYTES_MIN: u64 = 1;
const DATE_BYTES: u64 = 12;
const DATE_TIME_BYTES_MIN: u64 = 21;
const DURATION_BYTES_MIN: u64 = 3;
const TIME_BYTES_MAX: u64 = 32;

/// The declared type of a schema.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub(crate) declared: Arc<Declared>,
    /// Whether expressions can name values of this type.
    pub(crate) is_typed: bool,
}

/// Declares the types of one schema and of those within, each once.
#[derive(Debug, Default)]
pub(crate) struct Declarer {
    /// By the address of the schema, and whether its values are resources.
    known: HashMap<(usize, bool), Declaration>,
}

impl Declarer {
    /// Declares the type of a schema. Resources have `apiVersion`, `kind` and `metadata`, whether
    /// or not the schema specifies them. The schema must outlive this.
    pub(crate) fn declare(&mut self, schema: &Schema, is_resource: bool) -> Declaration {
        let key = (ptr::from_ref(schema).addr(), is_resource);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let (kind, sizes) = self.parts(schema, is_resource);
        let is_typed = kind.is_some();
        let (kind, sizes) = match kind {
            Some(kind) => (kind, sizes),
            None => (self.untyped(schema), (0, 0)),
        };
        let declared = Arc::new(Declared {
            nullable: schema.nullable,
            ..Declared::new(kind, sizes.0, sizes.1)
        });
        let made = Declaration { declared, is_typed };
        self.known.insert(key, made.clone());
        made
    }

    fn below(&mut self, schema: &Schema) -> Declaration {
        self.declare(schema, schema.is_embedded_resource)
    }

    /// Returns the kind, if it has a type, with the maximum size and the minimum size as JSON.
    fn parts(&mut self, schema: &Schema, is_resource: bool) -> (Option<Declares>, (u64, u64)) {
        let values = schema.values.as_deref();
        if schema.is_int_or_string {
            let max = length_max(values).map_or(REQUEST_BYTES_MAX - 2, |it| it.saturating_mul(4));
            return (Some(Declares::IntOrString), (max, 1));
        }
        let (kind, max, min) = match schema.kind {
            Kind::Array => return self.list(schema),
            Kind::Object => return self.object(schema, is_resource),
            Kind::String => return text(schema),
            Kind::Boolean => (Declares::Bool, 0, BOOL_BYTES_MIN),
            Kind::Number => (Declares::Double, 0, NUMBER_BYTES_MIN),
            Kind::Integer => (Declares::Int, 0, NUMBER_BYTES_MIN),
            Kind::Any | Kind::Other(_) => return (None, (0, 0)),
        };
        (Some(kind), (max, min))
    }

    fn list(&mut self, schema: &Schema) -> (Option<Declares>, (u64, u64)) {
        let Some(items) = schema.items.as_deref() else {
            return (None, (0, 0));
        };
        let items = self.below(items);
        if !items.is_typed {
            return (None, (0, 0));
        }
        let max = schema.values.as_deref().and_then(ValueRules::items_max);
        let max = max.map_or_else(
            || (REQUEST_BYTES_MAX - 2) / (items.declared.min_serialized_size + 1),
            |it| it.max(0).unsigned_abs(),
        );
        let kind = Declares::List(items.declared, list_kind(schema));
        (Some(kind), (max, 2))
    }

    fn object(&mut self, schema: &Schema, is_resource: bool) -> (Option<Declares>, (u64, u64)) {
        if let Some(values) = schema.additional() {
            let values = self.below(values);
            if !values.is_typed {
                return (None, (0, 0));
            }
            let max = schema
                .values
                .as_deref()
                .and_then(ValueRules::properties_max);
            let max = max.map_or_else(
                || (REQUEST_BYTES_MAX - 2) / (values.declared.min_serialized_size + 6),
                |it| it.max(0).unsigned_abs(),
            );
            return (Some(Declares::Map(values.declared)), (max, 2));
        }
        let required: HashSet<&str> = schema.required().iter().map(Str::as_str).collect();
        let mut size = 2;
        let mut add = |name: &str, min: u64, has_default: bool| {
            if required.contains(name) && !has_default {
                size += name.len() as u64 + min + 4;
            }
        };
        let mut fields = Vec::with_capacity(schema.properties.len());
        let is_implied = is_resource && !specifies_metadata(schema);
        for (name, property) in schema.properties() {
            if is_implied && matches!(name, "apiVersion" | "kind" | "metadata") {
                continue;
            }
            let it = self.below(property);
            if it.is_typed {
                let has_default = property.default.is_some();
                add(name, it.declared.min_serialized_size, has_default);
                fields.push(Field::new(name, it.declared));
            } else {
                fields.push(Field::hidden(name, it.declared));
            }
        }
        if is_implied {
            for field in implied_fields() {
                add(&field.name, field.declared.min_serialized_size, false);
                fields.push(field);
            }
        }
        let object = Arc::new(Object::new("object", fields));
        (Some(Declares::Object(object)), (0, size))
    }

    /// Returns the kind of values that expressions cannot name.
    fn untyped(&mut self, schema: &Schema) -> Declares {
        match (&schema.kind, schema.items.as_deref(), schema.additional()) {
            (Kind::Array, Some(items), _) => {
                Declares::List(self.below(items).declared, list_kind(schema))
            }
            (Kind::Object, _, Some(values)) => Declares::Map(self.below(values).declared),
            _ => Declares::Preserved,
        }
    }
}

fn length_max(values: Option<&ValueRules>) -> Option<u64> {
    Some(values?.length_max()?.max(0).unsigned_abs())
}

fn text(schema: &Schema) -> (Option<Declares>, (u64, u64)) {
    let values = schema.values.as_deref();
    let max = length_max(values);
    let unlimited = REQUEST_BYTES_MAX - 2;
    let (kind, max, min) = match schema.format().unwrap_or_default() {
        "byte" => (Declares::Bytes, max.unwrap_or(unlimited), STRING_BYTES_MIN),
        "duration" => (Declares::Duration, TIME_BYTES_MAX, DURATION_BYTES_MIN),
        "date" => (Declares::Date, DATE_BYTES, DATE_BYTES),
        "date-time" => (Declares::DateTime, TIME_BYTES_MAX, DATE_TIME_BYTES_MIN),
        _ => {
            let texts = schema.enumerated().iter().filter_map(|it| it.as_str());
            let max = match max {
                Some(max) => max.saturating_mul(4),
                None if schema.enumerated().is_empty() => unlimited,
                None => texts.map(str::len).max().unwrap_or_default() as u64,
            };
            (Declares::String, max, STRING_BYTES_MIN)
        }
    };
    (Some(kind), (max, min))
}

fn list_kind(schema: &Schema) -> ListKind {
    match schema.list_type {
        Some(ListType::Set) => ListKind::Set,
        Some(ListType::Map) => {
            let keys = schema.list_map_keys.iter();
            let escaped = keys.map(|it| escape(it).map_or_else(|| it.as_str().into(), Name::from));
            ListKind::Map(escaped.collect())
        }
        _ => ListKind::Atomic,
    }
}

/// Reports whether a schema specifies all of the metadata that expressions can name.
fn specifies_metadata(schema: &Schema) -> bool {
    let has_text = |schema: &Schema, name: &str| {
        let property = schema.property(name);
        property.is_some_and(|it| it.kind == Kind::String)
    };
    has_text(schema, "kind")
        && has_text(schema, "apiVersion")
        && schema.property("metadata").is_some_and(|it| {
            it.kind == Kind::Object && has_text(it, "name") && has_text(it, "generateName")
        })
}

/// Returns the fields that resources always have.
fn implied_fields() -> [Field; 3] {
    let text = Declared::new(Declares::String, REQUEST_BYTES_MAX - 2, STRING_BYTES_MIN);
    let text = Arc::new(text);
    let names = ["name", "generateName"];
    let fields = names.map(|name| Field::new(name, Arc::clone(&text)));
    let metadata = Declares::Object(Arc::new(Object::new("object", fields.into())));
    [
        Field::new("apiVersion", Arc::clone(&text)),
        Field::new("kind", text),
        Field::new("metadata", Arc::new(Declared::new(metadata, 0, 2))),
    ]
}

/// Names the object types in a declared type by their paths, so that the checker tells them apart.
#[derive(Debug, Default)]
pub(crate) struct Namer {
    shortened: usize,
}

impl Namer {
    /// Returns a declared type with names. Types without objects are shared.
    pub(crate) fn named(&mut self, declared: &Arc<Declared>, name: &str) -> Arc<Declared> {
        let kind = match &declared.kind {
            Declares::Object(object) => {
                let fields = object.fields().iter();
                let fields = fields.map(|it| self.field(it, name)).collect();
                Declares::Object(Arc::new(Object::new(name, fields)))
            }
            Declares::List(items, kind) => {
                let named = self.below(items, name, "@idx");
                if Arc::ptr_eq(&named, items) {
                    return Arc::clone(declared);
                }
                Declares::List(named, kind.clone())
            }
            Declares::Map(values) => {
                let named = self.below(values, name, "@elem");
                if Arc::ptr_eq(&named, values) {
                    return Arc::clone(declared);
                }
                Declares::Map(named)
            }
            _ => return Arc::clone(declared),
        };
        Arc::new(Declared {
            kind,
            ..Declared::clone(declared)
        })
    }

    fn field(&mut self, field: &Field, name: &str) -> Field {
        let declared = match &field.escaped {
            Some(escaped) if field.exposed => self.below(&field.declared, name, escaped),
            _ => Arc::clone(&field.declared),
        };
        Field {
            declared,
            ..field.clone()
        }
    }

    fn below(&mut self, declared: &Arc<Declared>, name: &str, step: &str) -> Arc<Declared> {
        if !matches!(
            declared.kind,
            Declares::Object(_) | Declares::List(..) | Declares::Map(_)
        ) {
            return Arc::clone(declared);
        }
        let mut name = format!("{name}.{step}");
        if name.len() > NAME_BYTES_MAX {
            self.shortened += 1;
            name = format!("selfType.@{}", self.shortened);
        }
        self.named(declared, &name)
    }
}

//! `Model`: the messages of the schema as Rust structs, with names, modules and types resolved.

mod field_type;

use self::field_type::resolve;
pub(crate) use self::field_type::{FieldType, Presence, Shape, Target};
use super::emitted::is_emitted;
use super::facts;
use super::kinds::Kinds;
use super::schema::{Field, Message, Schema};
use super::sentences::Sentences;
use crate::process::Outcome;
use std::collections::{BTreeMap, BTreeSet};

/// All structs that are emitted, by group and version.
pub(crate) struct Model {
    pub(crate) modules: BTreeMap<Module, Vec<Struct>>,
}

/// The Rust modules of a group version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Module {
    pub(crate) group: String,
    pub(crate) version: String,
}

impl Module {
    /// The Cargo feature that enables the module.
    pub(crate) fn feature(&self) -> String {
        format!("{}-{}", self.group, self.version)
    }
}

/// A Rust struct.
pub(crate) struct Struct {
    pub(crate) name: String,
    pub(crate) full_name: String,
    /// The file with its sentences, without extension: its file in a module that is split.
    pub(crate) home: Option<String>,
    /// The doc comment: a sentence, if there is one, and the facts as a paragraph of their own.
    pub(crate) docs: Vec<String>,
    pub(crate) form: &'static str,
    /// Whether server-side apply treats it as one value.
    pub(crate) is_atomic: bool,
    /// JSON names and JSON texts.
    pub(crate) defaults: Vec<(String, String)>,
    pub(crate) kinds: Vec<[String; 3]>,
    pub(crate) fields: Vec<StructField>,
    /// Fields and groups in protobuf order.
    pub(crate) order: Vec<Entry>,
}

/// A field of a Rust struct.
pub(crate) struct StructField {
    pub(crate) rust: String,
    pub(crate) json: String,
    /// The doc comment: a sentence, if there is one, and the facts.
    pub(crate) docs: Vec<String>,
    pub(crate) number: u32,
    pub(crate) field_type: FieldType,
    pub(crate) presence: Presence,
    /// The `Merge` expression.
    pub(crate) merge: Option<String>,
    /// The `ListType` expression.
    pub(crate) list: Option<String>,
    /// The JSON names of the keys of a list's items.
    pub(crate) keys: Vec<String>,
}

/// An entry of the protobuf order.
pub(crate) enum Entry {
    Field(usize),
    Group(u32, Vec<Self>),
}

/// Returns the module of a message, from the last two segments of its package.
fn module_of(full_name: &str) -> Option<Module> {
    let mut segments: Vec<&str> = full_name.split('.').collect();
    segments.pop()?;
    let version = segments.pop()?.to_owned();
    let group = segments.pop()?.replace('-', "_");
    Some(Module { group, version })
}

impl Model {
    /// Resolves the schema and adds the documentation.
    pub(crate) fn new(schema: &Schema, sentences: &Sentences) -> Outcome<Self> {
        let mut modules: BTreeMap<Module, Vec<Struct>> = BTreeMap::new();
        let known = Kinds::new(schema);
        for (full_name, message) in &schema.messages {
            if !is_emitted(full_name, message) {
                continue;
            }
            let module = module_of(full_name).ok_or_else(|| format!("no module: {full_name}"))?;
            let source = (schema, sentences);
            let mut item = Struct::new(source, &module, full_name, message)?;
            if let Some(sentence) = sentences.of_type(full_name) {
                item.docs.extend([sentence.to_owned(), String::new()]);
            }
            let facts = facts::of_type(full_name, message, &item.kinds, &known);
            item.docs.push(facts);
            modules.entry(module).or_default().push(item);
        }
        Ok(Self { modules })
    }
}

/// Returns the kinds of a message. Request options are kinds of every group; `v1` stands for all.
fn kinds(schema: &Schema, full_name: &str, message: &Message) -> Vec<[String; 3]> {
    if !message.gvk.is_empty() {
        return message.gvk.clone();
    }
    let common = schema
        .common_kinds
        .iter()
        .filter(|(_, found)| *found == full_name);
    common
        .map(|(kind, _)| [String::new(), "v1".to_owned(), kind.clone()])
        .collect()
}

/// What structs are made from.
type Source<'a> = (&'a Schema, &'a Sentences);

impl Struct {
    fn new(
        source @ (schema, sentences): Source<'_>,
        module: &Module,
        full_name: &str,
        message: &Message,
    ) -> Outcome<Self> {
        let name = message.go.rsplit('.').next().unwrap_or_default().to_owned();
        let form = match message.form.as_str() {
            _ if !message.item.is_empty() => "Transparent",
            _ if name.starts_with("JSONSchemaPropsOr") => "Union",
            _ => "Object",
        };
        let mut item = Self {
            name,
            full_name: full_name.to_owned(),
            home: sentences.file_of(full_name).map(str::to_owned),
            docs: Vec::new(),
            form,
            is_atomic: message.map_type == "atomic",
            defaults: Vec::new(),
            kinds: kinds(schema, full_name, message),
            fields: Vec::new(),
            order: Vec::new(),
        };
        let mut numbered = Vec::new();
        for field in &message.fields {
            item.add(source, module, (full_name, message, field), &mut numbered)
                .map_err(|error| format!("{full_name}.{}: {error}", field.go))?;
        }
        numbered.sort_by_key(|&(number, _)| number);
        item.order = numbered.into_iter().map(|(_, entry)| entry).collect();
        Ok(item)
    }

    fn add(
        &mut self,
        source @ (schema, sentences): Source<'_>,
        module: &Module,
        (home, message, field): (&str, &Message, &Field),
        numbered: &mut Vec<(u32, Entry)>,
    ) -> Outcome {
        if field.type_.ends_with(".TypeMeta") || field.json == "-" {
            return Ok(());
        }
        if field.inline {
            let inner_name = field.type_.as_str();
            let inner = schema
                .messages
                .get(inner_name)
                .ok_or_else(|| format!("{inner_name} is unknown"))?;
            let mut nested = Vec::new();
            for field in &inner.fields {
                self.add(source, module, (inner_name, inner, field), &mut nested)?;
            }
            nested.sort_by_key(|&(number, _)| number);
            let group = nested.into_iter().map(|(_, entry)| entry).collect();
            numbered.push((field.num, Entry::Group(field.num, group)));
            return Ok(());
        }
        let index = self.fields.len();
        let mut resolved = resolve(schema, module, field)?;
        // The struct itself may have a sentence about a field that another type brings inline.
        let places = [self.full_name.as_str(), home];
        let sentence = sentences.of_field(places, &resolved.json);
        let facts = facts::of_field(schema, message, field, &resolved.rust, sentence);
        resolved.docs = sentence.map(str::to_owned).into_iter().collect();
        resolved.docs.push(facts);
        if let Some(default) = field.default.as_ref().filter(|it| !it.is_object()) {
            let default = (resolved.json.clone(), default.to_string());
            self.defaults.push(default);
        }
        self.fields.push(resolved);
        numbered.push((field.num, Entry::Field(index)));
        Ok(())
    }

    /// Reports whether it is an object: a kind with object metadata.
    pub(crate) fn is_object(&self) -> bool {
        let mut fields = self.fields.iter();
        !self.kinds.is_empty()
            && fields.any(|it| it.rust == "metadata" && it.field_type.is_object_meta())
    }

    /// Returns the types that its fields refer to.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &Target> {
        self.fields.iter().filter_map(|it| it.field_type.target())
    }

    /// Returns the other modules that it needs.
    pub(crate) fn needs(&self) -> BTreeSet<&Module> {
        let modules = self.targets().filter_map(|target| match target {
            Target::Elsewhere(module, _) => Some(module),
            Target::Here(_) | Target::ByHand(_) => None,
        });
        modules.collect()
    }
}

//! The messages as Rust will have them: names, modules, field types, groups resolved.

use std::collections::{BTreeMap, BTreeSet};

mod field_type;

use self::field_type::resolve;
use super::facts;
use super::kinds::Kinds;
use super::schema::{Field, Message, Schema};
use super::sentences::Sentences;
use crate::process::Outcome;

/// Everything that is emitted, by group and version.
pub(crate) struct Model {
    pub(crate) modules: BTreeMap<Module, Vec<Struct>>,
}

/// A group and version as modules.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Module {
    pub(crate) group: String,
    pub(crate) version: String,
}

impl Module {
    /// The feature that brings it.
    pub(crate) fn feature(&self) -> String {
        format!("{}-{}", self.group, self.version)
    }
}

/// A Rust struct.
pub(crate) struct Struct {
    pub(crate) name: String,
    pub(crate) full_name: String,
    /// Its documentation: a sentence, if there is one, and facts as a paragraph of their own.
    pub(crate) docs: Vec<String>,
    pub(crate) form: &'static str,
    pub(crate) kinds: Vec<[String; 3]>,
    pub(crate) fields: Vec<StructField>,
    /// Protobuf order: a field, or a group of fields.
    pub(crate) order: Vec<Entry>,
    /// Other modules that it needs.
    pub(crate) needs: BTreeSet<Module>,
}

/// A field of a Rust struct.
pub(crate) struct StructField {
    pub(crate) rust: String,
    pub(crate) rust_type: String,
    pub(crate) json: String,
    /// Its documentation: a sentence, if there is one, and facts.
    pub(crate) docs: Vec<String>,
    pub(crate) number: u32,
    /// The `FieldType` expression.
    pub(crate) field_type: String,
    /// The bits of `FieldFlags`.
    pub(crate) flags: u8,
    pub(crate) merge: Option<String>,
    pub(crate) list: Option<String>,
}

/// An entry of the protobuf order.
pub(crate) enum Entry {
    Field(usize),
    Group(u32, Vec<Self>),
}

/// Messages written by hand in `kubist-apimachinery`, by full name, and whether they are small
/// enough to stand in an `Option` without a box.
fn by_hand(full_name: &str) -> Option<(&'static str, bool)> {
    let name = full_name.rsplit('.').next().unwrap_or_default();
    let meta = full_name.starts_with("io.k8s.apimachinery.pkg.apis.meta.v1.");
    Some(match name {
        "Time" if meta => ("Time", true),
        "MicroTime" if meta => ("MicroTime", true),
        "Duration" if meta => ("Duration", true),
        "FieldsV1" if meta => ("FieldsV1", true),
        "ObjectMeta" if meta => ("ObjectMeta", false),
        "ListMeta" if meta => ("ListMeta", false),
        "OwnerReference" if meta => ("OwnerReference", false),
        "ManagedFieldsEntry" if meta => ("ManagedFieldsEntry", false),
        "LabelSelector" if meta => ("LabelSelector", false),
        "LabelSelectorRequirement" if meta => ("LabelSelectorRequirement", false),
        "Condition" if meta => ("Condition", false),
        "Status" if meta => ("Status", false),
        "StatusDetails" if meta => ("StatusDetails", false),
        "ShardInfo" if meta => ("ShardInfo", false),
        "StatusCause" if meta => ("StatusCause", false),
        "Quantity" if full_name.contains(".api.resource.") => ("Quantity", true),
        "IntOrString" if full_name.contains(".intstr.") => ("IntOrString", true),
        "RawExtension" if full_name.contains(".pkg.runtime.") => ("RawExtension", true),
        "JSON" if full_name.contains("apiextensions") => ("RawJson", true),
        _ => return None,
    })
}

/// Messages that are not emitted: the envelope and parts of JSON-only answers that `codec` has.
fn is_left_out(full_name: &str, message: &Message) -> bool {
    let name = full_name.rsplit('.').next().unwrap_or_default();
    let meta = full_name.contains(".meta.");
    by_hand(full_name).is_some()
        || full_name.contains(".pkg.runtime.")
        || full_name.contains(".util.")
        || full_name.contains(".api.resource.Q")
        || full_name.starts_with("time.")
        || (meta
            && (name.starts_with("Table")
                || matches!(name, "TypeMeta" | "Timestamp" | "List" | "InternalEvent")))
        || message.gvk.iter().any(|_| is_list_kind(message))
}

/// Whether a struct is made of a message.
pub(crate) fn is_emitted(full_name: &str, message: &Message) -> bool {
    !is_left_out(full_name, message) && !is_plain_list(message)
}

/// A list kind: `metadata` is a `ListMeta` and `items` a list; `List<K>` serves for all.
pub(crate) fn is_list_kind(message: &Message) -> bool {
    let has = |json: &str, suffix: &str| {
        message
            .fields
            .iter()
            .any(|field| field.json == json && field.type_.ends_with(suffix))
    };
    has("metadata", ".ListMeta") && message.fields.iter().any(|field| field.json == "items")
}

/// The module of a message; none for those outside the API groups.
fn module_of(full_name: &str) -> Option<Module> {
    let mut parts: Vec<&str> = full_name.split('.').collect();
    parts.pop()?;
    let version = parts.pop()?.to_owned();
    let group = parts.pop()?.replace('-', "_");
    Some(Module { group, version })
}

impl Model {
    /// Resolves the schema, and finds what is said of it.
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

/// The kinds of a message. Request options are kinds of every group; `v1` stands for all.
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

/// A named Go list whose protobuf form is the repeated field itself (`ValidationRules`).
fn is_plain_list(message: &Message) -> bool {
    !message.item.is_empty() && message.fields.is_empty()
}

/// What structs are made of.
type Source<'a> = (&'a Schema, &'a Sentences);

impl Struct {
    fn new(
        source @ (schema, _): Source<'_>,
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
            docs: Vec::new(),
            form,
            kinds: kinds(schema, full_name, message),
            fields: Vec::new(),
            order: Vec::new(),
            needs: BTreeSet::new(),
        };
        let mut numbered = Vec::new();
        for field in &message.fields {
            item.add(source, module, (full_name, message, field), &mut numbered)
                .map_err(|error| format!("{full_name}.{}: {error}", field.go))?;
        }
        numbered.sort_by_key(|&(number, _)| number);
        item.order = numbered.into_iter().map(|(_, entry)| entry).collect();
        item.needs.remove(module);
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
        let mut resolved = resolve(schema, module, field, &mut self.needs)?;
        // The message itself may say more of a field that is inline there.
        let places = [self.full_name.as_str(), home];
        let sentence = sentences.of_field(places, &resolved.json);
        let facts = facts::of_field(schema, message, field, &resolved.rust, sentence);
        resolved.docs = sentence.map(str::to_owned).into_iter().collect();
        resolved.docs.push(facts);
        self.fields.push(resolved);
        numbered.push((field.num, Entry::Field(index)));
        Ok(())
    }
}

//! Writes the module of a kind.

use crate::Options;
use crate::docs::default_sentence;
use crate::kind::{Kind, NamedType};
use crate::names::{Taken, escaped, serde_camel_case, snake_case, variant};
use crate::node::{Field, Node, NodeId, Scalar, Struct};
use crate::page::Page;
use std::collections::BTreeSet;

/// The lints that generated code does not keep, since names and texts are those of definitions.
pub(crate) const ALLOWED: [&str; 9] = [
    "clippy::all",
    "clippy::mod_module_files",
    "clippy::pedantic",
    "dead_code",
    "missing_docs",
    "rustdoc::all",
    "unreachable_pub",
    "unused_imports",
    "reason = \"generated\"",
];
const OPTIONAL: &str = "skip_serializing_if = \"Option::is_none\"";

/// Writes a kind.
pub(crate) fn kind(page: &mut Page, kind: &Kind, options: &Options) {
    let writer = Writer { kind, options };
    writer.uses(page);
    writer.root(page);
    for it in &kind.types {
        page.line("");
        match kind.nodes.get(it.node) {
            Node::Struct(structure) => writer.structure(page, it, structure),
            Node::Enum(values) => writer.enumeration(page, it, values),
            _ => {}
        }
    }
}

/// Returns what a kind's module is.
pub(crate) fn title(kind: &Kind) -> String {
    let Kind {
        kind,
        group,
        version,
        ..
    } = kind;
    format!("`{kind}` of `{group}/{version}`.")
}

struct Writer<'w> {
    kind: &'w Kind,
    options: &'w Options,
}

impl Writer<'_> {
    fn uses(&self, page: &mut Page) {
        for (path, names) in self.imports() {
            match names.as_slice() {
                [name] => page.line(&format!("use {path}::{name};")),
                names => page.filled(&format!("use {path}::{{"), names, "};"),
            }
        }
        page.line("");
    }

    /// Returns the names that the types need, with their paths.
    fn imports(&self) -> Vec<(String, Vec<String>)> {
        let mut machinery = BTreeSet::from(["ObjectMeta"]);
        let (mut json, mut has_maps) = (BTreeSet::new(), false);
        if self.kind.is_open {
            json.extend(["Map", "Value"]);
        }
        let fields = self.kind.types.iter().flat_map(|it| {
            let node = self.kind.nodes.get(it.node);
            if matches!(node, Node::Struct(it) if it.is_open) {
                json.extend(["Map", "Value"]);
            }
            let Node::Struct(it) = node else {
                return &[][..];
            };
            &it.fields
        });
        let fields: Vec<&Field> = fields.chain(&self.kind.fields).collect();
        for field in fields {
            let mut node = self.kind.nodes.get(field.node);
            while let Node::List(part) | Node::Map(part) | Node::Nullable(part) = node {
                has_maps |= matches!(node, Node::Map(_));
                node = self.kind.nodes.get(*part);
            }
            match node {
                Node::Scalar(Scalar::Time) => machinery.insert("Time"),
                Node::Scalar(Scalar::Bytes) => machinery.insert("ByteString"),
                Node::Scalar(Scalar::IntOrString) => machinery.insert("IntOrString"),
                Node::Scalar(Scalar::Object) => json.insert("Map") | json.insert("Value"),
                Node::Scalar(Scalar::Value) => json.insert("Value"),
                _ => false,
            };
        }
        let owned = |names: BTreeSet<&str>| names.into_iter().map(str::to_owned).collect();
        let mut imports = vec![(
            format!("{}::apimachinery", self.options.krate),
            owned(machinery),
        )];
        if !self.kind.types.is_empty() {
            imports.push((
                "serde".to_owned(),
                owned(BTreeSet::from(["Deserialize", "Serialize"])),
            ));
        }
        if !json.is_empty() {
            imports.push(("serde_json".to_owned(), owned(json)));
        }
        if has_maps {
            imports.push(("std::collections".to_owned(), vec!["BTreeMap".to_owned()]));
        }
        imports
    }

    fn root(&self, page: &mut Page) {
        let kind = self.kind;
        page.docs("///", &kind.docs);
        let resource = format!("{}::Resource", self.options.krate);
        self.derives(page, &["Clone", "Debug", "Default", "PartialEq", &resource]);
        page.attribute("#", "resource", &self.names());
        page.block(&format!("pub struct {}", kind.root), |page| {
            page.docs("///", "The metadata.");
            page.field("metadata", "ObjectMeta");
            let mut taken = Taken::of(["metadata"]);
            for field in &kind.fields {
                self.root_field(page, field, &mut taken);
            }
            if kind.is_open {
                others(page, "resource", &mut taken);
            }
        });
    }

    /// Returns the options of the kind.
    fn names(&self) -> Vec<String> {
        let kind = self.kind;
        let mut items = vec![
            format!("group = {:?}", kind.group),
            format!("version = {:?}", kind.version),
            format!("kind = {:?}", kind.kind),
        ];
        if kind.list_kind != format!("{}List", kind.kind) {
            items.push(format!("list_kind = {:?}", kind.list_kind));
        }
        items.push(format!("plural = {:?}", kind.plural));
        if kind.singular != kind.kind.to_lowercase() {
            items.push(format!("singular = {:?}", kind.singular));
        }
        if kind.namespaced {
            items.push("namespaced".to_owned());
        }
        if self.options.krate != Options::KRATE {
            items.push(format!("crate = {}", self.options.krate));
        }
        items
    }

    fn root_field(&self, page: &mut Page, field: &Field, taken: &mut Taken) {
        let name = field_name(&field.json, taken);
        let ty = self.ty(field.node, &field.json);
        Self::field_docs(page, field);
        let mut items = Vec::new();
        if serde_camel_case(&name) != field.json {
            items.push(format!("rename = {:?}", field.json));
        }
        let is_spec = field.json == "spec" && self.may_be_empty(field.node);
        let is_plain = field.is_required || is_spec || ty.starts_with("Option<");
        if !items.is_empty() {
            page.attribute("#", "resource", &items);
        }
        let optional = format!("Option<{ty}>");
        page.field(&name, if is_plain { &ty } else { &optional });
    }

    /// Reports whether nothing is required within a struct, so that an absent one may be written as
    /// one without fields.
    fn may_be_empty(&self, node: NodeId) -> bool {
        match self.kind.nodes.get(node) {
            Node::Struct(it) => it.fields.iter().all(|field| !field.is_required),
            Node::Scalar(Scalar::Object) => true,
            _ => false,
        }
    }

    fn field_docs(page: &mut Page, field: &Field) {
        let mut text = field.docs.trim_end().to_owned();
        if let Some(sentence) = field.default.as_deref().and_then(default_sentence) {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(&sentence);
        }
        page.docs("///", &text);
    }

    fn derives(&self, page: &mut Page, own: &[&str]) {
        let own = own.iter().map(|it| (*it).to_owned());
        let items: Vec<String> = own.chain(self.options.derives.iter().cloned()).collect();
        page.filled("#[derive(", &items, ")]");
    }

    fn structure(&self, page: &mut Page, named: &NamedType, structure: &Struct) {
        page.docs("///", &named.docs);
        let own = [
            "Clone",
            "Debug",
            "Default",
            "Deserialize",
            "PartialEq",
            "Serialize",
        ];
        self.derives(page, &own);
        let mut taken = Taken::default();
        let fields: Vec<(String, &Field)> = structure
            .fields
            .iter()
            .map(|it| (field_name(&it.json, &mut taken), it))
            .collect();
        let is_camel = fields.iter().any(|(name, it)| {
            let plain = name.strip_prefix("r#").unwrap_or(name);
            plain != it.json && serde_camel_case(name) == it.json
        });
        if is_camel {
            page.line("#[serde(rename_all = \"camelCase\")]");
        }
        page.block(&format!("pub struct {}", named.name), |page| {
            for (name, field) in fields {
                self.field(page, &name, field, is_camel);
            }
            if structure.is_open {
                others(page, "serde", &mut taken);
            }
        });
    }

    fn field(&self, page: &mut Page, name: &str, field: &Field, is_camel: bool) {
        Self::field_docs(page, field);
        let plain = name.strip_prefix("r#").unwrap_or(name);
        let serde_name = if is_camel {
            serde_camel_case(name)
        } else {
            plain.to_owned()
        };
        let is_nullable = matches!(self.kind.nodes.get(field.node), Node::Nullable(_));
        let is_value = *self.kind.nodes.get(field.node) == Node::Scalar(Scalar::Value);
        let mut items = Vec::new();
        let keeps_null = !field.is_required && (is_nullable || is_value);
        if keeps_null {
            items.push("default".to_owned());
            let path = format!("{}::present", self.options.krate);
            items.push(format!("deserialize_with = {path:?}"));
        }
        if serde_name != field.json {
            items.push(format!("rename = {:?}", field.json));
        }
        if !field.is_required {
            items.push(OPTIONAL.to_owned());
        }
        if !items.is_empty() {
            page.attribute("#", "serde", &items);
        }
        let ty = self.ty(field.node, &field.json);
        let is_struct = matches!(self.kind.nodes.get(field.node), Node::Struct(_));
        page.field(
            name,
            &match (field.is_required, is_struct) {
                (true, _) => ty,
                (false, true) => format!("Option<Box<{ty}>>"),
                (false, false) => format!("Option<{ty}>"),
            },
        );
    }

    /// Returns the Rust type.
    fn ty(&self, node: NodeId, field: &str) -> String {
        let scalar = match self.kind.nodes.get(node) {
            Node::Scalar(it) => it,
            Node::List(part) => return format!("Vec<{}>", self.ty(*part, field)),
            Node::Map(part) => return format!("BTreeMap<String, {}>", self.ty(*part, field)),
            Node::Nullable(part) => return format!("Option<{}>", self.ty(*part, field)),
            Node::Struct(_) | Node::Enum(_) => {
                let segment = crate::names::pascal_case(field);
                return self.kind.name_of(&segment, node).to_owned();
            }
        };
        let name = match scalar {
            Scalar::Bool => "bool",
            Scalar::I32 => "i32",
            Scalar::I64 => "i64",
            Scalar::F64 => "f64",
            Scalar::String => "String",
            Scalar::Time => "Time",
            Scalar::Bytes => "ByteString",
            Scalar::IntOrString => "IntOrString",
            Scalar::AnyQuantity => return format!("{}::AnyQuantity", self.options.krate),
            Scalar::Object => "Map<String, Value>",
            Scalar::Value => "Value",
        };
        name.to_owned()
    }

    fn enumeration(&self, page: &mut Page, named: &NamedType, values: &[String]) {
        page.docs("///", &named.docs);
        let own = [
            "Clone",
            "Debug",
            "Deserialize",
            "Eq",
            "Hash",
            "PartialEq",
            "Serialize",
        ];
        self.derives(page, &own);
        let mut taken = Taken::default();
        let variants: Vec<(String, &String)> = values
            .iter()
            .map(|it| (variant_name(&variant(it), &mut taken), it))
            .collect();
        let free = ["Other", "Unknown", "Unlisted"].into_iter();
        let fallback = free.clone().find(|it| !taken.contains(it));
        let fallback = taken.take(fallback.unwrap_or("Other"), "");
        page.block(&format!("pub enum {}", named.name), |page| {
            for (name, value) in &variants {
                if name != *value {
                    page.line(&format!("#[serde(rename = {value:?})]"));
                }
                page.line(&format!("{name},"));
            }
            page.docs("///", "A value that the definition does not list.");
            page.line("#[serde(untagged)]");
            page.line(&format!("{fallback}(String),"));
        });
        page.line("");
        let empty = variants.iter().find(|(_, value)| value.is_empty());
        let default = empty.map_or_else(
            || format!("Self::{fallback}(String::new())"),
            |(name, _)| format!("Self::{name}"),
        );
        page.block(&format!("impl Default for {}", named.name), |page| {
            page.docs("///", "The empty string, as in Go.");
            page.block("fn default() -> Self", |page| page.line(&default));
        });
    }
}

/// Writes the field for what the definition does not list.
fn others(page: &mut Page, attribute: &str, taken: &mut Taken) {
    let name = taken.take("other", "_");
    let text = "Fields that the definition does not list; servers keep them.";
    page.docs("///", text);
    page.line(&format!("#[{attribute}(flatten)]"));
    page.field(&name, "Map<String, Value>");
}

/// Takes the name of a field.
fn field_name(json: &str, taken: &mut Taken) -> String {
    escaped(&taken.take(&snake_case(json), "_"))
}

/// Takes the name of a variant. `Self` is the only one that is a keyword.
fn variant_name(name: &str, taken: &mut Taken) -> String {
    let name = if name == "Self" { "SelfValue" } else { name };
    taken.take(name, "")
}

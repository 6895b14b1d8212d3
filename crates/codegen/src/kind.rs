//! `Kind`: a served version of a definition with the names of all its types.

use crate::lower::Lowering;
use crate::names::{Taken, escaped, pascal_case, snake_case};
use crate::node::{Field, Node, NodeId, Nodes};
use crate::{GenerateError, Options, TYPES_MAX};
use kubist_api::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion, JSONSchemaProps,
};
use std::collections::{BTreeMap, VecDeque};

/// The names that generated modules import or that are always in scope, so that no type may have
/// them.
const RESERVED: [&str; 21] = [
    "BTreeMap",
    "ByteString",
    "Clone",
    "Debug",
    "Default",
    "Deserialize",
    "Eq",
    "Err",
    "Hash",
    "IntOrString",
    "Map",
    "None",
    "ObjectMeta",
    "Ok",
    "Option",
    "PartialEq",
    "Serialize",
    "Some",
    "String",
    "Time",
    "Value",
];
/// Names of the same kind that are long to list in one line.
const RESERVED_TOO: [&str; 4] = ["AnyQuantity", "Box", "Result", "Vec"];
/// The most letters of a type's name, before a number is added.
const NAME_MAX: usize = 64;
/// Fields of every object that the generated struct has in another form, or not at all.
const COMMON: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// A kind in a version.
#[derive(Debug)]
#[expect(
    clippy::struct_field_names,
    reason = "the names are those of the definition"
)]
pub(crate) struct Kind {
    pub(crate) group: String,
    pub(crate) version: String,
    /// The kind's name in Kubernetes.
    pub(crate) kind: String,
    pub(crate) list_kind: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) namespaced: bool,
    /// The name of the struct.
    pub(crate) root: String,
    /// The name of the module; it may be a keyword.
    pub(crate) module: String,
    pub(crate) docs: String,
    /// Whether servers keep fields of the object that are not listed.
    pub(crate) is_open: bool,
    /// The fields beside `metadata`.
    pub(crate) fields: Vec<Field>,
    pub(crate) nodes: Nodes,
    /// The structs and enums in the order in which they are written.
    pub(crate) types: Vec<NamedType>,
    /// Their names, by the last name of their path and their node.
    names: BTreeMap<(String, NodeId), String>,
}

/// A struct or an enum.
#[derive(Debug)]
pub(crate) struct NamedType {
    pub(crate) name: String,
    pub(crate) docs: String,
    pub(crate) node: NodeId,
}

impl Kind {
    pub(crate) fn build(
        definition: &CustomResourceDefinition,
        version: &CustomResourceDefinitionVersion,
        options: &Options,
    ) -> Result<Self, GenerateError> {
        let spec = &definition.spec;
        let schema = schema(definition, version)?;
        let mut nodes = Nodes::default();
        let mut lowering = Lowering {
            nodes: &mut nodes,
            options,
        };
        let mut fields = lowering.fields(schema, 0);
        fields.retain(|it| !COMMON.contains(&it.json.as_str()));
        let mut root = pascal_case(&spec.names.kind);
        if is_reserved(&root) {
            root.push_str("Kind");
        }
        // Servers refuse such kinds, but the file need not be from one.
        if !root.starts_with(|it: char| it.is_ascii_alphabetic()) {
            root.insert_str(0, "Kind");
        }
        let or = |text: &str, default: String| match text {
            "" => default,
            text => text.to_owned(),
        };
        let mut kind = Self {
            group: spec.group.to_string(),
            version: version.name.to_string(),
            kind: spec.names.kind.to_string(),
            list_kind: or(&spec.names.list_kind, format!("{}List", spec.names.kind)),
            plural: spec.names.plural.to_string(),
            singular: or(&spec.names.singular, spec.names.kind.to_lowercase()),
            namespaced: spec.scope == "Namespaced",
            module: snake_case(&spec.names.kind),
            is_open: schema.x_kubernetes_preserve_unknown_fields == Some(true),
            docs: docs(definition, version, schema),
            root,
            fields,
            nodes,
            types: Vec::new(),
            names: BTreeMap::new(),
        };
        kind.name_types();
        if kind.nodes.len() > TYPES_MAX {
            return Err(GenerateError::TooLarge {
                definition: definition.metadata.name.to_string(),
                version: kind.version,
            });
        }
        Ok(kind)
    }

    /// Returns the name of the struct or enum that a field of this name consists of.
    pub(crate) fn name_of(&self, segment: &str, node: NodeId) -> &str {
        let found = self.names.get(&(segment.to_owned(), node));
        found.map_or("", String::as_str)
    }

    /// Names all types, those near the root first: a name is the path to the type. Equal types at
    /// paths with the same last name share the name of the first.
    fn name_types(&mut self) {
        let reserved = RESERVED.into_iter().chain(RESERVED_TOO);
        let mut taken = Taken::of(reserved.chain([self.root.as_str()]));
        let mut queue = VecDeque::new();
        let root = std::slice::from_ref(&self.root);
        enqueue(&self.nodes, root, &self.fields, &mut queue);
        while let Some(Place { path, node, docs }) = queue.pop_front() {
            let segment = path.last().cloned().unwrap_or_default();
            let key = (segment, node);
            if self.names.contains_key(&key) {
                continue;
            }
            let name = taken.take(&type_name(&path), "");
            self.names.insert(key, name.clone());
            if let Node::Struct(it) = self.nodes.get(node) {
                enqueue(&self.nodes, &path, &it.fields, &mut queue);
            }
            self.types.push(NamedType { name, docs, node });
        }
    }
}

/// A place where a type is used.
struct Place {
    /// The names from the kind to the field, in camel case.
    path: Vec<String>,
    node: NodeId,
    docs: String,
}

/// Returns the name of a type at a path: the names of the path. Of a long path, names after the
/// first are left out.
fn type_name(path: &[String]) -> String {
    let root = path.first().map_or("", String::as_str);
    let names = (1..path.len()).map(|from| format!("{root}{}", path[from..].concat()));
    let mut names = names.filter(|it| it.len() <= NAME_MAX);
    names.next().unwrap_or_else(|| {
        let whole = format!("{root}{}", path.last().map_or("", String::as_str));
        whole.chars().take(NAME_MAX).collect()
    })
}

fn enqueue(nodes: &Nodes, path: &[String], fields: &[Field], queue: &mut VecDeque<Place>) {
    for field in fields {
        let Some(node) = nodes.named_part(field.node) else {
            continue;
        };
        let mut path = path.to_vec();
        path.push(pascal_case(&field.json));
        queue.push_back(Place {
            path,
            node,
            docs: first_paragraph(&field.docs),
        });
    }
}

/// The field has the whole description.
fn first_paragraph(docs: &str) -> String {
    let lines = docs.trim().lines();
    let lines: Vec<&str> = lines.take_while(|it| !it.trim().is_empty()).collect();
    lines.join("\n")
}

fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name) || RESERVED_TOO.contains(&name) || escaped(name) != name
}

fn schema<'d>(
    definition: &CustomResourceDefinition,
    version: &'d CustomResourceDefinitionVersion,
) -> Result<&'d JSONSchemaProps, GenerateError> {
    let name = || definition.metadata.name.to_string();
    let spec = &definition.spec;
    let names = [
        ("spec.group", &spec.group),
        ("spec.names.kind", &spec.names.kind),
        ("spec.names.plural", &spec.names.plural),
        ("spec.versions[].name", &version.name),
    ];
    if let Some((field, _)) = names.into_iter().find(|(_, it)| it.is_empty()) {
        let definition = name();
        return Err(GenerateError::Incomplete { definition, field });
    }
    let schema = version.schema.as_ref();
    let schema = schema.and_then(|it| it.open_api_v3_schema.as_deref());
    schema.ok_or_else(|| GenerateError::NoSchema {
        definition: name(),
        version: version.name.to_string(),
    })
}

/// Returns the documentation of a kind: its description, and what else its users may want to know.
fn docs(
    definition: &CustomResourceDefinition,
    version: &CustomResourceDefinitionVersion,
    schema: &JSONSchemaProps,
) -> String {
    let names = &definition.spec.names;
    let mut text = match &*schema.description {
        "" => format!("`{}` of `{}`.", names.kind, definition.spec.group),
        description => description.trim_end().to_owned(),
    };
    let list = |items: &mut dyn Iterator<Item = &str>| {
        let items: Vec<String> = items.map(|it| format!("`{it}`")).collect();
        items.join(", ")
    };
    let subresources = version.subresources.as_ref();
    let mut subresources = [
        ("status", subresources.is_some_and(|it| it.status.is_some())),
        ("scale", subresources.is_some_and(|it| it.scale.is_some())),
    ]
    .into_iter()
    .filter_map(|(name, has)| has.then_some(name));
    let mut selectable = version.selectable_fields.iter().map(|it| &*it.json_path);
    let facts = [
        (
            "Short names",
            list(&mut names.short_names.iter().map(|it| &**it)),
        ),
        (
            "Categories",
            list(&mut names.categories.iter().map(|it| &**it)),
        ),
        ("Subresources", list(&mut subresources)),
        ("Fields for field selectors", list(&mut selectable)),
    ];
    let mut joint = "\n\n";
    for (what, names) in facts.iter().filter(|(_, names)| !names.is_empty()) {
        text.push_str(joint);
        text.push_str(what);
        text.push_str(": ");
        text.push_str(names);
        text.push('.');
        joint = " ";
    }
    if version.deprecated {
        let warning = version.deprecation_warning.as_deref();
        let warning = warning.unwrap_or("this version is deprecated");
        text.push_str("\n\nDeprecated: ");
        text.push_str(warning);
    }
    text
}

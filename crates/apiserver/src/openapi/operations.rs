//! Paths and operations of a version of a group.

use super::schemas::{of, reference};
use kubist_api::{ResourceFacts, SubresourceFacts, VersionFacts, find_kind, meta};
use kubist_apimachinery::Status;
use kubist_apimachinery::wire::Schema;
use kubist_codec::Format;
use kubist_codec::negotiate::PatchType;
use serde_json::{Map, Value, json};

/// The kind that an operation is about.
#[derive(Clone, Copy)]
struct Gvk<'a> {
    group: &'a str,
    version: &'a str,
    kind: &'a str,
}

impl Gvk<'_> {
    /// The kind of the objects of a resource.
    fn of(facts: &'static ResourceFacts) -> Self {
        Self {
            group: facts.group,
            version: facts.version,
            kind: facts.kind,
        }
    }

    fn json(self) -> Value {
        json!({"group": self.group, "version": self.version, "kind": self.kind})
    }

    fn schema(self) -> Option<&'static Schema> {
        find_kind(self.group, self.version, self.kind).map(kubist_api::Kind::schema)
    }
}

/// What the operations of a resource send and take.
#[derive(Clone, Debug)]
pub(super) struct Forms {
    /// References to the schemas of an object and of a list.
    pub(super) object: Value,
    pub(super) list: Value,
    pub(super) formats: &'static [Format],
    /// Server-side apply is refused, so it is not offered.
    pub(super) patches: &'static [PatchType],
}

/// Patches of objects of which the server knows the type.
const PATCHES: &[PatchType] = &[PatchType::Json, PatchType::Merge, PatchType::Strategic];

impl Forms {
    fn built_in(object: &'static Schema, list: &'static Schema) -> Self {
        Self {
            object: reference(object),
            list: reference(list),
            formats: Format::ALL,
            patches: PATCHES,
        }
    }
}

/// The paths below `prefix`, and the schemas that they mention.
pub(super) fn paths(prefix: &str, version: &'static VersionFacts) -> (Value, Vec<&'static Schema>) {
    let mut paths = Map::new();
    let mut roots = vec![of::<meta::v1::APIResourceList>()];
    let list = reference(of::<meta::v1::APIResourceList>());
    paths.insert(
        format!("/{prefix}/"),
        json!({"get": {
            "operationId": format!("get {prefix}"),
            "responses": answer(Format::ALL, &list),
        }}),
    );
    for facts in version.resources {
        let gvk = Gvk::of(facts);
        let Some(object) = gvk.schema() else {
            continue;
        };
        let kind = format!("{}List", facts.kind);
        let list = Gvk { kind: &kind, ..gvk }.schema();
        let list = list.filter(|_| facts.verbs.contains(&"list"));
        roots.extend([Some(object), list].into_iter().flatten());
        let forms = Forms::built_in(object, list.unwrap_or(object));
        add_resource(&mut paths, &mut roots, prefix, facts, &forms);
    }
    (Value::Object(paths), roots)
}

/// Adds the paths of a resource, and what its verbs need beside its objects.
pub(super) fn add_resource(
    paths: &mut Map<String, Value>,
    roots: &mut Vec<&'static Schema>,
    prefix: &str,
    facts: &'static ResourceFacts,
    forms: &Forms,
) {
    let gvk = Gvk::of(facts);
    for (verb, needed) in [
        ("delete", of::<Status>()),
        ("delete", of::<meta::v1::DeleteOptions>()),
        ("patch", of::<meta::v1::Patch>()),
        ("watch", of::<meta::v1::WatchEvent>()),
    ] {
        // Upstream has no paths for the watches of custom resources.
        let is_said = verb != "watch" || gvk.schema().is_some();
        if facts.verbs.contains(&verb) && is_said {
            roots.push(needed);
        }
    }
    let scope = if facts.namespaced {
        "namespaces/{namespace}/"
    } else {
        ""
    };
    let collection = format!("/{prefix}/{scope}{}", facts.plural);
    let of_path = |path: &str, operations: &[(&str, &str)]| {
        let mut item = Map::new();
        for (verb, action) in operations {
            if facts.verbs.contains(verb) {
                let (method, operation) = operation(action, gvk, forms);
                let id = operation_id(path, method);
                item.insert(method.to_owned(), with_id(operation, &id));
            }
        }
        item
    };
    let on_collection = [
        ("list", "list"),
        ("create", "post"),
        ("deletecollection", "deletecollection"),
    ];
    insert(paths, &collection, of_path(&collection, &on_collection));
    if facts.namespaced {
        let everywhere = format!("/{prefix}/{}", facts.plural);
        insert(
            paths,
            &everywhere,
            of_path(&everywhere, &[("list", "list")]),
        );
    }
    let on_object = [
        ("get", "get"),
        ("update", "put"),
        ("patch", "patch"),
        ("delete", "delete"),
    ];
    let one = format!("{collection}/{{name}}");
    insert(paths, &one, of_path(&one, &on_object));
    for subresource in facts.subresources {
        let path = format!("{one}/{}", subresource.name);
        insert(
            paths,
            &path,
            subresource_operations(&path, subresource, forms, roots),
        );
    }
}

fn subresource_operations(
    path: &str,
    facts: &'static SubresourceFacts,
    whole: &Forms,
    roots: &mut Vec<&'static Schema>,
) -> Map<String, Value> {
    let gvk = Gvk {
        group: facts.group,
        version: facts.version,
        kind: facts.kind,
    };
    let mut item = Map::new();
    // Options in place of objects: the connection is passed on.
    if facts.kind.ends_with("Options") {
        for (verb, method) in [("get", "get"), ("create", "post")] {
            if facts.verbs.contains(&verb) {
                item.insert(method.to_owned(), connection(path, method, gvk));
            }
        }
        return item;
    }
    let forms = match gvk.schema() {
        Some(schema) => {
            roots.push(schema);
            Forms {
                object: reference(schema),
                ..whole.clone()
            }
        }
        None => whole.clone(),
    };
    for (verb, action) in [
        ("get", "get"),
        ("create", "post"),
        ("update", "put"),
        ("patch", "patch"),
    ] {
        if facts.verbs.contains(&verb) {
            let (method, operation) = operation(action, gvk, &forms);
            item.insert(
                method.to_owned(),
                with_id(operation, &operation_id(path, method)),
            );
        }
    }
    item
}

fn insert(paths: &mut Map<String, Value>, path: &str, mut item: Map<String, Value>) {
    if item.is_empty() {
        return;
    }
    let in_path = |name: &str| parameter("path", name, "string", true);
    let mut parameters = Vec::new();
    for name in ["name", "namespace"] {
        if path.contains(&format!("{{{name}}}")) {
            parameters.push(in_path(name));
        }
    }
    parameters.push(parameter("query", "pretty", "string", false));
    item.insert("parameters".to_owned(), Value::Array(parameters));
    paths.insert(path.to_owned(), Value::Object(item));
}

/// What begins a connection, whose other end answers as it likes.
fn connection(path: &str, method: &str, gvk: Gvk<'_>) -> Value {
    json!({
        "operationId": operation_id(path, method),
        "responses": {"200": {
            "description": "OK",
            "content": {"*/*": {"schema": {"type": "string"}}},
        }},
        "x-kubernetes-action": "connect",
        "x-kubernetes-group-version-kind": gvk.json(),
    })
}

/// The HTTP method of an action, and its operation.
fn operation(action: &str, gvk: Gvk<'_>, forms: &Forms) -> (&'static str, Value) {
    let Forms {
        object,
        list,
        formats,
        patches,
    } = forms;
    let status = reference(of::<Status>());
    let write = [
        ("dryRun", "string"),
        ("fieldManager", "string"),
        ("fieldValidation", "string"),
    ];
    let (method, answer_schema, parameters, body) = match action {
        "list" => ("get", list, list_parameters(true), None),
        "get" => ("get", object, Vec::new(), None),
        "post" => ("post", object, query(&write), Some(body(object))),
        "put" => ("put", object, query(&write), Some(body(object))),
        "patch" => {
            let mut parameters = query(&write);
            parameters.push(parameter("query", "force", "boolean", false));
            ("patch", object, parameters, Some(patch_body(patches)))
        }
        "deletecollection" => {
            let mut parameters = delete_parameters();
            parameters.extend(list_parameters(false));
            ("delete", &status, parameters, Some(delete_body()))
        }
        _ => ("delete", &status, delete_parameters(), Some(delete_body())),
    };
    let mut operation = json!({
        "responses": answer(formats, answer_schema),
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": gvk.json(),
    });
    if !parameters.is_empty() {
        operation["parameters"] = Value::Array(parameters);
    }
    if let Some(body) = body {
        operation["requestBody"] = body;
    }
    (method, operation)
}

fn with_id(mut operation: Value, id: &str) -> Value {
    operation["operationId"] = json!(id);
    operation
}

/// One of its own for each operation; clients do not interpret it.
fn operation_id(path: &str, method: &str) -> String {
    let words = path.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.fold(method.to_owned(), |mut id, word| {
        let mut letters = word.chars();
        id.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        id.push_str(letters.as_str());
        id
    })
}

fn parameter(place: &str, name: &str, ty: &str, required: bool) -> Value {
    let schema = json!({"type": ty, "uniqueItems": true});
    let mut parameter = json!({"in": place, "name": name, "schema": schema});
    if required {
        parameter["required"] = json!(true);
    }
    parameter
}

fn query(parameters: &[(&str, &str)]) -> Vec<Value> {
    let parameters = parameters.iter();
    parameters
        .map(|(name, ty)| parameter("query", name, ty, false))
        .collect()
}

fn list_parameters(watch: bool) -> Vec<Value> {
    let mut parameters = query(&[
        ("continue", "string"),
        ("fieldSelector", "string"),
        ("labelSelector", "string"),
        ("limit", "integer"),
        ("resourceVersion", "string"),
        ("resourceVersionMatch", "string"),
        ("sendInitialEvents", "boolean"),
        ("timeoutSeconds", "integer"),
    ]);
    if watch {
        parameters.extend(query(&[
            ("allowWatchBookmarks", "boolean"),
            ("watch", "boolean"),
        ]));
    }
    parameters
}

fn delete_parameters() -> Vec<Value> {
    query(&[
        ("dryRun", "string"),
        ("gracePeriodSeconds", "integer"),
        ("orphanDependents", "boolean"),
        ("propagationPolicy", "string"),
    ])
}

fn content<'a>(media_types: impl Iterator<Item = &'a str>, schema: &Value) -> Value {
    let media_types = media_types.map(|it| (it.to_owned(), json!({"schema": schema})));
    Value::Object(media_types.collect())
}

/// 200 with what `schema` refers to.
pub(super) fn answer(formats: &[Format], schema: &Value) -> Value {
    let formats = formats.iter().map(|format| format.media_type());
    json!({"200": {"description": "OK", "content": content(formats, schema)}})
}

fn body(schema: &Value) -> Value {
    let content = content(std::iter::once("*/*"), schema);
    json!({"content": content, "required": true})
}

fn delete_body() -> Value {
    let schema = of::<meta::v1::DeleteOptions>();
    let content = content(std::iter::once("*/*"), &reference(schema));
    json!({"content": content})
}

fn patch_body(patches: &[PatchType]) -> Value {
    let types = patches.iter().map(|patch| patch.media_type());
    let schema = reference(of::<meta::v1::Patch>());
    json!({"content": content(types, &schema), "required": true})
}

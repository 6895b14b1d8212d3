//! An operation in a document: its parameters, request body and responses.

use super::descriptions::Descriptions;
use super::schemas::{of, reference};
use kubist_api::{ResourceFacts, SubresourceFacts, find_kind, meta};
use kubist_apimachinery::Status;
use kubist_apimachinery::wire::Schema;
use kubist_codec::Format;
use kubist_codec::negotiate::PatchType;
use serde_json::{Map, Value, json};

/// The kind that an operation concerns.
#[derive(Clone, Copy)]
pub(super) struct Gvk {
    pub(super) group: &'static str,
    pub(super) version: &'static str,
    pub(super) kind: &'static str,
}

impl Gvk {
    /// Returns the kind of a resource's objects.
    pub(super) fn of(facts: &'static ResourceFacts) -> Self {
        Self {
            group: facts.group,
            version: facts.version,
            kind: facts.kind,
        }
    }

    /// Returns the kind of a subresource.
    pub(super) fn shown_by(facts: &'static SubresourceFacts) -> Self {
        Self {
            group: facts.group,
            version: facts.version,
            kind: facts.kind,
        }
    }

    pub(super) fn schema(self) -> Option<&'static Schema> {
        find_kind(self.group, self.version, self.kind).map(kubist_api::Kind::schema)
    }

    pub(super) fn json(self) -> Value {
        json!({"group": self.group, "version": self.version, "kind": self.kind})
    }

    /// Whether a deletion returns the deleted object, as in upstream's storage of these kinds.
    fn is_returned(self) -> bool {
        match self.group {
            "" => [
                "PersistentVolume",
                "PersistentVolumeClaim",
                "Pod",
                "PodTemplate",
                "ResourceQuota",
                "Service",
                "ServiceAccount",
            ]
            .contains(&self.kind),
            "resource.k8s.io" => true,
            "storage.k8s.io" => self.kind != "CSIStorageCapacity",
            _ => false,
        }
    }
}

/// The media types of a resource's operations.
#[derive(Clone, Debug)]
pub(super) struct Forms {
    /// References to the schemas of an object and of a list.
    pub(super) object: Value,
    pub(super) list: Value,
    pub(super) formats: &'static [Format],
    pub(super) patches: &'static [PatchType],
    /// Upstream's documents differ for custom resources.
    pub(super) is_custom: bool,
    /// Whether it is also available as plain text.
    pub(super) is_text: bool,
}

/// Patch types of objects with a built-in type.
const PATCHES: &[PatchType] = PatchType::ALL;

impl Forms {
    pub(super) fn built_in(object: &'static Schema, list: &'static Schema) -> Self {
        Self {
            object: reference(object),
            list: reference(list),
            formats: Format::ALL,
            patches: PATCHES,
            is_custom: false,
            is_text: false,
        }
    }

    /// Response media types.
    fn media_types(&self, streams: bool) -> Vec<String> {
        let formats = self.formats.iter();
        let mut types: Vec<String> = formats
            .clone()
            .map(|format| format.media_type().to_owned())
            .collect();
        if streams && !self.is_custom {
            let streams = formats.filter(|format| format.encoding().is_some());
            types.extend(streams.map(|format| format!("{};stream=watch", format.media_type())));
        }
        if self.is_text {
            types.push("text/plain".to_owned());
        }
        types
    }

    /// Request media types.
    fn body_types(&self) -> Vec<String> {
        if self.is_custom {
            self.media_types(false)
        } else {
            vec!["*/*".to_owned()]
        }
    }
}

/// An operation to describe.
pub(super) struct Operation<'a> {
    /// The form of the resource path.
    pub(super) action: &'static str,
    /// Its id, unique in the document.
    pub(super) id: String,
    pub(super) description: String,
    pub(super) gvk: Gvk,
    pub(super) forms: &'a Forms,
}

/// The scope of the list.
const LIST: &[&str] = &[
    "allowWatchBookmarks",
    "continue",
    "fieldSelector",
    "labelSelector",
    "limit",
    "pretty",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "shardSelector",
    "timeoutSeconds",
    "watch",
];
const DELETE: &[&str] = &[
    "dryRun",
    "gracePeriodSeconds",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "orphanDependents",
    "pretty",
    "propagationPolicy",
];
const DELETE_COLLECTION: &[&str] = &[
    "continue",
    "dryRun",
    "fieldSelector",
    "gracePeriodSeconds",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "labelSelector",
    "limit",
    "orphanDependents",
    "pretty",
    "propagationPolicy",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "shardSelector",
    "timeoutSeconds",
];
const WRITE: &[&str] = &["dryRun", "fieldManager", "fieldValidation", "pretty"];
const PATCH: &[&str] = &[
    "dryRun",
    "fieldManager/patch",
    "fieldValidation",
    "force",
    "pretty",
];
const LOG: &[&str] = &[
    "container",
    "follow",
    "insecureSkipTLSVerifyBackend",
    "limitBytes",
    "pretty",
    "previous",
    "sinceSeconds",
    "stream",
    "tailLines",
    "timestamps",
];

impl Operation<'_> {
    /// The HTTP method.
    pub(super) fn method(&self) -> &'static str {
        match self.action {
            "post" => "post",
            "put" => "put",
            "patch" => "patch",
            "delete" | "deletecollection" => "delete",
            _ => "get",
        }
    }

    /// The names of its parameters; that of a patch differs.
    fn parameter_names(&self) -> &'static [&'static str] {
        let is_custom = self.forms.is_custom;
        match self.action {
            "list" | "watch" | "watchlist" => LIST,
            "deletecollection" if is_custom => LIST,
            "deletecollection" => DELETE_COLLECTION,
            "delete" => DELETE,
            "post" | "put" => WRITE,
            "patch" => PATCH,
            _ if self.forms.is_text => LOG,
            _ if is_custom => &["pretty", "resourceVersion"],
            _ => &["pretty"],
        }
    }

    /// Returns all parameters of the operation, by name.
    pub(super) fn parameters(&self, path: &str, descriptions: &Descriptions) -> Vec<Value> {
        let names = self.parameter_names().iter();
        let mut all: Vec<Value> = names.map(|name| descriptions.parameter(name)).collect();
        if path.contains("{namespace}") {
            all.push(descriptions.parameter("namespace"));
        }
        if path.contains("{name}") {
            all.push(json!({
                "name": "name",
                "in": "path",
                "description": format!("name of the {}", self.gvk.kind),
                "required": true,
                "schema": {"type": "string", "uniqueItems": true},
            }));
        }
        all.sort_by(|left, right| left["name"].as_str().cmp(&right["name"].as_str()));
        all
    }

    /// Returns the operation without its parameters.
    pub(super) fn document(self, tag: &str) -> Value {
        let mut operation = json!({
            "tags": [tag],
            "responses": self.responses(),
            "x-kubernetes-action": self.action,
            "x-kubernetes-group-version-kind": self.gvk.json(),
        });
        if let Some(body) = self.body() {
            operation["requestBody"] = body;
        }
        operation["description"] = Value::String(self.description);
        operation["operationId"] = Value::String(self.id);
        operation
    }

    fn responses(&self) -> Value {
        let is_returned = self.gvk.is_returned();
        let schema = match self.action {
            "list" => self.forms.list.clone(),
            "watch" | "watchlist" => reference(of::<meta::v1::WatchEvent>()),
            "deletecollection" => reference(of::<Status>()),
            "delete" if !is_returned => reference(of::<Status>()),
            _ => self.forms.object.clone(),
        };
        let streams = matches!(self.action, "list" | "watch" | "watchlist");
        let types = self.forms.media_types(streams);
        let codes: &[&str] = match self.action {
            "post" => &["200", "201", "202"],
            "put" => &["200", "201"],
            "patch" if !self.forms.is_custom => &["200", "201"],
            "delete" => &["200", "202"],
            _ => &["200"],
        };
        let mut responses = Map::new();
        for code in codes {
            let said = match *code {
                "201" => "Created",
                "202" => "Accepted",
                _ => "OK",
            };
            let answer = json!({"description": said, "content": content(&types, &schema)});
            responses.insert((*code).to_owned(), answer);
        }
        add_refusal(&mut responses);
        Value::Object(responses)
    }

    fn body(&self) -> Option<Value> {
        let types = self.forms.body_types();
        Some(match self.action {
            "post" | "put" => json!({
                "content": content(&types, &self.forms.object),
                "required": true,
            }),
            "patch" => {
                let patches = self.forms.patches.iter();
                let types: Vec<String> = patches.map(|it| it.media_type().to_owned()).collect();
                let schema = reference(of::<meta::v1::Patch>());
                json!({"content": content(&types, &schema), "required": true})
            }
            "deletecollection" if self.forms.is_custom => return None,
            "delete" | "deletecollection" => {
                let schema = reference(of::<meta::v1::DeleteOptions>());
                json!({"content": content(&types, &schema)})
            }
            _ => return None,
        })
    }
}

/// Returns the common responses.
pub(super) fn add_refusal(responses: &mut Map<String, Value>) {
    responses.insert("401".to_owned(), json!({"description": "Unauthorized"}));
}

fn content(media_types: &[String], schema: &Value) -> Value {
    let media_types = media_types.iter();
    let content = media_types.map(|it| (it.clone(), json!({"schema": schema})));
    Value::Object(content.collect())
}

/// Returns 200 with `schema` in all formats, and 401.
pub(super) fn answer(schema: &Value) -> Value {
    let formats = Format::ALL.iter();
    let types: Vec<String> = formats
        .map(|format| format.media_type().to_owned())
        .collect();
    let mut responses = Map::new();
    let good = json!({"description": "OK", "content": content(&types, schema)});
    responses.insert("200".to_owned(), good);
    add_refusal(&mut responses);
    Value::Object(responses)
}

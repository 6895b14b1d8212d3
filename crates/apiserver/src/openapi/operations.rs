//! The paths of a group version and their operations, with upstream's operation ids.

use super::connections::Connection;
use super::descriptions::Descriptions;
use super::operation::{Forms, Gvk, Operation, answer};
use super::schemas::{of, reference};
use kubist_api::{ResourceFacts, SubresourceFacts, VersionFacts, meta};
use kubist_apimachinery::Status;
use kubist_apimachinery::wire::Schema;
use kubist_registry::ServedVersion;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The paths of a group version, while they are collected.
pub(super) struct Paths<'a> {
    /// `api/v1`.
    prefix: String,
    /// The group version in operation ids: `CoreV1`.
    version: String,
    /// `core_v1`.
    tag: String,
    descriptions: &'a Descriptions,
    /// By path: operations by method, each with its parameters.
    items: BTreeMap<String, BTreeMap<&'static str, (Value, Vec<Value>)>>,
    roots: Vec<&'static Schema>,
}

/// Returns the paths of the served resources below `prefix`, and the schemas that they reference.
pub(super) fn paths(
    prefix: String,
    group: &str,
    version: &'static VersionFacts,
    served: Option<&ServedVersion>,
    descriptions: &Descriptions,
) -> (Value, Vec<&'static Schema>) {
    let mut paths = Paths::new(prefix, group, version.version, descriptions);
    for facts in version.resources {
        if served.is_none_or(|it| it.resource(facts.plural).is_none()) {
            continue;
        }
        let gvk = Gvk::of(facts);
        let Some(object) = gvk.schema() else {
            continue;
        };
        let kind = format!("{}List", facts.kind);
        let list = kubist_api::find_kind(gvk.group, gvk.version, &kind);
        let list = list.filter(|_| facts.verbs.contains(&"list"));
        let list = list.map(kubist_api::Kind::schema);
        paths.roots.push(object);
        paths.roots.extend(list);
        let forms = Forms::built_in(object, list.unwrap_or(object));
        paths.add(facts, &forms);
    }
    let resources = reference(of::<meta::v1::APIResourceList>());
    let root = json!({
        "tags": [paths.tag],
        "description": "get available resources",
        "operationId": format!("get{}APIResources", paths.version),
        "responses": answer(&resources),
    });
    let own = format!("/{}/", paths.prefix);
    paths.roots.push(of::<meta::v1::APIResourceList>());
    let (mut paths, roots) = paths.finish();
    paths.insert(own, json!({"get": root}));
    (Value::Object(paths), roots)
}

impl<'a> Paths<'a> {
    pub(super) fn new(
        prefix: String,
        group: &str,
        version: &str,
        descriptions: &'a Descriptions,
    ) -> Self {
        let group = pascal_case_group(group);
        Self {
            prefix,
            tag: format!(
                "{}_{version}",
                with_first(&group, |it| it.to_ascii_lowercase())
            ),
            version: format!(
                "{group}{}",
                with_first(version, |it| it.to_ascii_uppercase())
            ),
            descriptions,
            items: BTreeMap::new(),
            roots: Vec::new(),
        }
    }

    /// Adds the paths of a resource, and collects the schemas of its verbs.
    pub(super) fn add(&mut self, facts: &'static ResourceFacts, forms: &Forms) {
        let has = |verb: &str| facts.verbs.contains(&verb);
        let needs = [
            (has("delete"), of::<Status>()),
            (has("delete"), of::<meta::v1::DeleteOptions>()),
            (has("patch"), of::<meta::v1::Patch>()),
            // Upstream has no watch paths for custom resources.
            (
                has("watch") && !forms.is_custom,
                of::<meta::v1::WatchEvent>(),
            ),
        ];
        let needed = needs
            .into_iter()
            .filter_map(|(is, what)| is.then_some(what));
        self.roots.extend(needed);
        self.add_collection(facts, forms);
        self.add_object(facts, forms);
        if has("watch") && !forms.is_custom {
            self.add_watches(facts, forms);
        }
        for part in facts.subresources {
            if part.kind.ends_with("Options") {
                self.add_connection(facts, part);
            } else {
                self.add_part(facts, part, forms);
            }
        }
    }

    fn add_collection(&mut self, facts: &'static ResourceFacts, forms: &Forms) {
        let (kind, scope) = (facts.kind, scope(facts));
        let version = self.version.clone();
        let path = self.collection(facts, "");
        let lists = if facts.verbs.contains(&"watch") && !forms.is_custom {
            format!("list or watch objects of kind {kind}")
        } else {
            format!("list objects of kind {kind}")
        };
        for (verb, action, id, said) in [
            (
                "list",
                "list",
                format!("list{version}{scope}{kind}"),
                lists.clone(),
            ),
            (
                "create",
                "post",
                format!("create{version}{scope}{kind}"),
                format!("create {}", with_article(kind)),
            ),
            (
                "deletecollection",
                "deletecollection",
                format!("delete{version}Collection{scope}{kind}"),
                format!("delete collection of {kind}"),
            ),
        ] {
            if facts.verbs.contains(&verb) {
                self.push(&path, Gvk::of(facts), (action, id, said), forms);
            }
        }
        if facts.namespaced && facts.verbs.contains(&"list") {
            let path = format!("/{}/{}", self.prefix, facts.plural);
            let id = format!("list{version}{kind}ForAllNamespaces");
            self.push(&path, Gvk::of(facts), ("list", id, lists), forms);
        }
    }

    fn add_object(&mut self, facts: &'static ResourceFacts, forms: &Forms) {
        let (kind, scope) = (facts.kind, scope(facts));
        let version = self.version.clone();
        let path = format!("{}/{{name}}", self.collection(facts, ""));
        for (verb, action, does, said) in [
            ("get", "get", "read", format!("read the specified {kind}")),
            (
                "update",
                "put",
                "replace",
                format!("replace the specified {kind}"),
            ),
            (
                "patch",
                "patch",
                "patch",
                format!("partially update the specified {kind}"),
            ),
            (
                "delete",
                "delete",
                "delete",
                format!("delete {}", with_article(kind)),
            ),
        ] {
            if facts.verbs.contains(&verb) {
                let id = format!("{does}{version}{scope}{kind}");
                self.push(&path, Gvk::of(facts), (action, id, said), forms);
            }
        }
    }

    /// The deprecated watch paths.
    fn add_watches(&mut self, facts: &'static ResourceFacts, forms: &Forms) {
        let (kind, scope) = (facts.kind, scope(facts));
        let version = self.version.clone();
        let collection = self.collection(facts, "watch/");
        let all =
            format!("watch objects of kind {kind}; deprecated, use a list with `watch` instead");
        let id = format!("watch{version}{scope}{kind}List");
        let said = ("watchlist", id, all.clone());
        self.push(&collection, Gvk::of(facts), said, forms);
        if facts.verbs.contains(&"get") {
            let one = format!(
                "watch one {kind}, as a list with `watch` and a `fieldSelector` for its name \
                 does; deprecated"
            );
            let path = format!("{collection}/{{name}}");
            let said = ("watch", format!("watch{version}{scope}{kind}"), one);
            self.push(&path, Gvk::of(facts), said, forms);
        }
        if facts.namespaced {
            let path = format!("/{}/watch/{}", self.prefix, facts.plural);
            let id = format!("watch{version}{kind}ListForAllNamespaces");
            self.push(&path, Gvk::of(facts), ("watchlist", id, all), forms);
        }
    }

    fn add_part(
        &mut self,
        facts: &'static ResourceFacts,
        part: &'static SubresourceFacts,
        whole: &Forms,
    ) {
        let shown = Gvk::shown_by(part);
        let mut forms = whole.clone();
        // Upstream documents subresources of custom resources under their own kind.
        let gvk = if whole.is_custom {
            Gvk::of(facts)
        } else {
            shown
        };
        if let Some(schema) = shown.schema() {
            self.roots.push(schema);
            forms.object = reference(schema);
        }
        if part.name == "log" {
            forms.object = json!({"type": "string"});
            forms.is_text = true;
        }
        let (kind, scope, name) = (facts.kind, scope(facts), part.name);
        let version = self.version.clone();
        let suffix = with_first(name, |it| it.to_ascii_uppercase());
        let path = format!("{}/{{name}}/{name}", self.collection(facts, ""));
        for (verb, action, does, said) in [
            (
                "get",
                "get",
                "read",
                format!("read {name} of the specified {kind}"),
            ),
            (
                "update",
                "put",
                "replace",
                format!("replace {name} of the specified {kind}"),
            ),
            (
                "patch",
                "patch",
                "patch",
                format!("partially update {name} of the specified {kind}"),
            ),
            (
                "create",
                "post",
                "create",
                format!("create {name} of {}", with_article(kind)),
            ),
        ] {
            if part.verbs.contains(&verb) {
                let id = format!("{does}{version}{scope}{kind}{suffix}");
                self.push(&path, gvk, (action, id, said), &forms);
            }
        }
    }

    fn add_connection(&mut self, facts: &'static ResourceFacts, part: &'static SubresourceFacts) {
        let connection = Connection {
            object: format!("{}/{{name}}", self.collection(facts, "")),
            version: &self.version,
            scope: scope(facts),
            kind: facts.kind,
            tag: &self.tag,
            part,
        };
        for (path, method, operation, parameters) in connection.operations() {
            let item = self.items.entry(path).or_default();
            item.insert(method, (operation, parameters));
        }
    }

    /// Returns the path of a collection, namespaced if its objects are.
    fn collection(&self, facts: &ResourceFacts, way: &str) -> String {
        let within = if facts.namespaced {
            "namespaces/{namespace}/"
        } else {
            ""
        };
        format!("/{}/{way}{within}{}", self.prefix, facts.plural)
    }

    fn push(
        &mut self,
        path: &str,
        gvk: Gvk,
        (action, id, description): (&'static str, String, String),
        forms: &Forms,
    ) {
        let operation = Operation {
            action,
            id,
            description,
            gvk,
            forms,
        };
        let (method, parameters) = (
            operation.method(),
            operation.parameters(path, self.descriptions),
        );
        let said = (operation.document(&self.tag), parameters);
        let item = self.items.entry(path.to_owned()).or_default();
        item.insert(method, said);
    }

    /// Returns the paths and the schemas that they need. Parameters common to all operations of a
    /// path are listed at the path.
    pub(super) fn finish(self) -> (Map<String, Value>, Vec<&'static Schema>) {
        let items = self.items.into_iter().map(|(path, operations)| {
            let first = operations.values().next();
            let shared: Vec<Value> = first
                .into_iter()
                .flat_map(|(_, parameters)| parameters)
                .filter(|it| operations.values().all(|(_, all)| all.contains(it)))
                .cloned()
                .collect();
            let mut item = Map::new();
            for (method, (mut operation, mut own)) in operations {
                own.retain(|it| !shared.contains(it));
                if !own.is_empty() {
                    operation["parameters"] = Value::Array(own);
                }
                item.insert(method.to_owned(), operation);
            }
            if !shared.is_empty() {
                item.insert("parameters".to_owned(), Value::Array(shared));
            }
            (path, Value::Object(item))
        });
        (items.collect(), self.roots)
    }
}

fn scope(facts: &ResourceFacts) -> &'static str {
    if facts.namespaced { "Namespaced" } else { "" }
}

/// Returns a kind with its article; plurals have none.
fn with_article(kind: &str) -> String {
    let first = kind.chars().next();
    if kind.ends_with('s') && !kind.ends_with("ss") {
        kind.to_owned()
    } else if first.is_some_and(|it| "aeiou".contains(it.to_ascii_lowercase())) {
        format!("an {kind}")
    } else {
        format!("a {kind}")
    }
}

/// Returns the name of a group as one word: `RbacAuthorization`.
pub(super) fn pascal_case_group(group: &str) -> String {
    if group.is_empty() {
        return "Core".to_owned();
    }
    let group = group.strip_suffix(".k8s.io").unwrap_or(group);
    let descriptions = group.split(|letter: char| !letter.is_ascii_alphanumeric());
    descriptions
        .map(|word| with_first(word, |it| it.to_ascii_uppercase()))
        .collect()
}

/// Returns a word with its first letter changed.
pub(super) fn with_first(word: &str, change: impl FnOnce(char) -> char) -> String {
    let mut letters = word.chars();
    let mut changed: String = letters.next().map(change).into_iter().collect();
    changed.push_str(letters.as_str());
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_kinds_have_names_in_words() {
        assert_eq!(pascal_case_group(""), "Core");
        assert_eq!(
            pascal_case_group("rbac.authorization.k8s.io"),
            "RbacAuthorization"
        );
        assert_eq!(pascal_case_group("my-shop.example.com"), "MyShopExampleCom");
        for (kind, expected) in [
            ("Pod", "a Pod"),
            ("Ingress", "an Ingress"),
            ("APIService", "an APIService"),
            ("Endpoints", "Endpoints"),
        ] {
            assert_eq!(with_article(kind), expected);
        }
    }
}

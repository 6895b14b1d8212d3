//! Operations that connect to a node, Pod or Service, with upstream's ids: they take any body and
//! answer anything.

use super::operation::{Gvk, add_refusal};
use super::operations::with_first;
use kubist_api::SubresourceFacts;
use serde_json::{Map, Value, json};

/// The methods of a proxy that are no verbs of the API.
const OF_PROXIES: [&str; 2] = ["head", "options"];
/// The options of connections: name, type, what it is.
const OPTIONS: [(&str, &str, &str); 8] = [
    (
        "command",
        "string",
        "a word of the command; may be repeated",
    ),
    (
        "container",
        "string",
        "the container; may be left out if there is one",
    ),
    ("stderr", "boolean", "whether to receive standard error"),
    ("stdin", "boolean", "whether to send standard input"),
    ("stdout", "boolean", "whether to receive standard output"),
    ("tty", "boolean", "whether the streams are a terminal"),
    ("ports", "integer", "a port to forward; may be repeated"),
    ("path", "string", "the path on the other side"),
];

/// What connects, and where.
pub(super) struct Connection<'a> {
    /// The path of the object.
    pub(super) object: String,
    /// `CoreV1`.
    pub(super) version: &'a str,
    /// `Namespaced`, or empty.
    pub(super) scope: &'a str,
    /// The kind of the object.
    pub(super) kind: &'a str,
    pub(super) tag: &'a str,
    pub(super) part: &'static SubresourceFacts,
}

/// One operation: its path, its method, what it is, and its parameters except those of the path.
pub(super) type Connecting = (String, &'static str, Value, Vec<Value>);

impl Connection<'_> {
    /// Returns all operations.
    pub(super) fn operations(&self) -> Vec<Connecting> {
        let name = self.part.name;
        let path = format!("{}/{name}", self.object);
        let mut all = self.on(&path, "");
        if name == "proxy" {
            all.extend(self.on(&format!("{path}/{{path}}"), "WithPath"));
        }
        all
    }

    fn on(&self, path: &str, end: &str) -> Vec<Connecting> {
        let verbs = self.part.verbs.iter().filter_map(|verb| method(verb));
        let more = OF_PROXIES.iter().filter(|_| self.part.name == "proxy");
        let methods = verbs.chain(more.copied());
        let own = methods.map(|method| {
            let operation = self.operation(method, end);
            (path.to_owned(), method, operation, self.parameters(path))
        });
        own.collect()
    }

    fn operation(&self, method: &str, end: &str) -> Value {
        let upper = |text: &str| with_first(text, |it| it.to_ascii_uppercase());
        let (kind, name) = (self.kind, self.part.name);
        let (version, scope) = (self.version, self.scope);
        let (verb, suffix) = (upper(method), upper(name));
        let mut responses = Map::new();
        let anything = json!({"*/*": {"schema": {"type": "string"}}});
        let answer = json!({"description": "OK", "content": anything});
        responses.insert("200".to_owned(), answer);
        add_refusal(&mut responses);
        json!({
            "tags": [self.tag],
            "description": format!("connect by {} to {name} of {kind}", method.to_uppercase()),
            "operationId": format!("connect{version}{verb}{scope}{kind}{suffix}{end}"),
            "responses": responses,
            "x-kubernetes-action": "connect",
            "x-kubernetes-group-version-kind": Gvk::shown_by(self.part).json(),
        })
    }

    /// Returns the parameters, by name.
    fn parameters(&self, path: &str) -> Vec<Value> {
        let options: &[&str] = match self.part.name {
            "exec" => &["command", "container", "stderr", "stdin", "stdout", "tty"],
            "attach" => &["container", "stderr", "stdin", "stdout", "tty"],
            "portforward" => &["ports"],
            _ => &["path"],
        };
        let kind = format!("name of the {}", self.part.kind);
        let in_path = [
            ("name", &*kind),
            (
                "namespace",
                "object name and auth scope, such as for teams and projects",
            ),
            ("path", "path to the resource"),
        ];
        let in_path = in_path
            .iter()
            .filter(|(name, _)| path.contains(&format!("{{{name}}}")));
        let mut all: Vec<Value> = in_path
            .map(|(name, said)| parameter("path", name, "string", said))
            .collect();
        let asked = OPTIONS.iter().filter(|(name, ..)| options.contains(name));
        all.extend(asked.map(|(name, of, said)| parameter("query", name, of, said)));
        all.sort_by(|left, right| left["name"].as_str().cmp(&right["name"].as_str()));
        all
    }
}

fn method(verb: &str) -> Option<&'static str> {
    Some(match verb {
        "get" => "get",
        "create" => "post",
        "update" => "put",
        "patch" => "patch",
        "delete" => "delete",
        _ => return None,
    })
}

fn parameter(place: &str, name: &str, of: &str, said: &str) -> Value {
    let mut parameter = json!({
        "name": name, "in": place, "description": said,
        "schema": {"type": of, "uniqueItems": true},
    });
    if place == "path" {
        parameter["required"] = Value::Bool(true);
    }
    parameter
}

//! The committed manifests applied by kubectl on the client and on the server, on a server each.
//! The objects must be equal, and so must their field owners after a migration.
//!
//! The larger manifests beside the checkout are applied, too, where they exist.

use super::cases::Case;
use super::kubectl::Shell;
use super::manifests::{self, Application};
use super::subject::{Subject, Surroundings};
use kubist_test_support::process::{Outcome, root};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// The part's name, for `--only`.
pub(super) const PART: &str = "apply";
/// The committed applications.
const OWN: [&str; 3] = ["guestbook", "shop", "platform"];
/// The owners of their objects, written by a run with `--docs`.
const OWNERS: &str = "tests/interop/owners.jsonl";
/// The annotation of client-side apply.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Fields that differ between two servers, below `metadata` and `spec`.
const OF_ONE_SERVER: [&str; 8] = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
    "clusterIP",
    "clusterIPs",
    "nodePort",
    "healthCheckNodePort",
];

/// Builds nothing.
#[expect(
    clippy::unnecessary_wraps,
    reason = "other parts have something to build"
)]
pub(super) fn build(_programs: &Path) -> Outcome {
    Ok(())
}

/// Applies all applications both ways.
pub(super) fn run(subject: Subject<'_>, _programs: &Path, folder: &Path) -> Outcome<Vec<Case>> {
    let start = |name: &str| {
        let folder = folder.join(name);
        let server = subject.start(Surroundings::Alone, &folder)?;
        let shell = Shell::on_path(&server.kubeconfig, &folder);
        Outcome::Ok((server, shell))
    };
    let (_first, client) = start("client")?;
    let (_second, server) = start("server")?;
    let mut applications = manifests::own()?;
    if manifests::has_shared() {
        applications.extend(manifests::shared()?);
    } else {
        eprintln!("          skipped: no larger manifests beside the checkout");
    }
    let mut cases = Vec::new();
    let mut owners = Owners::of(subject)?;
    for application in &applications {
        cases.extend(both_ways(application, &client, &server, &mut owners)?);
    }
    owners.write()?;
    Ok(cases)
}

fn both_ways(
    application: &Application,
    client: &Shell,
    server: &Shell,
    owners: &mut Owners,
) -> Outcome<Vec<Case>> {
    let mut cases = Vec::new();
    let mut case = |name: String, outcome: Outcome| {
        cases.push(Case::of(application.name, name, outcome));
    };
    for shell in [client, server] {
        for namespace in &application.namespaces {
            if shell.run(&format!("get namespace {namespace}")).is_err() {
                shell.run(&format!("create namespace {namespace}"))?;
            }
        }
    }
    let on = arguments(application, client)?;
    let apply = |shell: &Shell, words: &str| shell.run(&format!("apply {words} {on}")).map(drop);
    case("apply".to_owned(), apply(client, ""));
    case(
        "apply --server-side".to_owned(),
        apply(server, "--server-side"),
    );
    let (applied, right) = (objects(client, &on), objects(server, &on));
    for (name, left) in &applied {
        let right = right.get(name);
        case(name.clone(), equal(left, right, bare));
    }
    case("diff --server-side shows nothing".to_owned(), {
        server.run(&format!("diff --server-side {on}")).map(drop)
    });
    case(
        "apply --server-side again writes nothing".to_owned(),
        apply(server, "--server-side").and_then(|()| {
            let after = objects(server, &on);
            let version = |it: &Value| it["metadata"]["resourceVersion"].clone();
            match right
                .iter()
                .find(|(name, it)| after.get(*name).map(version) != Some(version(it)))
            {
                None => Ok(()),
                Some((name, _)) => Err(format!("{name} was written").into()),
            }
        }),
    );
    case(
        "apply --server-side after apply".to_owned(),
        apply(client, "--server-side"),
    );
    let left = objects(client, &on);
    for (name, left) in &left {
        let right = right.get(name);
        case(format!("{name}, and its owners"), equal(left, right, owned));
    }
    let states = [
        ("applied", &applied),
        ("applied on the server", &right),
        ("migrated", &left),
    ];
    for (state, objects) in states {
        for (name, object) in objects {
            let key = format!("{}: {name}, {state}", application.name);
            if let Some(outcome) = owners.see(&key, object) {
                case(format!("owners of {name}, {state}"), outcome);
            }
        }
    }
    Ok(cases)
}

/// The owners of the committed manifests' objects on a kube-apiserver.
struct Owners {
    /// Reports whether they are recorded, and not compared.
    is_recording: bool,
    /// The managedFields of each object in each state.
    known: BTreeMap<String, Value>,
}

impl Owners {
    fn of(subject: Subject<'_>) -> Outcome<Self> {
        let is_recording = matches!(subject, Subject::Upstream(_));
        let known = if is_recording {
            BTreeMap::new()
        } else {
            let text = std::fs::read_to_string(root().join(OWNERS))?;
            let lines = text.lines().map(serde_json::from_str);
            lines
                .collect::<Result<Vec<(String, Value)>, _>>()?
                .into_iter()
                .collect()
        };
        Ok(Self {
            is_recording,
            known,
        })
    }

    /// Records or compares an object's owners. Others than committed manifests are not known.
    fn see(&mut self, key: &str, object: &Value) -> Option<Outcome> {
        let found = owned(object)["metadata"]["managedFields"].clone();
        if self.is_recording {
            let is_own = OWN.iter().any(|it| key.starts_with(&format!("{it}:")));
            is_own.then(|| self.known.insert(key.to_owned(), found));
            return None;
        }
        let expected = self.known.get(key)?;
        if *expected == found {
            return Some(Ok(()));
        }
        Some(Err(
            format!("{found}, on a kube-apiserver {expected}").into()
        ))
    }

    /// Writes what was recorded.
    fn write(&self) -> Outcome {
        if !self.is_recording {
            return Ok(());
        }
        let mut text = String::new();
        for line in &self.known {
            text.push_str(&serde_json::to_string(&line)?);
            text.push('\n');
        }
        Ok(std::fs::write(root().join(OWNERS), text)?)
    }
}

/// Returns kubectl's arguments for an application: a copy that both servers' shells can read.
fn arguments(application: &Application, shell: &Shell) -> Outcome<String> {
    let folder = application.stage(&shell.home)?;
    let namespace = application.namespace.map(|it| format!("-n {it} "));
    Ok(format!(
        "{}-f {}",
        namespace.unwrap_or_default(),
        folder.display()
    ))
}

/// Returns the application's objects by kind, namespace and name; none if one is missing.
fn objects(shell: &Shell, on: &str) -> BTreeMap<String, Value> {
    let words = format!("get --show-managed-fields --ignore-not-found {on}");
    let list = shell.json(&words).unwrap_or(Value::Null);
    let items = list["items"].as_array().cloned().unwrap_or_default();
    let named = items.into_iter().map(|it| {
        let text = |field: &Value| field.as_str().unwrap_or_default().to_owned();
        let metadata = &it["metadata"];
        let (namespace, name) = (text(&metadata["namespace"]), text(&metadata["name"]));
        (format!("{} {namespace}/{name}", text(&it["kind"])), it)
    });
    named.collect()
}

fn equal(left: &Value, right: Option<&Value>, of: fn(&Value) -> Value) -> Outcome {
    let right = right.ok_or("it is missing on the other server")?;
    let (left, right) = (of(left), of(right));
    if left == right {
        return Ok(());
    }
    Err(difference(&left, &right, "").into())
}

/// Describes the first difference.
fn difference(left: &Value, right: &Value, path: &str) -> String {
    let (Value::Object(from), Value::Object(to)) = (left, right) else {
        return format!("{path} is {left}, applied on the server {right}");
    };
    let keys = from.keys().chain(to.keys());
    for key in keys {
        let (a, b) = (&left[key], &right[key]);
        if a != b || from.contains_key(key) != to.contains_key(key) {
            return difference(a, b, &format!("{path}.{key}"));
        }
    }
    format!("{path} differs")
}

/// Returns what two servers agree on, without field owners.
fn bare(object: &Value) -> Value {
    let mut object = owned(object);
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
    object
}

/// Returns what two servers agree on. The status and the annotation of client-side apply are left
/// out.
fn owned(object: &Value) -> Value {
    let mut object = without_identity(object);
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    for part in ["metadata", "spec"] {
        if let Some(fields) = object.get_mut(part).and_then(Value::as_object_mut) {
            fields.retain(|key, _| !OF_ONE_SERVER.contains(&key.as_str()));
        }
    }
    let ports = object.pointer_mut("/spec/ports");
    for port in ports.and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(port) = port.as_object_mut() {
            port.remove("nodePort");
        }
    }
    let Some(metadata) = object.get_mut("metadata") else {
        return object;
    };
    drop_key(metadata, "annotations", LAST_APPLIED);
    let mut managers = match metadata["managedFields"].take() {
        Value::Array(managers) => managers,
        _ => Vec::new(),
    };
    // After the migration it owns the annotation, and nothing else.
    managers.retain(|it| it["manager"] != "kubectl-last-applied");
    for manager in &mut managers {
        if let Some(fields) = manager.as_object_mut() {
            fields.remove("time");
        }
        let annotation = format!("f:{LAST_APPLIED}");
        let fields = manager.pointer_mut("/fieldsV1/f:metadata");
        if let Some(fields) = fields {
            drop_key(fields, "f:annotations", &annotation);
        }
    }
    metadata["managedFields"] = Value::Array(managers);
    object
}

/// Replaces an object's identity wherever it occurs: a Job has it in its labels.
fn without_identity(object: &Value) -> Value {
    let text = object.to_string();
    match object["metadata"]["uid"].as_str() {
        Some(uid) => serde_json::from_str(&text.replace(uid, "UID")).unwrap_or_default(),
        None => object.clone(),
    }
}

/// Removes a key of a map, and the map, if it has nothing else but `.`.
fn drop_key(parent: &mut Value, map: &str, key: &str) {
    let Some(parent) = parent.as_object_mut() else {
        return;
    };
    let is_empty = |map: &Map<String, Value>| map.keys().all(|it| it == ".");
    if let Some(fields) = parent.get_mut(map).and_then(Value::as_object_mut) {
        fields.remove(key);
        if is_empty(fields) {
            parent.remove(map);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_differs_between_servers_is_left_out() {
        let object = json!({
            "metadata": {
                "uid": "12-34", "name": "n", "annotations": {LAST_APPLIED: "x"},
                "managedFields": [{"manager": "kubectl", "time": "t", "fieldsV1": {
                    "f:metadata": {"f:annotations": {".": {}, format!("f:{LAST_APPLIED}"): {}}},
                }}],
            },
            "spec": {"clusterIP": "1", "ports": [{"port": 1, "nodePort": 2}]},
        });
        let expected = json!({
            "metadata": {
                "name": "n",
                "managedFields": [{"manager": "kubectl", "fieldsV1": {"f:metadata": {}}}],
            },
            "spec": {"ports": [{"port": 1}]},
        });
        assert_eq!(owned(&object), expected);
    }
}

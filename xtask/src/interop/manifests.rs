//! The manifests that are applied: the project's own, and larger ones beside it where they are.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::process::{Outcome, root};

/// A folder of manifests and the namespace it goes into.
pub(super) struct Application {
    pub(super) namespace: &'static str,
    pub(super) files: Vec<PathBuf>,
    /// Namespaces that its objects name themselves.
    pub(super) namespaces: Vec<String>,
}

/// The project's own.
pub(super) fn own() -> Outcome<Vec<Application>> {
    let folder = root().join("tests/interop/manifests");
    ["guestbook", "shop", "platform"]
        .into_iter()
        .map(|name| application(name, &folder.join(name)))
        .collect()
}

/// Larger ones from `../shared/data/manifests`; none where that folder is missing.
pub(super) fn shared() -> Outcome<Vec<Application>> {
    let folder = root().join("../shared/data/manifests");
    if !folder.is_dir() {
        eprintln!("  skipped: ../shared/data/manifests is not here");
        return Ok(Vec::new());
    }
    [
        ("shared-guestbook", "guestbook"),
        ("microservices", "microservices-demo"),
        ("monitoring", "kube-prometheus"),
    ]
    .into_iter()
    .map(|(namespace, name)| application(namespace, &folder.join(name)))
    .collect()
}

fn application(namespace: &'static str, folder: &Path) -> Outcome<Application> {
    let mut files = Vec::new();
    let mut namespaces = Vec::new();
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|it| Ok(it?.path()))
        .collect::<Outcome<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|it| it == "yaml"));
    paths.sort();
    for path in paths {
        let documents = documents(&path)?;
        if documents.iter().any(is_custom) {
            continue;
        }
        for object in &documents {
            let named = object["metadata"]["namespace"]
                .as_str()
                .unwrap_or(namespace);
            if !namespaces.iter().any(|it| it == named) {
                namespaces.push(named.to_owned());
            }
        }
        files.push(path);
    }
    Ok(Application {
        namespace,
        files,
        namespaces,
    })
}

/// Whether an object is of a kind that is not built in.
fn is_custom(object: &Value) -> bool {
    object["apiVersion"]
        .as_str()
        .is_some_and(|it| it.starts_with("monitoring.coreos.com/"))
}

/// The objects of a YAML file, those in lists one by one.
pub(super) fn documents(path: &Path) -> Outcome<Vec<Value>> {
    objects(&std::fs::read_to_string(path)?)
        .map_err(|error| format!("{}: {error}", path.display()).into())
}

/// The objects of a YAML text, those in lists one by one.
pub(super) fn objects(text: &str) -> Outcome<Vec<Value>> {
    let mut objects = Vec::new();
    for document in serde_saphyr::from_multiple::<Value>(text)? {
        match document {
            Value::Null => {}
            Value::Object(mut list) if list.get("items").is_some_and(Value::is_array) => {
                let Some(Value::Array(items)) = list.remove("items") else {
                    continue;
                };
                objects.extend(items);
            }
            object => objects.push(object),
        }
    }
    Ok(objects)
}

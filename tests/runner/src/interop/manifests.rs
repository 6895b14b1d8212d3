//! The manifests that are applied: the project's own, and optional larger ones.

use kubist_test_support::process::{Outcome, root};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// An application: a folder of manifests.
pub(super) struct Application {
    /// Its name in messages.
    pub(super) name: &'static str,
    /// The namespace for objects that name none.
    pub(super) namespace: Option<&'static str>,
    files: Vec<PathBuf>,
    /// The namespaces that it needs.
    pub(super) namespaces: Vec<String>,
}

/// The project's own.
pub(super) fn own() -> Outcome<Vec<Application>> {
    let folder = root().join("tests/interop/manifests");
    ["guestbook", "shop", "platform"]
        .into_iter()
        .map(|name| application(name, Some(name), &folder.join(name)))
        .collect()
}

/// Reports whether the larger ones of [`shared`] are there.
pub(super) fn has_shared() -> bool {
    shared_folder().is_dir()
}

/// Larger ones from `../shared/data/manifests`.
pub(super) fn shared() -> Outcome<Vec<Application>> {
    [
        ("guestbook", Some("shared-guestbook")),
        ("microservices-demo", Some("shared-microservices")),
        // Its objects are in several namespaces, and all name theirs.
        ("kube-prometheus", None),
    ]
    .into_iter()
    .map(|(folder, namespace)| {
        let name = namespace.unwrap_or(folder);
        application(name, namespace, &shared_folder().join(folder))
    })
    .collect()
}

fn shared_folder() -> PathBuf {
    root().join("../shared/data/manifests")
}

fn application(
    name: &'static str,
    namespace: Option<&'static str>,
    folder: &Path,
) -> Outcome<Application> {
    let mut files = Vec::new();
    let mut namespaces: Vec<String> = namespace.map(str::to_owned).into_iter().collect();
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(|error| format!("{}: {error}", folder.display()))?
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
            if let Some(named) = object["metadata"]["namespace"].as_str()
                && !namespaces.iter().any(|it| it == named)
            {
                namespaces.push(named.to_owned());
            }
        }
        files.push(path);
    }
    if files.is_empty() {
        return Err(format!("{} has no manifests", folder.display()).into());
    }
    Ok(Application {
        name,
        namespace,
        files,
        namespaces,
    })
}

impl Application {
    /// Returns its objects, in the order in which kubectl applies them.
    pub(super) fn objects(&self) -> Outcome<Vec<Value>> {
        let mut objects = Vec::new();
        for path in &self.files {
            objects.extend(documents(path)?);
        }
        Ok(objects)
    }

    /// Writes its manifests into a folder below `home`, so that commands can name one folder, and
    /// returns it.
    pub(super) fn stage(&self, home: &Path) -> Outcome<PathBuf> {
        let folder = home.join("manifests").join(self.name);
        std::fs::create_dir_all(&folder)?;
        for path in &self.files {
            let name = path.file_name().ok_or("a manifest has no name")?;
            std::fs::copy(path, folder.join(name))?;
        }
        Ok(folder)
    }
}

/// Reports whether an object is of a custom resource.
fn is_custom(object: &Value) -> bool {
    object["apiVersion"]
        .as_str()
        .is_some_and(|it| it.starts_with("monitoring.coreos.com/"))
}

/// Returns the objects of a YAML file, with lists flattened.
fn documents(path: &Path) -> Outcome<Vec<Value>> {
    objects(&std::fs::read_to_string(path)?)
        .map_err(|error| format!("{}: {error}", path.display()).into())
}

/// Returns the objects of a YAML text, with lists flattened.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_taken_apart() {
        let list = "kind: RoleList\nitems:\n- kind: Role\n- kind: Role\n---\nkind: Pod\n";
        let kinds = objects(list).expect("it is YAML");
        let kinds: Vec<_> = kinds.iter().map(|it| it["kind"].as_str()).collect();
        assert_eq!(kinds, [Some("Role"), Some("Role"), Some("Pod")]);
    }
}

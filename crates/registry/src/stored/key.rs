//! `KeyLayout`: the storage keys of objects, in upstream's layout with its exceptions.
//!
//! Built-in resources have fixed folders; a custom resource's folder is its group. The keys of
//! custom and built-in resources never overlap: [`KeyLayout::custom`] rejects such a layout,
//! whatever is already stored.

#[cfg(test)]
mod tests;

use bytes::Bytes;
use kubist_api::GROUPS;
use kubist_apimachinery::{GroupResource, Status, validate_name};
use kubist_storage::KeyRange;
use std::fmt;

/// The key layout of one resource: `<root>/<resource>/[<namespace>/]<name>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyLayout {
    /// The length of the root within the prefix.
    root_bytes: usize,
    prefix: String,
    namespaced: bool,
}

/// Resources whose folder upstream does not name by their plural: group, plural, folder.
const EXCEPTIONS: [(&str, &str, &str); 7] = [
    ("", "endpoints", "services/endpoints"),
    ("", "nodes", "minions"),
    ("", "replicationcontrollers", "controllers"),
    ("", "services", "services/specs"),
    (
        "apiextensions.k8s.io",
        "customresourcedefinitions",
        "apiextensions.k8s.io/customresourcedefinitions",
    ),
    (
        "apiregistration.k8s.io",
        "apiservices",
        "apiregistration.k8s.io/apiservices",
    ),
    ("networking.k8s.io", "ingresses", "ingress"),
];

/// Built-in resources without an API: group and plural.
const UNSERVED: [(&str, &str); 1] = [("", "ranges")];

/// Folders below the root without API objects, some of them upstream's: the coordination of servers
/// on one store, and earlier forms of the service allocations.
const OTHER_FOLDERS: [&str; 4] = ["masterleases", "peerserverleases", "ranges", "health"];

/// The error of a custom resource without a valid storage location.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoPlace {
    /// The group is not a domain with at least one dot.
    Group,
    /// The plural is not a label.
    Plural,
    /// The folder overlaps with this folder of a built-in resource.
    BuiltIn(String),
}

impl fmt::Display for NoPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Group => f.write_str("the group is not a domain with at least one dot"),
            Self::Plural => f.write_str("the plural is not a DNS-1035 label"),
            Self::BuiltIn(folder) => {
                write!(f, "its objects would be stored among those in {folder:?}")
            }
        }
    }
}

impl std::error::Error for NoPlace {}

/// The error of an invalid object key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidKey {
    /// The key.
    pub key: String,
    /// The reason.
    pub why: &'static str,
}

impl fmt::Display for InvalidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid key {:?}: {}", self.key, self.why)
    }
}

impl std::error::Error for InvalidKey {}

/// Returns the folders below the root that do not belong to custom resources.
pub(crate) fn built_in_folders() -> impl Iterator<Item = String> {
    let resources = GROUPS.iter().flat_map(|group| group.versions);
    let resources = resources.flat_map(|version| version.resources);
    let served = resources.map(|facts| (facts.group, facts.plural));
    let stored = served
        .chain(UNSERVED)
        .map(|(group, plural)| folder(group, plural).to_owned());
    stored.chain(OTHER_FOLDERS.map(str::to_owned))
}

/// Returns the folder of a built-in resource, below the root.
fn folder<'a>(group: &str, plural: &'a str) -> &'a str {
    EXCEPTIONS
        .iter()
        .find(|(of_group, of_plural, _)| *of_group == group && *of_plural == plural)
        .map_or(plural, |(_, _, folder)| folder)
}

/// Reports whether keys of one folder could be in the other.
fn overlap(one: &str, other: &str) -> bool {
    let (one, other) = (format!("{one}/"), format!("{other}/"));
    one.starts_with(&other) || other.starts_with(&one)
}

impl KeyLayout {
    /// Returns the layout of a built-in resource below `root`, such as `/registry`.
    pub fn built_in(root: &str, group: &str, plural: &str, namespaced: bool) -> Self {
        let folder = folder(group, plural);
        Self {
            root_bytes: root.len(),
            prefix: format!("{root}/{folder}/"),
            namespaced,
        }
    }

    /// Returns the prefix of the keys of a built-in resource below `root`.
    pub(crate) fn folder_prefix(root: &str, resource: &GroupResource) -> String {
        format!("{root}/{}/", folder(&resource.group, &resource.resource))
    }

    /// Returns the layout of a custom resource: its group is a folder.
    ///
    /// # Errors
    /// Its keys could overlap with those of another resource.
    pub fn custom(
        root: &str,
        group: &str,
        plural: &str,
        namespaced: bool,
    ) -> Result<Self, NoPlace> {
        Self::check_custom(group, plural)?;
        Ok(Self {
            root_bytes: root.len(),
            prefix: format!("{root}/{group}/{plural}/"),
            namespaced,
        })
    }

    /// Checks that a custom resource has a storage location of its own.
    ///
    /// # Errors
    /// As [`custom`](Self::custom).
    pub fn check_custom(group: &str, plural: &str) -> Result<(), NoPlace> {
        if !group.contains('.') || !validate_name::dns1123_subdomain(group).is_empty() {
            return Err(NoPlace::Group);
        }
        if !validate_name::dns1035_label(plural).is_empty() {
            return Err(NoPlace::Plural);
        }
        let own = format!("{group}/{plural}");
        match built_in_folders().find(|folder| overlap(folder, &own)) {
            Some(folder) => Err(NoPlace::BuiltIn(folder)),
            None => Ok(()),
        }
    }

    /// Reports whether objects are namespaced.
    pub fn namespaced(&self) -> bool {
        self.namespaced
    }

    /// Returns the key of one object. 400 if the name or the namespace is invalid in a key.
    pub fn key(&self, namespace: &str, name: &str) -> Result<String, Status> {
        if self.namespaced && namespace.is_empty() {
            return Err(Status::bad_request("Namespace parameter required."));
        }
        if name.is_empty() {
            return Err(Status::bad_request("Name parameter required."));
        }
        for (what, segment) in [("Namespace", namespace), ("Name", name)] {
            if let Some(why) = problem(segment) {
                let message = format!("{what} parameter invalid: {segment:?}: {why}");
                return Err(Status::bad_request(message));
            }
        }
        Ok(if self.namespaced {
            format!("{}{namespace}/{name}", self.prefix)
        } else {
            format!("{}{name}", self.prefix)
        })
    }

    /// Returns a key without the root and the slash after it.
    pub(crate) fn below_root<'k>(&self, key: &'k str) -> &'k str {
        key.get(self.root_bytes..).unwrap_or(key)
    }

    /// Checks that a key can belong to an object of this resource.
    ///
    /// # Errors
    /// The key is empty, has an invalid path segment, or belongs to another resource.
    pub fn check(&self, key: &str) -> Result<(), InvalidKey> {
        let invalid = |why| {
            Err(InvalidKey {
                key: key.to_owned(),
                why,
            })
        };
        if matches!(key, "" | "/") {
            return invalid("empty key");
        }
        if key.split('/').any(|it| matches!(it, "." | "..")) {
            return invalid("invalid key");
        }
        match key.strip_prefix(self.prefix.as_str()) {
            Some("") | None => invalid("the key lacks the prefix of the resource"),
            Some(_) => Ok(()),
        }
    }

    /// Returns all keys of a namespace; of all namespaces (or of a cluster-scoped resource) if it
    /// is empty.
    pub fn range(&self, namespace: &str) -> KeyRange {
        KeyRange::prefix(Bytes::from(self.range_prefix(namespace)))
    }

    /// Returns the prefix of the keys in [`range`](Self::range).
    pub fn range_prefix(&self, namespace: &str) -> String {
        if namespace.is_empty() || !self.namespaced {
            self.prefix.clone()
        } else {
            format!("{}{namespace}/", self.prefix)
        }
    }

    /// Returns namespace and name of a key; the namespace is empty for cluster-scoped resources.
    pub fn names<'k>(&self, key: &'k [u8]) -> (&'k str, &'k str) {
        let rest = key.strip_prefix(self.prefix.as_bytes()).unwrap_or_default();
        let rest = std::str::from_utf8(rest).unwrap_or_default();
        if self.namespaced {
            rest.split_once('/').unwrap_or(("", rest))
        } else {
            ("", rest)
        }
    }
}

fn problem(segment: &str) -> Option<String> {
    match segment {
        "." | ".." => Some(format!("may not be '{segment}'")),
        _ if segment.contains('/') => Some("may not contain '/'".to_owned()),
        _ if segment.contains('%') => Some("may not contain '%'".to_owned()),
        _ => None,
    }
}

//! Where objects are in storage: upstream's layout of keys, with its exceptions.
//!
//! Built-in resources have folders of fixed names; a custom resource has its group as a folder. No
//! layout of a custom resource can be made whose keys could be a built-in's, or the other way
//! round: [`KeyLayout::custom`] refuses, whatever is stored already.

#[cfg(test)]
mod tests;

use bytes::Bytes;
use kubist_api::GROUPS;
use kubist_apimachinery::{Status, validate_name};
use kubist_storage::KeyRange;
use std::fmt;

/// Where the objects of one resource are: `<root>/<resource>/[<namespace>/]<name>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyLayout {
    /// Bytes of the root, with which the prefix begins.
    root_bytes: usize,
    prefix: String,
    namespaced: bool,
}

/// Resources that upstream keeps elsewhere than under their plural: group, plural, folder.
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

/// Built-in resources that no API serves: group and plural.
const UNSERVED: [(&str, &str); 1] = [("", "ranges")];

/// Folders below the root that hold no objects of the API, some of them upstream's: what servers
/// on one store tell each other, and what was allotted to services before there were objects for
/// it.
const OTHER_FOLDERS: [&str; 4] = ["masterleases", "peerserverleases", "ranges", "health"];

/// Why a custom resource can have no place in storage.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoPlace {
    /// The group is no domain with at least one dot.
    Group,
    /// The plural is no label.
    Plural,
    /// This folder of a built-in resource is above its folder, below it, or the same.
    BuiltIn(String),
}

impl fmt::Display for NoPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Group => f.write_str("its group is not a domain with at least one dot"),
            Self::Plural => f.write_str("its plural is not a DNS-1035 label"),
            Self::BuiltIn(folder) => {
                write!(f, "its objects would be stored among those in {folder:?}")
            }
        }
    }
}

impl std::error::Error for NoPlace {}

/// Why a key cannot be one of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidKey {
    /// The key.
    pub key: String,
    /// What is wrong with it.
    pub why: &'static str,
}

impl fmt::Display for InvalidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid key {:?}: {}", self.key, self.why)
    }
}

impl std::error::Error for InvalidKey {}

/// The folders below the root in which something is kept that is not a custom resource's.
pub(crate) fn built_in_folders() -> impl Iterator<Item = String> {
    let resources = GROUPS.iter().flat_map(|group| group.versions);
    let resources = resources.flat_map(|version| version.resources);
    let served = resources.map(|facts| (facts.group, facts.plural));
    let stored = served
        .chain(UNSERVED)
        .map(|(group, plural)| folder(group, plural).to_owned());
    stored.chain(OTHER_FOLDERS.map(str::to_owned))
}

/// Where a built-in resource is, below the root.
fn folder<'a>(group: &str, plural: &'a str) -> &'a str {
    EXCEPTIONS
        .iter()
        .find(|(of_group, of_plural, _)| *of_group == group && *of_plural == plural)
        .map_or(plural, |(_, _, folder)| folder)
}

/// Whether keys of one folder could be those of the other.
fn overlap(one: &str, other: &str) -> bool {
    let (one, other) = (format!("{one}/"), format!("{other}/"));
    one.starts_with(&other) || other.starts_with(&one)
}

impl KeyLayout {
    /// The layout of a built-in resource below `root`, such as `/registry`.
    pub fn built_in(root: &str, group: &str, plural: &str, namespaced: bool) -> Self {
        let folder = folder(group, plural);
        Self {
            root_bytes: root.len(),
            prefix: format!("{root}/{folder}/"),
            namespaced,
        }
    }

    /// The layout of a custom resource: its group is a folder.
    ///
    /// # Errors
    /// Its keys could be those of something else.
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

    /// Whether a custom resource can have a place of its own in storage.
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

    /// Whether objects live in namespaces.
    pub fn namespaced(&self) -> bool {
        self.namespaced
    }

    /// The key of one object. 400 if the name or the namespace cannot be part of a key.
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

    /// A key without the root, with the slash behind it.
    pub(crate) fn below_root<'k>(&self, key: &'k str) -> &'k str {
        key.get(self.root_bytes..).unwrap_or(key)
    }

    /// Whether a key can be one of these objects.
    ///
    /// # Errors
    /// It is empty, has a segment that leads elsewhere, or is another resource's.
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

    /// All keys of a namespace; of all namespaces (or of a cluster-scoped resource) if it is empty.
    pub fn range(&self, namespace: &str) -> KeyRange {
        KeyRange::prefix(Bytes::from(self.range_prefix(namespace)))
    }

    /// The prefix of the keys in [`range`](Self::range).
    pub fn range_prefix(&self, namespace: &str) -> String {
        if namespace.is_empty() || !self.namespaced {
            self.prefix.clone()
        } else {
            format!("{}{namespace}/", self.prefix)
        }
    }

    /// Namespace and name of a key; the namespace is empty for cluster-scoped resources.
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

//! Where objects are in storage: upstream's layout of keys, with its exceptions.

use crate::StorageError;
use bytes::Bytes;
use kubist_apimachinery::Status;
use kubist_storage::KeyRange;

/// Where the objects of one resource are: `<root>/<resource>/[<namespace>/]<name>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyLayout {
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

impl KeyLayout {
    /// The layout of a built-in resource below `root`, such as `/registry`.
    pub fn built_in(root: &str, group: &str, plural: &str, namespaced: bool) -> Self {
        let folder = EXCEPTIONS
            .iter()
            .find(|(of_group, of_plural, _)| *of_group == group && *of_plural == plural)
            .map_or(plural, |(_, _, folder)| folder);
        Self {
            prefix: format!("{root}/{folder}/"),
            namespaced,
        }
    }

    /// The layout of a custom resource: its group is a folder.
    pub(crate) fn custom(root: &str, group: &str, plural: &str, namespaced: bool) -> Self {
        Self {
            prefix: format!("{root}/{group}/{plural}/"),
            namespaced,
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

    /// Whether a key can be one of these objects.
    ///
    /// # Errors
    /// It is empty, has a segment that leads elsewhere, or is another resource's.
    pub fn check(&self, key: &str) -> Result<(), StorageError> {
        let invalid = |why| {
            Err(StorageError::InvalidKey {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_upstreams() {
        let key = |group, plural, namespaced| {
            let layout = KeyLayout::built_in("/registry", group, plural, namespaced);
            layout.key("ns", "x").expect("both names are fine")
        };
        assert_eq!(
            key("apps", "deployments", true),
            "/registry/deployments/ns/x"
        );
        assert_eq!(key("", "services", true), "/registry/services/specs/ns/x");
        assert_eq!(key("", "nodes", false), "/registry/minions/x");
        assert_eq!(
            key("networking.k8s.io", "ingresses", true),
            "/registry/ingress/ns/x"
        );
    }

    #[test]
    fn a_key_never_leaves_its_folder() {
        let layout = KeyLayout::built_in("/registry", "", "pods", true);
        for (namespace, name) in [
            ("", "x"),
            ("ns", ""),
            ("..", "x"),
            ("ns", "a/b"),
            ("ns", "%2e"),
        ] {
            let status = layout.key(namespace, name).expect_err("not a key");
            assert_eq!(status.code, 400, "{namespace} {name}");
        }
    }

    #[test]
    fn names_are_read_back_from_keys() {
        let pods = KeyLayout::built_in("/registry", "", "pods", true);
        assert_eq!(pods.names(b"/registry/pods/ns/x"), ("ns", "x"));
        let nodes = KeyLayout::built_in("/registry", "", "nodes", false);
        assert_eq!(nodes.names(b"/registry/minions/x"), ("", "x"));
        assert!(!pods.range("ns").contains(b"/registry/pods/ns-x/y"));
        assert!(pods.range("").contains(b"/registry/pods/ns-x/y"));
    }
}

//! `ObjectName`: namespace and name, which identify an object within its kind.
//!
//! Queues and caches use it as their key. The uid is not part of it: an object that is deleted and
//! recreated has the same name.

use crate::Str;
use crate::go_text::quote;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A namespace (empty for cluster-scoped objects) and a name.
///
/// It orders by namespace first, and displays and parses as the key `namespace/name`, or the name
/// alone.
///
/// ```
/// use kubist_apimachinery::ObjectName;
/// let key: ObjectName = "default/web".parse()?;
/// assert_eq!(key, ObjectName::new("default", "web"));
/// assert_eq!(ObjectName::cluster("node-1").to_string(), "node-1");
/// # Ok::<(), kubist_apimachinery::ParseObjectNameError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "the key has exactly two parts")]
pub struct ObjectName {
    /// The namespace; empty for cluster-scoped objects.
    pub namespace: Str,
    /// The name.
    pub name: Str,
}

/// The key has more than one slash.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unexpected key format: {}", quote(.key))]
pub struct ParseObjectNameError {
    /// The key.
    pub key: String,
}

impl ObjectName {
    /// Creates the name of a namespaced object.
    pub fn new(namespace: impl Into<Str>, name: impl Into<Str>) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
        }
    }

    /// Creates the name of a cluster-scoped object.
    pub fn cluster(name: impl Into<Str>) -> Self {
        Self {
            namespace: Str::default(),
            name: name.into(),
        }
    }

    /// Parses a key like [`FromStr`], but treats further slashes as part of the name.
    pub fn from_key_lossy(key: &str) -> Self {
        key.split_once('/')
            .map_or_else(|| Self::cluster(key), |(ns, name)| Self::new(ns, name))
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}

impl FromStr for ObjectName {
    type Err = ParseObjectNameError;

    fn from_str(key: &str) -> Result<Self, Self::Err> {
        let name = Self::from_key_lossy(key);
        if name.name.contains('/') {
            return Err(ParseObjectNameError {
                key: key.to_owned(),
            });
        }
        Ok(name)
    }
}

impl Serialize for ObjectName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ObjectName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Str::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_parse_and_print() {
        for (key, namespace, name) in [
            ("web", "", "web"),
            ("default/web", "default", "web"),
            ("", "", ""),
            ("default/", "default", ""),
        ] {
            let parsed: ObjectName = key.parse().expect(key);
            assert_eq!(parsed, ObjectName::new(namespace, name));
            assert_eq!(parsed.to_string(), key);
            let json = serde_json::to_string(&parsed).expect("a string");
            assert_eq!(serde_json::from_str(&json).ok(), Some(parsed));
        }
        assert_eq!("/web".parse(), Ok(ObjectName::cluster("web")));
    }

    #[test]
    fn more_than_one_slash_is_an_error() {
        let error = "a/b/c"
            .parse::<ObjectName>()
            .expect_err("it has two slashes");
        assert_eq!(error.to_string(), "unexpected key format: \"a/b/c\"");
        assert_eq!(
            ObjectName::from_key_lossy("a/b/c"),
            ObjectName::new("a", "b/c")
        );
    }

    #[test]
    fn the_namespace_comes_first_in_order() {
        let mut names = ["b/a", "a/b", "z", "a/a"].map(ObjectName::from_key_lossy);
        names.sort();
        assert_eq!(
            names.map(|name| name.to_string()),
            ["z", "a/a", "a/b", "b/a"]
        );
    }
}

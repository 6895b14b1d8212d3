//! API names: group and version, with a kind or a resource.
//!
//! A name does not imply that a server has the API. [`ApiResource`] has what a client needs for a
//! resource without a Rust type.

use crate::{ResourceFacts, Str};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A group and a version: `apps/v1`, or `v1` for the core group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the name says what it has")]
pub struct GroupVersion {
    /// The group; empty for the core group.
    pub group: Str,
    /// The version.
    pub version: Str,
}

/// A group and a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the name says what it has")]
pub struct GroupKind {
    /// The group; empty for the core group.
    pub group: Str,
    /// The kind: `Deployment`.
    pub kind: Str,
}

/// A group and a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the name says what it has")]
pub struct GroupResource {
    /// The group; empty for the core group.
    pub group: Str,
    /// The plural name: `deployments`.
    pub resource: Str,
}

/// A group, a version and a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the name says what it has")]
pub struct GroupVersionKind {
    /// The group; empty for the core group.
    pub group: Str,
    /// The version.
    pub version: Str,
    /// The kind: `Deployment`.
    pub kind: Str,
}

/// A group, a version and a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the name says what it has")]
pub struct GroupVersionResource {
    /// The group; empty for the core group.
    pub group: Str,
    /// The version.
    pub version: Str,
    /// The plural name: `deployments`.
    pub resource: Str,
}

/// What a client needs to know about a resource without a Rust type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers make it from discovery or by hand"
)]
pub struct ApiResource {
    /// The group; empty for the core group.
    pub group: Str,
    /// The version.
    pub version: Str,
    /// The kind: `Deployment`.
    pub kind: Str,
    /// The plural name, as in paths: `deployments`.
    pub plural: Str,
    /// The singular name: `deployment`.
    pub singular: Str,
    /// Whether the resource is namespaced.
    pub namespaced: bool,
}

/// The text has more than one slash.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unexpected GroupVersion string: {text}")]
pub struct ParseGroupVersionError {
    /// The text.
    pub text: String,
}

impl GroupVersion {
    /// Creates a group version.
    pub fn new(group: impl Into<Str>, version: impl Into<Str>) -> Self {
        Self {
            group: group.into(),
            version: version.into(),
        }
    }

    /// Returns a kind in this version.
    pub fn with_kind(&self, kind: impl Into<Str>) -> GroupVersionKind {
        GroupVersionKind {
            group: self.group.clone(),
            version: self.version.clone(),
            kind: kind.into(),
        }
    }

    /// Returns a resource in this version.
    pub fn with_resource(&self, resource: impl Into<Str>) -> GroupVersionResource {
        GroupVersionResource {
            group: self.group.clone(),
            version: self.version.clone(),
            resource: resource.into(),
        }
    }

    /// Returns the path of this version on a server: `/api/v1`, `/apis/apps/v1`.
    pub fn path(&self) -> String {
        if self.group.is_empty() {
            format!("/api/{}", self.version)
        } else {
            format!("/apis/{}/{}", self.group, self.version)
        }
    }
}

impl GroupKind {
    /// Creates a group kind.
    pub fn new(group: impl Into<Str>, kind: impl Into<Str>) -> Self {
        Self {
            group: group.into(),
            kind: kind.into(),
        }
    }

    /// Returns this kind in a version.
    pub fn with_version(&self, version: impl Into<Str>) -> GroupVersionKind {
        GroupVersionKind {
            group: self.group.clone(),
            version: version.into(),
            kind: self.kind.clone(),
        }
    }
}

impl GroupResource {
    /// Creates a group resource.
    pub fn new(group: impl Into<Str>, resource: impl Into<Str>) -> Self {
        Self {
            group: group.into(),
            resource: resource.into(),
        }
    }

    /// Returns this resource in a version.
    pub fn with_version(&self, version: impl Into<Str>) -> GroupVersionResource {
        GroupVersionResource {
            group: self.group.clone(),
            version: version.into(),
            resource: self.resource.clone(),
        }
    }
}

impl GroupVersionKind {
    /// Creates a group version kind.
    pub fn new(group: impl Into<Str>, version: impl Into<Str>, kind: impl Into<Str>) -> Self {
        Self {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
        }
    }

    /// Returns the group and version.
    pub fn group_version(&self) -> GroupVersion {
        GroupVersion {
            group: self.group.clone(),
            version: self.version.clone(),
        }
    }

    /// Returns this without the version.
    pub fn group_kind(&self) -> GroupKind {
        GroupKind {
            group: self.group.clone(),
            kind: self.kind.clone(),
        }
    }
}

impl GroupVersionResource {
    /// Creates a group version resource.
    pub fn new(group: impl Into<Str>, version: impl Into<Str>, resource: impl Into<Str>) -> Self {
        Self {
            group: group.into(),
            version: version.into(),
            resource: resource.into(),
        }
    }

    /// Returns the group and version.
    pub fn group_version(&self) -> GroupVersion {
        GroupVersion {
            group: self.group.clone(),
            version: self.version.clone(),
        }
    }

    /// Returns this without the version.
    pub fn group_resource(&self) -> GroupResource {
        GroupResource {
            group: self.group.clone(),
            resource: self.resource.clone(),
        }
    }
}

impl ApiResource {
    /// Returns the resource of a kind known at compile time.
    pub fn of<K: ResourceFacts>() -> Self {
        K::api_resource()
    }

    /// Returns the group and version.
    pub fn group_version(&self) -> GroupVersion {
        GroupVersion {
            group: self.group.clone(),
            version: self.version.clone(),
        }
    }

    /// Returns the group, version and kind.
    pub fn gvk(&self) -> GroupVersionKind {
        self.group_version().with_kind(self.kind.clone())
    }

    /// Returns the group, version and plural name.
    pub fn gvr(&self) -> GroupVersionResource {
        self.group_version().with_resource(self.plural.clone())
    }
}

impl fmt::Display for GroupVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.group.is_empty() {
            write!(f, "{}/", self.group)?;
        }
        f.write_str(&self.version)
    }
}

/// Formats like `apiVersion`.
impl FromStr for GroupVersion {
    type Err = ParseGroupVersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (group, version) = text.split_once('/').unwrap_or(("", text));
        if version.contains('/') {
            return Err(ParseGroupVersionError {
                text: text.to_owned(),
            });
        }
        Ok(Self::new(group, version))
    }
}

/// Formats as `kind.group`, or the kind alone for the core group.
impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_dotted(f, &self.kind, &self.group)
    }
}

impl FromStr for GroupKind {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (kind, group) = text.split_once('.').unwrap_or((text, ""));
        Ok(Self::new(group, kind))
    }
}

/// Formats as `resource.group`, or the resource alone for the core group.
impl fmt::Display for GroupResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_dotted(f, &self.resource, &self.group)
    }
}

impl FromStr for GroupResource {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (resource, group) = text.split_once('.').unwrap_or((text, ""));
        Ok(Self::new(group, resource))
    }
}

fn write_dotted(f: &mut fmt::Formatter<'_>, name: &str, group: &str) -> fmt::Result {
    f.write_str(name)?;
    if group.is_empty() {
        Ok(())
    } else {
        write!(f, ".{group}")
    }
}

/// Formats as `group/version, Kind=kind`, as in upstream's messages.
impl fmt::Display for GroupVersionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}, Kind={}", self.group, self.version, self.kind)
    }
}

/// Formats as `group/version, Resource=resource`, as in upstream's messages.
impl fmt::Display for GroupVersionResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}/{}, Resource={}",
            self.group, self.version, self.resource
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_versions_parse_and_print() {
        for (text, group, version, path) in [
            ("v1", "", "v1", "/api/v1"),
            ("apps/v1", "apps", "v1", "/apis/apps/v1"),
            ("a.b.c/v1beta1", "a.b.c", "v1beta1", "/apis/a.b.c/v1beta1"),
            ("", "", "", "/api/"),
        ] {
            let parsed: GroupVersion = text.parse().expect(text);
            assert_eq!(parsed, GroupVersion::new(group, version));
            assert_eq!(parsed.to_string(), text);
            assert_eq!(parsed.path(), path);
        }
        assert_eq!("/".parse(), Ok(GroupVersion::default()));
        assert_eq!("/v1".parse(), Ok(GroupVersion::new("", "v1")));
        let error = "a/b/c"
            .parse::<GroupVersion>()
            .expect_err("it has two slashes");
        assert_eq!(error.to_string(), "unexpected GroupVersion string: a/b/c");
    }

    #[test]
    fn dotted_names_parse_and_print() {
        for (text, group, name) in [
            ("pods", "", "pods"),
            ("deployments.apps", "apps", "deployments"),
            ("a.b.c", "b.c", "a"),
            ("", "", ""),
        ] {
            assert_eq!(text.parse(), Ok(GroupResource::new(group, name)));
            assert_eq!(GroupResource::new(group, name).to_string(), text);
            assert_eq!(text.parse(), Ok(GroupKind::new(group, name)));
            assert_eq!(GroupKind::new(group, name).to_string(), text);
        }
    }

    #[test]
    fn longer_names_print_as_in_upstreams_messages() {
        let gvk = GroupVersionKind::new("apps", "v1", "Deployment");
        assert_eq!(gvk.to_string(), "apps/v1, Kind=Deployment");
        assert_eq!(
            GroupVersionKind::new("", "v1", "Pod").to_string(),
            "/v1, Kind=Pod"
        );
        let gvr = GroupVersionResource::new("apps", "v1", "deployments");
        assert_eq!(gvr.to_string(), "apps/v1, Resource=deployments");
        assert_eq!(gvk.group_version().with_resource("deployments"), gvr);
        assert_eq!(gvk.group_kind().with_version("v1"), gvk);
        assert_eq!(gvr.group_resource().with_version("v1"), gvr);
        assert_eq!(gvr.group_version().with_kind("Deployment"), gvk);
    }
}

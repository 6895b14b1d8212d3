//! `Discovery`: the resources that a server serves, and look-ups by name.
//!
//! It takes two requests with aggregated discovery, otherwise one for every group and version. The
//! result is a snapshot; it is not watched or refreshed.

mod aggregated;
mod legacy;

use crate::Client;
use crate::error::ApiError;
use kubist_apimachinery::{ApiResource, GroupVersion, GroupVersionKind, GroupVersionResource, Str};
use std::collections::BTreeMap;

/// The resources of a server: the core group first, then the groups in the server's order, and
/// within each group the preferred version first.
#[derive(Clone, Debug, Default)]
pub struct Discovery {
    resources: Vec<DiscoveredResource>,
    failed: Vec<FailedGroup>,
}

/// One resource that a server serves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiscoveredResource {
    /// Its group, version, kind and plural name.
    pub resource: ApiResource,
    /// Short names such as `deploy`.
    pub short_names: Vec<Str>,
    /// Categories such as `all`.
    pub categories: Vec<Str>,
    /// The verbs.
    pub verbs: Vec<Str>,
    /// Subresources such as `status`, with their verbs.
    pub subresources: BTreeMap<Str, Vec<Str>>,
}

/// A group version whose resources are unknown.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FailedGroup {
    /// The group version.
    pub group_version: GroupVersion,
    /// The error; `None` if the server itself reports that its information is stale.
    pub error: Option<ApiError>,
}

impl DiscoveredResource {
    /// Reports whether the resource supports a verb.
    pub fn has_verb(&self, verb: &str) -> bool {
        self.verbs.iter().any(|it| *it == *verb)
    }

    /// Reports whether a word names this resource: its plural or singular name, its kind in any
    /// case, or a short name.
    fn is_called(&self, word: &str) -> bool {
        let ApiResource {
            plural,
            singular,
            kind,
            ..
        } = &self.resource;
        let names = [plural, singular, kind];
        names
            .into_iter()
            .chain(&self.short_names)
            .any(|it| it.eq_ignore_ascii_case(word))
    }
}

impl Discovery {
    /// Returns all resources in order of preference.
    pub fn resources(&self) -> &[DiscoveredResource] {
        &self.resources
    }

    /// Returns the group versions that could not be discovered.
    pub fn failed(&self) -> &[FailedGroup] {
        &self.failed
    }

    /// Returns the resource that a word names: `po`, `Pod`, `pods`, `deployments.apps`,
    /// `deployments.v1.apps`. If several match, the first in order of preference wins; full names
    /// win over short ones.
    pub fn resolve(&self, word: &str) -> Option<&DiscoveredResource> {
        let plain = self.find(|it| it.resource.plural.eq_ignore_ascii_case(word));
        if let Some(found) = plain.or_else(|| self.find(|it| it.is_called(word))) {
            return Some(found);
        }
        let (name, rest) = word.split_once('.')?;
        let in_group = |group: &str, version: Option<&str>| {
            self.find(|it| {
                it.resource.group == *group
                    && version.is_none_or(|version| it.resource.version == *version)
                    && it.is_called(name)
            })
        };
        in_group(rest, None).or_else(|| {
            let (version, group) = rest.split_once('.').unwrap_or((rest, ""));
            in_group(group, Some(version))
        })
    }

    /// Returns the resource of a kind.
    pub fn of_kind(&self, gvk: &GroupVersionKind) -> Option<&DiscoveredResource> {
        self.find(|it| it.resource.gvk() == *gvk)
    }

    /// Returns the resource with a plural name.
    pub fn of_resource(&self, gvr: &GroupVersionResource) -> Option<&DiscoveredResource> {
        self.find(|it| it.resource.gvr() == *gvr)
    }

    fn find(&self, test: impl Fn(&DiscoveredResource) -> bool) -> Option<&DiscoveredResource> {
        self.resources.iter().find(|it| test(it))
    }
}

impl Client {
    /// Discovers the resources of the server. A group that does not answer is listed in
    /// [`Discovery::failed`] and is not an error.
    pub async fn discover(&self) -> Result<Discovery, ApiError> {
        match aggregated::discover(self).await? {
            Some(discovery) => Ok(discovery),
            None => legacy::discover(self).await,
        }
    }
}

//! `Discovery`: what a server serves, and which resource a word means.
//!
//! Asked for in one go: two requests where the server aggregates, else one for every group and
//! version. It is a snapshot; nothing is watched or refreshed.

mod aggregated;
mod legacy;

use std::collections::BTreeMap;

use kubist_apimachinery::{ApiResource, GroupVersion, GroupVersionKind, GroupVersionResource, Str};

use crate::Client;
use crate::error::ApiError;

/// What a server serves: the core group first, then groups in the server's order, of each group
/// the preferred version first.
#[derive(Clone, Debug, Default)]
pub struct Discovery {
    resources: Vec<DiscoveredResource>,
    failed: Vec<FailedGroup>,
}

/// One resource that a server serves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiscoveredResource {
    /// How to address it.
    pub resource: ApiResource,
    /// Short names, as `deploy`.
    pub short_names: Vec<Str>,
    /// Categories, as `all`.
    pub categories: Vec<Str>,
    /// What can be done with it.
    pub verbs: Vec<Str>,
    /// Subresources, as `status`, with what can be done with each.
    pub subresources: BTreeMap<Str, Vec<Str>>,
}

/// A group version whose resources are not known.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FailedGroup {
    /// Which.
    pub group_version: GroupVersion,
    /// Why; `None` if the server itself says that what it knows is out of date.
    pub error: Option<ApiError>,
}

impl DiscoveredResource {
    /// Whether it can be done.
    pub fn has_verb(&self, verb: &str) -> bool {
        self.verbs.iter().any(|it| *it == *verb)
    }

    /// Whether a word means this resource: its plural or singular name, its kind in any case, or a
    /// short name.
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
    /// Everything, in order of preference.
    pub fn resources(&self) -> &[DiscoveredResource] {
        &self.resources
    }

    /// What could not be found out.
    pub fn failed(&self) -> &[FailedGroup] {
        &self.failed
    }

    /// The resource that a word means: `po`, `Pod`, `pods`, `deployments.apps`,
    /// `deployments.v1.apps`. Of several, the first in order of preference; full names win over
    /// short ones.
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

    /// The resource of a kind.
    pub fn of_kind(&self, gvk: &GroupVersionKind) -> Option<&DiscoveredResource> {
        self.find(|it| it.resource.gvk() == *gvk)
    }

    /// The resource of a name.
    pub fn of_resource(&self, gvr: &GroupVersionResource) -> Option<&DiscoveredResource> {
        self.find(|it| it.resource.gvr() == *gvr)
    }

    fn find(&self, test: impl Fn(&DiscoveredResource) -> bool) -> Option<&DiscoveredResource> {
        self.resources.iter().find(|it| test(it))
    }
}

impl Client {
    /// Finds out what the server serves. A group that does not answer is in
    /// [`Discovery::failed`], not an error.
    pub async fn discover(&self) -> Result<Discovery, ApiError> {
        match aggregated::discover(self).await? {
            Some(discovery) => Ok(discovery),
            None => legacy::discover(self).await,
        }
    }
}

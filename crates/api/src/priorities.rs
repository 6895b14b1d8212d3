//! The priorities of the built-in group versions: the order of groups in discovery, and the fields
//! of their `APIService`s.

/// The priorities of a group version, as fields of its `APIService`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct ApiServicePriority {
    /// `spec.groupPriorityMinimum`.
    pub group: i32,
    /// `spec.versionPriority`.
    pub version: i32,
}

impl ApiServicePriority {
    /// The priorities of the groups of custom resources, as upstream.
    pub const CUSTOM: Self = Self {
        group: 1000,
        version: 100,
    };
}

/// A group with its priority, and its versions with theirs.
type Row = (&'static str, i32, &'static [(&'static str, i32)]);

/// Those of kube-apiserver 1.36.
const PRIORITIES: &[Row] = &[
    ("", 18000, &[("v1", 1)]),
    ("apps", 17800, &[("v1", 15)]),
    ("events.k8s.io", 17750, &[("v1", 15), ("v1beta1", 5)]),
    (
        "authentication.k8s.io",
        17700,
        &[("v1", 15), ("v1beta1", 9), ("v1alpha1", 1)],
    ),
    ("authorization.k8s.io", 17600, &[("v1", 15)]),
    (
        "autoscaling",
        17500,
        &[("v2", 30), ("v1", 15), ("v2beta1", 9), ("v2beta2", 1)],
    ),
    (
        "batch",
        17400,
        &[("v1", 15), ("v1beta1", 9), ("v2alpha1", 9)],
    ),
    (
        "certificates.k8s.io",
        17300,
        &[("v1", 15), ("v1beta1", 9), ("v1alpha1", 1)],
    ),
    ("networking.k8s.io", 17200, &[("v1", 15), ("v1beta1", 9)]),
    ("policy", 17100, &[("v1", 15), ("v1beta1", 9)]),
    ("rbac.authorization.k8s.io", 17000, &[("v1", 15)]),
    (
        "storage.k8s.io",
        16800,
        &[("v1", 15), ("v1beta1", 9), ("v1alpha1", 1)],
    ),
    (
        "admissionregistration.k8s.io",
        16700,
        &[("v1", 15), ("v1beta1", 12), ("v1alpha1", 9)],
    ),
    ("apiextensions.k8s.io", 16700, &[("v1", 15)]),
    ("scheduling.k8s.io", 16600, &[("v1", 15), ("v1alpha2", 2)]),
    (
        "coordination.k8s.io",
        16500,
        &[("v1", 15), ("v1beta1", 13), ("v1alpha2", 12)],
    ),
    (
        "node.k8s.io",
        16300,
        &[("v1", 15), ("v1beta1", 9), ("v1alpha1", 1)],
    ),
    ("discovery.k8s.io", 16200, &[("v1", 15), ("v1beta1", 12)]),
    (
        "resource.k8s.io",
        16200,
        &[("v1", 21), ("v1beta2", 15), ("v1beta1", 9), ("v1alpha3", 1)],
    ),
    (
        "flowcontrol.apiserver.k8s.io",
        16100,
        &[
            ("v1", 21),
            ("v1beta3", 18),
            ("v1beta2", 15),
            ("v1beta1", 12),
            ("v1alpha1", 9),
        ],
    ),
    ("internal.apiserver.k8s.io", 16000, &[("v1alpha1", 9)]),
    ("storagemigration.k8s.io", 15800, &[("v1beta1", 9)]),
];

/// Returns the priorities of a built-in group version. `apiregistration.k8s.io` has none: it comes
/// before all others.
pub fn api_service_priority(group: &str, version: &str) -> Option<ApiServicePriority> {
    let (_, group, versions) = PRIORITIES.iter().find(|it| it.0 == group)?;
    let (_, version) = versions.iter().find(|it| it.0 == version)?;
    Some(ApiServicePriority {
        group: *group,
        version: *version,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GROUPS;

    #[test]
    fn every_group_version_has_priorities_and_the_groups_are_in_their_order() {
        let mut before = i32::MAX;
        for group in GROUPS
            .iter()
            .filter(|it| it.name != "apiregistration.k8s.io")
        {
            for version in group.versions {
                let found = api_service_priority(group.name, version.version);
                let found = found.unwrap_or_else(|| panic!("{}", version.api_version));
                assert!(found.group <= before, "{} is too late", group.name);
                before = found.group;
            }
        }
    }
}

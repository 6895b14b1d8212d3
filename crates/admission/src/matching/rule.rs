//! `Rule`: the operations, resources and scope that a webhook or a policy names.

use kubist_api::admissionregistration::v1::{NamedRuleWithOperations, RuleWithOperations};
use kubist_apimachinery::Str;

/// What rules are matched against: a request, or its resource in an equivalent version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) group: &'a str,
    pub(crate) version: &'a str,
    pub(crate) resource: &'a str,
    pub(crate) subresource: &'a str,
    /// Empty for what is outside of namespaces; a Namespace is in itself.
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    pub(crate) operation: Operations,
}

/// A set of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Operations(u8);

impl Operations {
    pub(crate) const CREATE: Self = Self(1);
    pub(crate) const UPDATE: Self = Self(2);
    pub(crate) const DELETE: Self = Self(4);
    pub(crate) const CONNECT: Self = Self(8);
    pub(crate) const EVERY: Self = Self(15);

    fn of(names: &[Str]) -> Self {
        names.iter().fold(Self::default(), |all, name| {
            all.with(match name.as_str() {
                "*" => Self::EVERY,
                "CREATE" => Self::CREATE,
                "UPDATE" => Self::UPDATE,
                "DELETE" => Self::DELETE,
                "CONNECT" => Self::CONNECT,
                _ => Self::default(),
            })
        })
    }

    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Reports whether the two sets have an operation in common.
    pub(crate) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// A rule.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    operations: Operations,
    groups: Names,
    versions: Names,
    /// Resources with their subresources; an empty subresource is the resource itself.
    resources: Vec<(Str, Str)>,
    scope: Scope,
    /// The names of objects; empty for all.
    names: Vec<Str>,
}

/// Names, or all of them.
#[derive(Clone, Debug)]
enum Names {
    All,
    These(Vec<Str>),
}

/// Where objects are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Any,
    Namespaced,
    Cluster,
    /// A scope that no version of the API has: nothing matches.
    Unknown,
}

impl Names {
    fn of(names: &[Str]) -> Self {
        if names.iter().any(|it| *it == "*") {
            return Self::All;
        }
        Self::These(names.to_vec())
    }

    fn has(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::These(names) => names.iter().any(|it| *it == name),
        }
    }
}

impl Scope {
    fn of(scope: Option<&str>) -> Self {
        match scope {
            None | Some("*") => Self::Any,
            Some("Namespaced") => Self::Namespaced,
            Some("Cluster") => Self::Cluster,
            Some(_) => Self::Unknown,
        }
    }

    fn has(self, target: &Target<'_>) -> bool {
        let is_namespace =
            (target.group, target.version, target.resource) == ("", "v1", "namespaces");
        let is_outside = is_namespace || target.namespace.is_empty();
        match self {
            Self::Any => true,
            Self::Namespaced => !is_outside,
            Self::Cluster => is_outside,
            Self::Unknown => false,
        }
    }
}

impl Rule {
    /// Reports whether the rule is about a request.
    pub(crate) fn matches(&self, target: &Target<'_>) -> bool {
        self.operations.meets(target.operation)
            && self.has_resource(target.resource, target.subresource)
            && self.groups.has(target.group)
            && self.versions.has(target.version)
            && self.scope.has(target)
    }

    /// Reports whether the rule is about all objects, or about those of this name.
    pub(crate) fn has_name(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|it| *it == name)
    }

    pub(crate) fn operations(&self) -> Operations {
        self.operations
    }

    /// Returns the plural names of the resources; `*` is all of them.
    pub(crate) fn resources(&self) -> impl Iterator<Item = &str> {
        self.resources.iter().map(|it| &*it.0)
    }

    fn has_resource(&self, resource: &str, subresource: &str) -> bool {
        let is = |name: &str, wanted: &str| name == "*" || name == wanted;
        let mut resources = self.resources.iter();
        resources.any(|it| is(&it.0, resource) && is(&it.1, subresource))
    }
}

impl From<&RuleWithOperations> for Rule {
    fn from(rule: &RuleWithOperations) -> Self {
        Self {
            operations: Operations::of(&rule.operations),
            groups: Names::of(&rule.api_groups),
            versions: Names::of(&rule.api_versions),
            resources: rule.resources.iter().map(|it| parts(it)).collect(),
            scope: Scope::of(rule.scope.as_deref()),
            names: Vec::new(),
        }
    }
}

impl From<&NamedRuleWithOperations> for Rule {
    fn from(rule: &NamedRuleWithOperations) -> Self {
        Self {
            operations: Operations::of(&rule.operations),
            groups: Names::of(&rule.api_groups),
            versions: Names::of(&rule.api_versions),
            resources: rule.resources.iter().map(|it| parts(it)).collect(),
            scope: Scope::of(rule.scope.as_deref()),
            names: rule.resource_names.clone(),
        }
    }
}

fn parts(name: &str) -> (Str, Str) {
    let (resource, subresource) = name.split_once('/').unwrap_or((name, ""));
    (resource.into(), subresource.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const POD: Target<'_> = Target {
        group: "",
        version: "v1",
        resource: "pods",
        subresource: "",
        namespace: "default",
        name: "a",
        operation: Operations::CREATE,
    };

    fn rule(group: &str, version: &str, resource: &str, scope: &str) -> Rule {
        Rule::from(&RuleWithOperations {
            operations: vec!["CREATE".into()],
            api_groups: vec![group.into()],
            api_versions: vec![version.into()],
            resources: vec![resource.into()],
            scope: Some(scope.into()),
        })
    }

    #[test]
    fn a_resource_does_not_stand_for_its_subresources() {
        let status = Target {
            subresource: "status",
            ..POD
        };
        for (resource, itself, its_status) in [
            ("pods", true, false),
            ("pods/status", false, true),
            ("pods/*", true, true),
            ("*", true, false),
            ("*/*", true, true),
            ("*/status", false, true),
            ("services", false, false),
        ] {
            let rule = rule("", "*", resource, "*");
            assert_eq!(rule.matches(&POD), itself, "{resource}");
            assert_eq!(rule.matches(&status), its_status, "{resource}");
        }
    }

    #[test]
    fn a_namespace_is_not_within_a_namespace() {
        let namespace = Target {
            resource: "namespaces",
            namespace: "default",
            ..POD
        };
        assert!(!rule("", "v1", "*", "Namespaced").matches(&namespace));
        assert!(rule("", "v1", "*", "Cluster").matches(&namespace));
        assert!(rule("", "v1", "*", "Namespaced").matches(&POD));
        assert!(!rule("", "v1", "*", "Cluster").matches(&POD));
    }

    #[test]
    fn groups_versions_and_operations_are_all_of_the_request() {
        assert!(rule("*", "*", "pods", "*").matches(&POD));
        assert!(!rule("apps", "*", "pods", "*").matches(&POD));
        assert!(!rule("", "v2", "pods", "*").matches(&POD));
        let delete = Target {
            operation: Operations::DELETE,
            ..POD
        };
        assert!(!rule("*", "*", "pods", "*").matches(&delete));
    }
}

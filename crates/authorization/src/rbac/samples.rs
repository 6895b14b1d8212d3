//! Rules for the tests of this folder.

use kubist_api::rbac::v1::PolicyRule;
use kubist_apimachinery::Str;

pub(super) fn texts(of: &[&str]) -> Vec<Str> {
    of.iter().map(|it| (*it).into()).collect()
}

/// A rule by its verbs, groups, resources and names.
pub(super) fn rule(
    verbs: &[&str],
    groups: &[&str],
    resources: &[&str],
    names: &[&str],
) -> PolicyRule {
    PolicyRule {
        verbs: texts(verbs),
        api_groups: texts(groups),
        resources: texts(resources),
        resource_names: texts(names),
        non_resource_urls: Vec::new(),
    }
}

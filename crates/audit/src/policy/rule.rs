//! Whether a rule matches a request, as upstream decides it.

use super::file::{GroupResources, RuleFile};
use kubist_authorization::{Action, Attributes, ResourceAction};

/// Reports whether a rule matches. Lists that are empty match everything.
pub(super) fn matches(rule: &RuleFile, request: &Attributes<'_>) -> bool {
    let has = |list: &[String], wanted: &str| list.iter().any(|it| it == wanted);
    let user = request.user;
    if !rule.users.is_empty() && !has(&rule.users, &user.name) {
        return false;
    }
    let mut groups = user.groups.iter();
    if !rule.user_groups.is_empty() && !groups.any(|it| has(&rule.user_groups, it)) {
        return false;
    }
    if !rule.verbs.is_empty() && !has(&rule.verbs, request.verb) {
        return false;
    }
    if !rule.namespaces.is_empty() || !rule.resources.is_empty() {
        let Action::Resource(action) = &request.action else {
            return false;
        };
        return (rule.namespaces.is_empty() || has(&rule.namespaces, action.namespace))
            && (rule.resources.is_empty() || rule.resources.iter().any(|it| covers(it, action)));
    }
    if rule.non_resource_urls.is_empty() {
        return true;
    }
    let Action::Path(path) = request.action else {
        return false;
    };
    rule.non_resource_urls
        .iter()
        .any(|it| match it.strip_suffix('*') {
            Some(prefix) => path.starts_with(prefix),
            None => path == it,
        })
}

fn covers(resources: &GroupResources, action: &ResourceAction<'_>) -> bool {
    if resources.group != "*" && resources.group != action.group {
        return false;
    }
    if resources.resources.is_empty() {
        return true;
    }
    let names = &resources.resource_names;
    if !names.is_empty() && !names.iter().any(|it| it == action.name) {
        return false;
    }
    let ResourceAction {
        resource,
        subresource,
        ..
    } = *action;
    resources
        .resources
        .iter()
        .any(|it| match it.split_once('/') {
            _ if it == "*" => true,
            None => it == resource && subresource.is_empty(),
            Some(("*", sub)) if !subresource.is_empty() && sub == subresource => true,
            Some((name, "*")) => name == resource,
            Some((name, sub)) => name == resource && sub == subresource && !subresource.is_empty(),
        })
}

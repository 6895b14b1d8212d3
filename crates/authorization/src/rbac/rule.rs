//! Whether one rule of a role allows an action.

use crate::{Action, Attributes};
use kubist_api::rbac::v1::PolicyRule;
use kubist_apimachinery::Str;

/// What stands for everything.
pub(crate) const ALL: &str = "*";

/// Reports whether a rule allows an action, whoever the user is.
pub fn allows(rule: &PolicyRule, attributes: &Attributes<'_>) -> bool {
    if !has(&rule.verbs, attributes.verb) {
        return false;
    }
    match attributes.action {
        Action::Path(path) => rule
            .non_resource_urls
            .iter()
            .any(|url| url_covers(url, path)),
        Action::Resource(it) => {
            has(&rule.api_groups, it.group)
                && rule
                    .resources
                    .iter()
                    .any(|of_rule| resource_covers(of_rule, it.resource, it.subresource))
                && (rule.resource_names.is_empty() || contains(&rule.resource_names, it.name))
        }
    }
}

pub(crate) fn contains(texts: &[Str], text: &str) -> bool {
    texts.iter().any(|it| **it == *text)
}

/// Reports whether a list has everything, or this.
fn has(texts: &[Str], text: &str) -> bool {
    texts.iter().any(|it| **it == *ALL || **it == *text)
}

/// `*` covers all resources and subresources, `*/scale` one subresource of all, and `pods` covers
/// no subresource.
fn resource_covers(of_rule: &str, resource: &str, subresource: &str) -> bool {
    if of_rule == ALL {
        return true;
    }
    match of_rule.split_once('/') {
        None => subresource.is_empty() && of_rule == resource,
        Some((left, right)) => {
            !subresource.is_empty() && right == subresource && (left == ALL || left == resource)
        }
    }
}

/// `*` at the end covers what begins with the rest.
pub(crate) fn url_covers(of_rule: &str, path: &str) -> bool {
    if of_rule.ends_with('*') {
        path.starts_with(of_rule.trim_end_matches('*'))
    } else {
        of_rule == path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rbac::samples::{rule, texts};
    use crate::{ResourceAction, User};

    fn may(rule: &PolicyRule, verb: &str, action: Action<'_>) -> bool {
        let user = &User::default();
        allows(rule, &Attributes { user, verb, action })
    }

    fn pods<'a>(subresource: &'a str, name: &'a str) -> Action<'a> {
        Action::Resource(ResourceAction {
            version: "v1",
            resource: "pods",
            subresource,
            namespace: "n",
            name,
            ..ResourceAction::default()
        })
    }

    #[test]
    fn stars_stand_for_all_verbs_groups_and_resources() {
        let all = rule(&["*"], &["*"], &["*"], &[]);
        assert!(may(&all, "list", pods("", "")));
        assert!(may(&all, "create", pods("exec", "p")));
        assert!(!may(&all, "get", Action::Path("/healthz")));
        assert!(!may(
            &rule(&["*"], &["apps"], &["*"], &[]),
            "list",
            pods("", "")
        ));
        assert!(!may(
            &rule(&["get"], &["*"], &["*"], &[]),
            "list",
            pods("", "")
        ));
    }

    #[test]
    fn a_subresource_is_named_by_itself() {
        let of = |resource| rule(&["get"], &[""], &[resource], &[]);
        assert!(!may(&of("pods"), "get", pods("log", "p")));
        assert!(may(&of("pods/log"), "get", pods("log", "p")));
        assert!(may(&of("*/log"), "get", pods("log", "p")));
        assert!(!may(&of("*/log"), "get", pods("", "p")));
        assert!(
            !may(&of("pods/*"), "get", pods("log", "p")),
            "upstream has no such rule"
        );
        assert!(!may(&of("services/log"), "get", pods("log", "p")));
    }

    #[test]
    fn names_limit_a_rule_and_collections_have_none() {
        let named = rule(&["get", "list", "create"], &[""], &["pods"], &["a", "b"]);
        assert!(may(&named, "get", pods("", "b")));
        assert!(!may(&named, "get", pods("", "c")));
        assert!(!may(&named, "list", pods("", "")));
        assert!(!may(&named, "create", pods("", "")));
    }

    #[test]
    fn paths_match_whole_or_by_their_beginning() {
        let of = |url: &str| PolicyRule {
            verbs: texts(&["get"]),
            non_resource_urls: texts(&[url]),
            ..PolicyRule::default()
        };
        for (url, path, expected) in [
            ("/metrics", "/metrics", true),
            ("/metrics", "/metrics/", false),
            ("/healthz/*", "/healthz/etcd", true),
            ("/healthz/*", "/healthz", false),
            ("/api*", "/apis/apps", true),
            ("*", "/anything", true),
        ] {
            assert_eq!(
                may(&of(url), "get", Action::Path(path)),
                expected,
                "{url} {path}"
            );
        }
        assert!(!may(&of("*"), "post", Action::Path("/x")));
        assert!(!may(&of("*"), "get", pods("", "p")));
    }
}

//! Policies: what is parsed, what is refused, and what matches.

use super::*;
use kubist_authorization::{Action, ResourceAction, User};

fn policy(rules: &str) -> Policy {
    let text = format!("{{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{rules}]}}");
    Policy::parse(text.as_bytes()).expect("it is a policy")
}

fn user() -> User {
    User {
        name: "alice".into(),
        groups: vec!["devs".into()],
        ..User::default()
    }
}

fn level(policy: &Policy, verb: &str, action: Action<'_>) -> Level {
    let user = user();
    let request = Attributes {
        user: &user,
        verb,
        action,
    };
    policy.evaluate(&request).level
}

fn pods<'a>(subresource: &'a str, namespace: &'a str, name: &'a str) -> Action<'a> {
    Action::Resource(ResourceAction {
        version: "v1",
        resource: "pods",
        subresource,
        namespace,
        name,
        ..ResourceAction::default()
    })
}

#[test]
fn the_first_rule_that_matches_decides() {
    let policy = policy(
        "{level: Request, users: [bob]}, {level: Metadata, userGroups: [ops, devs], verbs: [get]},
         {level: None, userGroups: [devs]}, {level: RequestResponse}",
    );
    assert_eq!(level(&policy, "get", pods("", "n", "p")), Level::Metadata);
    assert_eq!(level(&policy, "list", pods("", "n", "")), Level::None);
}

#[test]
fn a_request_that_no_rule_matches_is_not_recorded() {
    let policy = policy("{level: Metadata, verbs: [delete]}");
    let user = user();
    let request = Attributes {
        user: &user,
        verb: "get",
        action: Action::Path("/"),
    };
    let treatment = policy.evaluate(&request);
    assert!(Stage::ALL.into_iter().all(|it| !treatment.records(it)));
}

#[test]
fn resources_are_matched_with_their_subresources_and_names() {
    let of = |resources: &str| policy(&format!("{{level: Metadata, resources: [{resources}]}}"));
    let matches = |resources: &str, action: Action<'_>| {
        level(&of(resources), "get", action) == Level::Metadata
    };
    for (resources, subresource, expected) in [
        ("{resources: [pods]}", "", true),
        ("{resources: [pods]}", "log", false),
        ("{resources: [pods/log]}", "log", true),
        ("{resources: [pods/log]}", "", false),
        ("{resources: ['pods/*']}", "exec", true),
        ("{resources: ['*/log']}", "log", true),
        ("{resources: ['*']}", "log", true),
        ("{group: apps}", "", false),
        ("{group: ''}", "log", true),
        ("{group: '*'}", "", true),
        ("{resources: [pods], resourceNames: [p]}", "", true),
        ("{resources: [pods], resourceNames: [q]}", "", false),
    ] {
        assert_eq!(
            matches(resources, pods(subresource, "n", "p")),
            expected,
            "{resources}"
        );
        assert!(!matches(resources, Action::Path("/")), "{resources}");
    }
}

#[test]
fn paths_and_namespaces_are_matched() {
    let paths = policy("{level: Metadata, nonResourceURLs: [/healthz, '/metrics*']}");
    assert_eq!(
        level(&paths, "get", Action::Path("/metrics/slis")),
        Level::Metadata
    );
    assert_eq!(
        level(&paths, "get", Action::Path("/healthz/etcd")),
        Level::None
    );
    assert_eq!(level(&paths, "get", pods("", "n", "")), Level::None);
    let namespaces = policy("{level: Metadata, namespaces: [shop, '']}");
    assert_eq!(
        level(&namespaces, "get", pods("", "shop", "p")),
        Level::Metadata
    );
    assert_eq!(level(&namespaces, "get", pods("", "", "")), Level::Metadata);
    assert_eq!(
        level(&namespaces, "get", pods("", "other", "p")),
        Level::None
    );
}

#[test]
fn stages_and_managed_fields_are_left_out_by_the_rule_or_the_policy() {
    let text = "{apiVersion: audit.k8s.io/v1, kind: Policy, omitStages: [RequestReceived],
                 omitManagedFields: true, rules: [
                 {level: Request, verbs: [get], omitStages: [Panic], omitManagedFields: false},
                 {level: Request}]}";
    let policy = Policy::parse(text.as_bytes()).expect("it is a policy");
    let user = user();
    let ask = |verb| {
        policy.evaluate(&Attributes {
            user: &user,
            verb,
            action: Action::Path("/"),
        })
    };
    let (get, list) = (ask("get"), ask("list"));
    assert!(!get.records(Stage::RequestReceived) && !get.records(Stage::Panic));
    assert!(get.records(Stage::ResponseComplete) && !get.omit_managed_fields);
    assert!(list.records(Stage::Panic) && list.omit_managed_fields);
}

#[test]
fn what_is_wrong_with_a_policy_is_said() {
    let said = |text: &str| {
        let refused = Policy::parse(text.as_bytes());
        refused.expect_err("it is no policy").to_string()
    };
    let begin = "apiVersion: audit.k8s.io/v1\nkind: Policy\n";
    assert_eq!(said(begin), "it has no rules");
    assert_eq!(
        said("apiVersion: v1\nkind: Pod\n"),
        "it is Pod of v1, and should be Policy of audit.k8s.io/v1"
    );
    for (rule, expected) in [
        ("{}", "rules[0].level: Required value"),
        (
            "{level: All}",
            "rules[0].level: Unsupported value: \"All\": supported values: \"None\", \"Metadata\", \
             \"Request\", \"RequestResponse\"",
        ),
        (
            "{level: None, nonResourceURLs: [a]}",
            "rules[0].nonResourceURLs[0]: Invalid value: \"a\": non-resource URL rules must begin \
             with a '/' character",
        ),
        (
            "{level: None, nonResourceURLs: ['/*/a']}",
            "rules[0].nonResourceURLs[0]: Invalid value: \"/*/a\": non-resource URL wildcards '*' \
             must be the final character of the rule",
        ),
        (
            "{level: None, omitStages: [End]}",
            "rules[0].omitStages[0]: Invalid value: \"End\": allowed stages are \
             RequestReceived,ResponseStarted,ResponseComplete,Panic",
        ),
    ] {
        assert_eq!(said(&format!("{begin}rules: [{rule}]")), expected);
    }
    assert!(said(&format!("{begin}rules: [{{level: None, user: [a]}}]")).contains("unknown field"));
}

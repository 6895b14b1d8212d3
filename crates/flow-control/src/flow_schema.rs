//! Which requests a `FlowSchema` matches, and what tells its flows apart.

use kubist_api::flowcontrol::v1::{
    FlowSchema, NonResourcePolicyRule, PolicyRulesWithSubjects, ResourcePolicyRule, Subject,
};
use kubist_apimachinery::Str;
use kubist_authorization::{Action, Attributes, ResourceAction, User};

/// Everything.
const ALL: &str = "*";

/// Reports whether one of the schema's rules matches.
pub(crate) fn matches(schema: &FlowSchema, request: &Attributes<'_>) -> bool {
    let mut rules = schema.spec.rules.iter();
    rules.any(|rule| {
        let mut subjects = rule.subjects.iter();
        subjects.any(|it| is_subject(it, request.user)) && allows(rule, request)
    })
}

/// Returns what tells the flows of a schema apart; empty if it has one flow.
pub(crate) fn distinguisher<'a>(schema: &FlowSchema, request: &Attributes<'a>) -> &'a str {
    let method = schema.spec.distinguisher_method.as_deref();
    match method.map_or("", |it| &*it.type_) {
        "ByUser" => &request.user.name,
        "ByNamespace" => request.namespace(),
        _ => "",
    }
}

fn is_subject(subject: &Subject, user: &User) -> bool {
    let is = |name: &str, of: &str| name == ALL || name == of;
    match &*subject.kind {
        "User" => subject
            .user
            .as_ref()
            .is_some_and(|it| is(&it.name, &user.name)),
        "Group" => subject.group.as_ref().is_some_and(|it| {
            let mut groups = user.groups.iter();
            &*it.name == ALL || groups.any(|group| *group == it.name)
        }),
        "ServiceAccount" => subject.service_account.as_ref().is_some_and(|it| {
            let account = user.name.strip_prefix("system:serviceaccount:");
            let named = account.and_then(|it| it.split_once(':'));
            named.is_some_and(|(namespace, name)| *it.namespace == *namespace && is(&it.name, name))
        }),
        _ => false,
    }
}

fn allows(rule: &PolicyRulesWithSubjects, request: &Attributes<'_>) -> bool {
    match request.action {
        Action::Resource(action) => {
            let mut rules = rule.resource_rules.iter();
            rules.any(|it| allows_resource(it, request.verb, &action))
        }
        Action::Path(path) => {
            let mut rules = rule.non_resource_rules.iter();
            rules.any(|it| allows_path(it, request.verb, path))
        }
    }
}

fn has(list: &[Str], wanted: &str) -> bool {
    list.iter().any(|it| **it == *wanted || **it == *ALL)
}

fn allows_resource(rule: &ResourcePolicyRule, verb: &str, action: &ResourceAction<'_>) -> bool {
    let is_resource = |it: &Str| {
        let name = &**it;
        name == ALL
            || match name.split_once('/') {
                Some((name, sub)) => name == action.resource && sub == action.subresource,
                None => name == action.resource && action.subresource.is_empty(),
            }
    };
    let in_scope = match action.namespace {
        "" => rule.cluster_scope,
        namespace => has(&rule.namespaces, namespace),
    };
    in_scope
        && has(&rule.verbs, verb)
        && has(&rule.api_groups, action.group)
        && rule.resources.iter().any(is_resource)
}

fn allows_path(rule: &NonResourcePolicyRule, verb: &str, path: &str) -> bool {
    let is_path = |it: &Str| match it.strip_suffix(ALL) {
        Some(prefix) => path.starts_with(prefix),
        None => **it == *path,
    };
    has(&rule.verbs, verb) && rule.non_resource_urls.iter().any(is_path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::flowcontrol::v1::{
        FlowDistinguisherMethod, GroupSubject, ServiceAccountSubject, UserSubject,
    };

    fn texts(list: &[&str]) -> Vec<Str> {
        list.iter().map(|&it| it.into()).collect()
    }

    fn schema(subject: Subject, resources: &[&str], namespaces: &[&str]) -> FlowSchema {
        let mut schema = FlowSchema::default();
        schema.spec.rules = vec![PolicyRulesWithSubjects {
            subjects: vec![subject],
            resource_rules: vec![ResourcePolicyRule {
                verbs: texts(&["get", "list"]),
                api_groups: texts(&["apps"]),
                resources: texts(resources),
                cluster_scope: namespaces.is_empty(),
                namespaces: texts(namespaces),
            }],
            non_resource_rules: vec![NonResourcePolicyRule {
                verbs: texts(&["get"]),
                non_resource_urls: texts(&["/healthz", "/metrics/*"]),
            }],
        }];
        schema
    }

    fn everybody() -> Subject {
        Subject {
            kind: "Group".into(),
            group: Some(Box::new(GroupSubject { name: ALL.into() })),
            ..Subject::default()
        }
    }

    fn deployments<'a>(namespace: &'a str, subresource: &'a str) -> Action<'a> {
        Action::Resource(ResourceAction {
            group: "apps",
            version: "v1",
            resource: "deployments",
            subresource,
            namespace,
            ..ResourceAction::default()
        })
    }

    fn ask(schema: &FlowSchema, user: &User, verb: &str, action: Action<'_>) -> bool {
        matches(schema, &Attributes { user, verb, action })
    }

    #[test]
    fn a_rule_matches_by_verb_group_resource_subresource_and_namespace() {
        let user = User::default();
        let some = schema(
            everybody(),
            &["deployments", "deployments/scale"],
            &["shop"],
        );
        assert!(ask(&some, &user, "list", deployments("shop", "")));
        assert!(ask(&some, &user, "get", deployments("shop", "scale")));
        assert!(!ask(&some, &user, "get", deployments("shop", "status")));
        assert!(!ask(&some, &user, "delete", deployments("shop", "")));
        assert!(!ask(&some, &user, "list", deployments("other", "")));
        assert!(
            !ask(&some, &user, "list", deployments("", "")),
            "it is not for all namespaces"
        );
        let cluster = schema(everybody(), &["*"], &[]);
        assert!(ask(&cluster, &user, "list", deployments("", "status")));
        assert!(!ask(&cluster, &user, "list", deployments("shop", "")));
    }

    #[test]
    fn a_path_matches_whole_or_by_its_beginning() {
        let (user, schema) = (User::default(), schema(everybody(), &[], &[]));
        assert!(ask(&schema, &user, "get", Action::Path("/healthz")));
        assert!(ask(&schema, &user, "get", Action::Path("/metrics/slis")));
        assert!(!ask(&schema, &user, "get", Action::Path("/healthz/etcd")));
        assert!(!ask(&schema, &user, "post", Action::Path("/healthz")));
    }

    #[test]
    fn subjects_are_users_groups_and_service_accounts() {
        let subject = |kind: &str| Subject {
            kind: kind.into(),
            user: Some(Box::new(UserSubject {
                name: "alice".into(),
            })),
            group: Some(Box::new(GroupSubject {
                name: "devs".into(),
            })),
            service_account: Some(Box::new(ServiceAccountSubject {
                namespace: "shop".into(),
                name: ALL.into(),
            })),
        };
        let named = |name: &str, group: &str| User {
            name: name.into(),
            groups: vec![group.into()],
            ..User::default()
        };
        let alice = named("alice", "ops");
        assert!(is_subject(&subject("User"), &alice));
        assert!(!is_subject(&subject("Group"), &alice));
        assert!(is_subject(&subject("Group"), &named("bob", "devs")));
        let account = named("system:serviceaccount:shop:web", "");
        assert!(is_subject(&subject("ServiceAccount"), &account));
        assert!(!is_subject(
            &subject("ServiceAccount"),
            &named("system:serviceaccount:x:web", "")
        ));
        assert!(!is_subject(&subject("Robot"), &alice));
    }

    #[test]
    fn flows_are_told_apart_by_user_or_namespace() {
        let user = User {
            name: "alice".into(),
            ..User::default()
        };
        let request = Attributes {
            user: &user,
            verb: "list",
            action: deployments("shop", ""),
        };
        let mut schema = FlowSchema::default();
        assert_eq!(distinguisher(&schema, &request), "");
        for (method, expected) in [("ByUser", "alice"), ("ByNamespace", "shop")] {
            let method = FlowDistinguisherMethod {
                type_: method.into(),
            };
            schema.spec.distinguisher_method = Some(Box::new(method));
            assert_eq!(distinguisher(&schema, &request), expected);
        }
    }
}

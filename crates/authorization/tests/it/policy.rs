//! Decisions of a policy, as roles and bindings come and go.

use kubist_api::rbac::v1::{
    ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject,
};
use kubist_apimachinery::{ObjectMeta, Str};
use kubist_authorization::rbac::{Policy, allows};
use kubist_authorization::{Action, Attributes, Decision, ResourceAction, User};
use proptest::prelude::*;

fn meta(namespace: &str, name: &str) -> ObjectMeta {
    ObjectMeta {
        namespace: namespace.into(),
        name: name.into(),
        ..ObjectMeta::default()
    }
}

fn rule(verb: &str, resource: &str) -> PolicyRule {
    PolicyRule {
        verbs: vec![verb.into()],
        api_groups: vec!["".into()],
        resources: vec![resource.into()],
        ..PolicyRule::default()
    }
}

fn subject(kind: &str, name: &str) -> Subject {
    Subject {
        kind: kind.into(),
        name: name.into(),
        ..Subject::default()
    }
}

fn reference(kind: &str, name: &str) -> RoleRef {
    RoleRef {
        kind: kind.into(),
        name: name.into(),
        ..RoleRef::default()
    }
}

fn user(name: &str, groups: &[&str]) -> User {
    User {
        name: name.into(),
        groups: groups.iter().map(|it| (*it).into()).collect(),
        ..User::default()
    }
}

fn decide(policy: &Policy, user: &User, verb: &str, namespace: &str, resource: &str) -> Decision {
    let resource = ResourceAction {
        version: "v1",
        resource,
        namespace,
        ..ResourceAction::default()
    };
    let action = Action::Resource(resource);
    policy.authorize(&Attributes { user, verb, action })
}

fn cluster_role(name: &str, rules: Vec<PolicyRule>) -> ClusterRole {
    ClusterRole {
        metadata: meta("", name),
        rules,
        ..ClusterRole::default()
    }
}

fn cluster_binding(name: &str, role: &str, of: Subject) -> ClusterRoleBinding {
    ClusterRoleBinding {
        metadata: meta("", name),
        subjects: vec![of],
        role_ref: reference("ClusterRole", role),
    }
}

fn binding(namespace: &str, name: &str, role: RoleRef, of: Subject) -> RoleBinding {
    RoleBinding {
        metadata: meta(namespace, name),
        subjects: vec![of],
        role_ref: role,
    }
}

#[test]
fn a_cluster_role_counts_where_it_is_bound() {
    let mut policy = Policy::default();
    policy.put_cluster_role(&cluster_role("view", vec![rule("get", "pods")]));
    let view = reference("ClusterRole", "view");
    policy.put_role_binding(&binding("a", "b", view, subject("User", "bob")));
    let bob = user("bob", &[]);
    assert_eq!(
        decide(&policy, &bob, "get", "a", "pods").reason(),
        r#"RBAC: allowed by RoleBinding "b/a" of ClusterRole "view" to User "bob""#
    );
    assert!(!decide(&policy, &bob, "get", "other", "pods").is_allowed());
    assert!(!decide(&policy, &bob, "get", "", "pods").is_allowed());
    policy.put_cluster_role_binding(&cluster_binding("all", "view", subject("User", "bob")));
    assert_eq!(
        decide(&policy, &bob, "get", "", "pods").reason(),
        r#"RBAC: allowed by ClusterRoleBinding "all" of ClusterRole "view" to User "bob""#
    );
    assert!(decide(&policy, &bob, "get", "other", "pods").is_allowed());
}

#[test]
fn what_is_removed_grants_nothing_any_more() {
    let mut policy = Policy::default();
    let role = Role {
        metadata: meta("a", "r"),
        rules: vec![rule("get", "pods")],
    };
    policy.put_role(&role);
    let of = subject("Group", "devs");
    policy.put_role_binding(&binding("a", "b", reference("Role", "r"), of));
    let dev = user("eve", &["devs"]);
    assert!(decide(&policy, &dev, "get", "a", "pods").is_allowed());
    policy.remove_role("a", "r");
    let missing = decide(&policy, &dev, "get", "a", "pods");
    let why = "RBAC: role.rbac.authorization.k8s.io \"r\" not found";
    assert_eq!(missing, Decision::NoOpinion(why.to_owned()));
    policy.put_role(&role);
    policy.remove_role_binding("a", "b");
    assert_eq!(
        decide(&policy, &dev, "get", "a", "pods"),
        Decision::NoOpinion(String::new())
    );
}

#[test]
fn a_binding_that_changes_grants_to_its_new_subjects_only() {
    let mut policy = Policy::default();
    policy.put_cluster_role(&cluster_role("view", vec![rule("get", "pods")]));
    for who in ["bob", "eve"] {
        policy.put_cluster_role_binding(&cluster_binding("b", "view", subject("User", who)));
    }
    assert!(!decide(&policy, &user("bob", &[]), "get", "", "pods").is_allowed());
    assert!(decide(&policy, &user("eve", &[]), "get", "", "pods").is_allowed());
    policy.remove_cluster_role_binding("b");
    assert!(!decide(&policy, &user("eve", &[]), "get", "", "pods").is_allowed());
}

#[test]
fn several_missing_roles_are_named_once_each() {
    let mut policy = Policy::default();
    for (name, role) in [("a", "x"), ("b", "y"), ("c", "x")] {
        policy.put_cluster_role_binding(&cluster_binding(name, role, subject("User", "bob")));
    }
    let refused = decide(&policy, &user("bob", &[]), "get", "", "pods");
    assert_eq!(
        refused.reason(),
        "RBAC: [clusterrole.rbac.authorization.k8s.io \"x\" not found, \
         clusterrole.rbac.authorization.k8s.io \"y\" not found]"
    );
}

#[test]
fn who_has_the_rules_may_grant_them_and_who_has_fewer_may_not() {
    let mut policy = Policy::default();
    policy.put_cluster_role(&cluster_role("view", vec![rule("get", "pods")]));
    let view = reference("ClusterRole", "view");
    policy.put_role_binding(&binding("a", "b", view, subject("User", "bob")));
    let bob = user("bob", &["devs"]);
    assert_eq!(
        policy.check_grant(&bob, "a", &[rule("get", "pods")]),
        Ok(())
    );
    let refused = policy
        .check_grant(&bob, "", &[rule("get", "pods")])
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "user \"bob\" (groups=[\"devs\"]) is attempting to grant RBAC permissions not currently \
         held:\n{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\"]}"
    );
}

/// A step of a random history.
#[derive(Clone, Debug)]
enum Step {
    Role(u8, u8, Vec<u8>),
    RoleGone(u8, u8),
    Bind(u8, u8, u8, u8),
    BindingGone(u8, u8),
}

fn step() -> impl Strategy<Value = Step> {
    let small = 0..3_u8;
    let rules = prop::collection::vec(0..4_u8, 0..3);
    prop_oneof![
        (small.clone(), small.clone(), rules).prop_map(|(n, r, rules)| Step::Role(n, r, rules)),
        (small.clone(), small.clone()).prop_map(|(n, r)| Step::RoleGone(n, r)),
        (small.clone(), small.clone(), small.clone(), 0..4_u8)
            .prop_map(|(n, b, r, who)| Step::Bind(n, b, r, who)),
        (small.clone(), small).prop_map(|(n, b)| Step::BindingGone(n, b)),
    ]
}

/// All roles and bindings in lists, which are scanned.
#[derive(Default)]
struct Model {
    roles: Vec<Role>,
    bindings: Vec<RoleBinding>,
}

impl Model {
    fn allows(&self, attributes: &Attributes<'_>) -> bool {
        let namespace = attributes.namespace();
        let bindings = self.bindings.iter();
        bindings
            .filter(|it| *it.metadata.namespace == *namespace)
            .filter(|it| {
                it.subjects.iter().any(|of| match &*of.kind {
                    "Group" => attributes.user.is_in(&of.name),
                    _ => of.name == attributes.user.name,
                })
            })
            .any(|binding| {
                let mut roles = self.roles.iter();
                let role = roles.find(|it| {
                    *it.metadata.namespace == *namespace
                        && it.metadata.name == binding.role_ref.name
                });
                role.is_some_and(|it| it.rules.iter().any(|rule| allows(rule, attributes)))
            })
    }
}

fn subject_of(number: u8) -> Subject {
    match number {
        0 => subject("User", "bob"),
        1 => subject("User", "eve"),
        2 => subject("Group", "devs"),
        _ => subject("Group", "ops"),
    }
}

proptest! {
    #[test]
    fn an_indexed_policy_decides_like_a_scan(steps in prop::collection::vec(step(), 0..40)) {
        let (mut policy, mut model) = (Policy::default(), Model::default());
        let name = |kind: &str, number: u8| Str::from(format!("{kind}{number}"));
        let is = |it: &ObjectMeta, n: &Str, name: &Str| it.namespace == *n && it.name == *name;
        for step in steps {
            match step {
                Step::Role(n, r, rules) => {
                    let (n, r) = (name("n", n), name("r", r));
                    let resources = ["pods", "services", "nodes", "secrets"];
                    let rules = rules.iter().map(|it| rule("get", resources[usize::from(*it)]));
                    let role = Role { metadata: meta(&n, &r), rules: rules.collect() };
                    policy.put_role(&role);
                    model.roles.retain(|it| !is(&it.metadata, &n, &r));
                    model.roles.push(role);
                }
                Step::RoleGone(n, r) => {
                    let (n, r) = (name("n", n), name("r", r));
                    policy.remove_role(&n, &r);
                    model.roles.retain(|it| !is(&it.metadata, &n, &r));
                }
                Step::Bind(n, b, r, who) => {
                    let (n, b) = (name("n", n), name("b", b));
                    let role = reference("Role", &name("r", r));
                    let made = binding(&n, &b, role, subject_of(who));
                    policy.put_role_binding(&made);
                    model.bindings.retain(|it| !is(&it.metadata, &n, &b));
                    model.bindings.push(made);
                }
                Step::BindingGone(n, b) => {
                    let (n, b) = (name("n", n), name("b", b));
                    policy.remove_role_binding(&n, &b);
                    model.bindings.retain(|it| !is(&it.metadata, &n, &b));
                }
            }
        }
        for who in [user("bob", &["devs"]), user("eve", &["ops", "devs"]), user("ann", &["ops"])] {
            for namespace in ["n0", "n1", "n2", ""] {
                for resource in ["pods", "services", "nodes"] {
                    let action = Action::Resource(ResourceAction {
                        version: "v1",
                        resource,
                        namespace,
                        ..ResourceAction::default()
                    });
                    let attributes = Attributes { user: &who, verb: "get", action };
                    let decided = policy.authorize(&attributes).is_allowed();
                    prop_assert_eq!(decided, model.allows(&attributes));
                }
            }
        }
    }
}

//! Decisions and checks against escalation, compared with those of Kubernetes' own code, which the
//! program of `tests/interop/kube-apiserver/rbac` links.
//!
//! Roles, bindings, users and requests are random, from small sets of names, so that most of them
//! meet.

use crate::random::Random;
use kubist_api::rbac::v1::{
    ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject,
};
use kubist_apimachinery::wire::{self, Encoding, Message};
use kubist_apimachinery::{ObjectMeta, Str};
use kubist_authorization::rbac::Policy;
use kubist_authorization::{Action, Attributes, Decision, ResourceAction, User};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The program; `cargo xtask interop` builds it and sets this.
const PROGRAM: &str = "KUBIST_RBAC_PROGRAM";
/// The number of requests that are decided. Default: 2,000.
const COUNT: &str = "KUBIST_RBAC_COUNT";
/// Requests in one world of roles and bindings.
const ASKS: usize = 20;
/// Grants in one world.
const GRANTS: usize = 5;

const NAMESPACES: [&str; 3] = ["shop", "bank", ""];
const USERS: [&str; 5] = [
    "alice",
    "bob",
    "system:serviceaccount:shop:robot",
    "system:serviceaccount:bank:robot",
    "",
];
const GROUPS: [&str; 5] = [
    "devs",
    "ops",
    "system:authenticated",
    "system:serviceaccounts",
    "system:serviceaccounts:shop",
];
const VERBS: [&str; 7] = ["get", "list", "create", "delete", "bind", "Get", "*"];
const API_GROUPS: [&str; 5] = ["", "apps", "example.com", "*", "*"];
const RESOURCES: [&str; 10] = [
    "pods",
    "pods/log",
    "pods/*",
    "*/log",
    "*/scale",
    "deployments",
    "deployments/scale",
    "*",
    "*/*",
    "",
];
const NAMES: [&str; 4] = ["a", "b", "*", ""];
const PATHS: [&str; 9] = [
    "/healthz",
    "/healthz/*",
    "/healthz/ping",
    "/api",
    "/api/*",
    "/a*",
    "/*",
    "*",
    "/healthz*/x",
];
const ROLES: [&str; 4] = ["reader", "writer", "admin", "gone"];

impl Random {
    fn some(&mut self, of: &[&str], most: usize) -> Vec<Str> {
        let count = self.below(most + 1);
        (0..count).map(|_| Str::from(self.pick(of))).collect()
    }

    fn rule(&mut self) -> PolicyRule {
        let is_path = self.below(5) == 0;
        let mut rule = PolicyRule {
            verbs: self.some(&VERBS, 3),
            ..PolicyRule::default()
        };
        if is_path {
            rule.non_resource_urls = self.some(&PATHS, 2);
            return rule;
        }
        rule.api_groups = self.some(&API_GROUPS, 2);
        rule.resources = self.some(&RESOURCES, 3);
        if self.below(3) == 0 {
            rule.resource_names = self.some(&NAMES, 2);
        }
        rule
    }

    fn rules(&mut self) -> Vec<PolicyRule> {
        let count = self.below(6);
        (0..count).map(|_| self.rule()).collect()
    }

    fn subject(&mut self) -> Subject {
        let kind = self.pick(&["User", "User", "Group", "Group", "ServiceAccount", "Robot"]);
        let (names, namespaces): (&[&str], &[&str]) = match kind {
            "User" => (&USERS, &[""]),
            "Group" => (&GROUPS, &[""]),
            _ => (&["robot", "other"], &NAMESPACES),
        };
        Subject {
            kind: kind.into(),
            name: self.pick(names).into(),
            namespace: self.pick(namespaces).into(),
            ..Subject::default()
        }
    }

    fn subjects(&mut self) -> Vec<Subject> {
        let count = 2 + self.below(5);
        (0..count).map(|_| self.subject()).collect()
    }

    fn user(&mut self) -> User {
        User {
            name: self.pick(&USERS).into(),
            groups: self.some(&GROUPS, 3),
            ..User::default()
        }
    }
}

fn meta(namespace: &str, name: &str) -> ObjectMeta {
    ObjectMeta {
        namespace: namespace.into(),
        name: name.into(),
        ..ObjectMeta::default()
    }
}

fn reference(kind: &str, name: &str) -> RoleRef {
    RoleRef {
        kind: kind.into(),
        name: name.into(),
        api_group: "rbac.authorization.k8s.io".into(),
    }
}

fn json_of(message: &dyn Message) -> Value {
    let text = wire::encode(message, Encoding::Json);
    serde_json::from_slice(&text).expect("it is JSON")
}

/// A request, with its own texts.
struct Ask {
    user: User,
    verb: &'static str,
    group: &'static str,
    resource: &'static str,
    subresource: &'static str,
    namespace: &'static str,
    name: &'static str,
    path: &'static str,
}

impl Ask {
    fn random(random: &mut Random) -> Self {
        let is_path = random.below(5) == 0;
        Self {
            user: random.user(),
            verb: random.pick(&["get", "list", "create", "delete", "bind", "watch"]),
            group: random.pick(&["", "apps", "example.com"]),
            resource: random.pick(&["pods", "deployments", "widgets"]),
            subresource: random.pick(&["", "", "log", "scale"]),
            namespace: if is_path {
                ""
            } else {
                random.pick(&NAMESPACES)
            },
            name: random.pick(&["", "a", "b", "c"]),
            path: if is_path {
                random.pick(&[
                    "/healthz",
                    "/healthz/ping",
                    "/api",
                    "/apis/apps",
                    "/",
                    "/livez",
                ])
            } else {
                ""
            },
        }
    }

    fn attributes(&self) -> Attributes<'_> {
        let resource = ResourceAction {
            group: self.group,
            version: "v1",
            resource: self.resource,
            subresource: self.subresource,
            namespace: self.namespace,
            name: self.name,
            ..ResourceAction::default()
        };
        Attributes {
            user: &self.user,
            verb: self.verb,
            action: match self.path {
                "" => Action::Resource(resource),
                path => Action::Path(path),
            },
        }
    }

    fn question(&self) -> Value {
        let mut question = json!({"user": user_json(&self.user), "verb": self.verb});
        if !self.path.is_empty() {
            question["path"] = self.path.into();
            return question;
        }
        for (key, value) in [
            ("group", self.group),
            ("resource", self.resource),
            ("subresource", self.subresource),
            ("namespace", self.namespace),
            ("name", self.name),
        ] {
            question[key] = value.into();
        }
        question
    }
}

fn user_json(user: &User) -> Value {
    let groups: Vec<&str> = user.groups.iter().map(|it| &**it).collect();
    json!({"name": &*user.name, "groups": groups})
}

/// Roles and bindings with requests and grants, and what we decide.
fn world(random: &mut Random) -> (Value, Value) {
    let mut policy = Policy::default();
    let (mut cluster_roles, mut roles) = (Vec::new(), Vec::new());
    let (mut cluster_bindings, mut bindings) = (Vec::new(), Vec::new());
    for name in &ROLES[..3] {
        let role = ClusterRole {
            metadata: meta("", name),
            rules: random.rules(),
            ..ClusterRole::default()
        };
        policy.put_cluster_role(&role);
        cluster_roles.push(json_of(&role));
        for namespace in &NAMESPACES[..2] {
            let role = Role {
                metadata: meta(namespace, name),
                rules: random.rules(),
            };
            policy.put_role(&role);
            roles.push(json_of(&role));
        }
    }
    for number in 0..=random.below(5) {
        let binding = ClusterRoleBinding {
            metadata: meta("", &format!("all-{number}")),
            role_ref: reference("ClusterRole", random.pick(&ROLES)),
            subjects: random.subjects(),
        };
        policy.put_cluster_role_binding(&binding);
        cluster_bindings.push(json_of(&binding));
    }
    for number in 0..2 + random.below(8) {
        let kind = random.pick(&["Role", "ClusterRole"]);
        let binding = RoleBinding {
            metadata: meta(NAMESPACES[number % 2], &format!("some-{number}")),
            role_ref: reference(kind, random.pick(&ROLES)),
            subjects: random.subjects(),
        };
        policy.put_role_binding(&binding);
        bindings.push(json_of(&binding));
    }
    let (mut asks, mut decisions) = (Vec::new(), Vec::new());
    for _ in 0..ASKS {
        let ask = Ask::random(random);
        asks.push(ask.question());
        decisions.push(decide(&policy, &ask));
    }
    let (mut grants, mut verdicts) = (Vec::new(), Vec::new());
    for _ in 0..GRANTS {
        let (user, namespace) = (random.user(), random.pick(&NAMESPACES));
        let rules = random.rules();
        let own: Vec<Value> = rules.iter().map(|it| json_of(it)).collect();
        grants.push(json!({"user": user_json(&user), "namespace": namespace, "rules": own}));
        let verdict = policy.check_grant(&user, namespace, &rules);
        let verdict = verdict.err().map(|it| it.to_string());
        verdicts.push(verdict.unwrap_or_default());
    }
    let question = json!({
        "clusterRoles": cluster_roles, "roles": roles,
        "clusterBindings": cluster_bindings, "bindings": bindings,
        "asks": asks, "grants": grants,
    });
    (
        question,
        json!({"decisions": decisions, "grants": verdicts}),
    )
}

fn decide(policy: &Policy, ask: &Ask) -> Value {
    let (allowed, denied, reason) = match policy.authorize(&ask.attributes()) {
        Decision::Allow(reason) => (true, false, reason),
        Decision::Deny(reason) => (false, true, reason),
        Decision::NoOpinion(reason) => (false, false, reason),
        Decision::Failed { error, .. } => (false, false, error),
    };
    let rules = policy.rules_of_user(&ask.user, ask.namespace).rules.len();
    json!({"allowed": allowed, "denied": denied, "reason": reason, "rules": rules})
}

fn answers(program: PathBuf, questions: &[Value]) -> Vec<Value> {
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let input = child.stdin.take().expect("it is piped");
    let output = child.stdout.take().expect("it is piped");
    let answers = std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut input = BufWriter::new(input);
            for question in questions {
                writeln!(input, "{question}").expect("it reads");
            }
        });
        let lines = BufReader::new(output).lines();
        lines
            .map(|line| serde_json::from_str(&line.expect("it writes")).expect("JSON"))
            .collect()
    });
    child.wait().expect("it ends");
    answers
}

#[test]
fn decisions_and_escalations_are_those_of_kubernetes() {
    let Some(program) = std::env::var_os(PROGRAM).map(PathBuf::from) else {
        println!("skipped: {PROGRAM} is not set");
        return;
    };
    let count = std::env::var_os(COUNT).map_or(2_000, |it| {
        let count = it.to_str().and_then(|it| it.parse().ok());
        count.expect("the count is a number")
    });
    let mut random = Random::new(1);
    let worlds = usize::max(count / ASKS, 1);
    let (questions, ours): (Vec<_>, Vec<_>) = (0..worlds).map(|_| world(&mut random)).unzip();
    let theirs = answers(program, &questions);
    assert_eq!(theirs.len(), worlds);
    let (mut allowed, mut escalations, mut differ) = (0, 0, 0);
    for ((question, ours), theirs) in questions.iter().zip(&ours).zip(&theirs) {
        for (key, asked) in [("decisions", "asks"), ("grants", "grants")] {
            let of = |it: &Value| it[key].as_array().cloned().unwrap_or_default();
            for (index, (own, other)) in of(ours).iter().zip(&of(theirs)).enumerate() {
                allowed += usize::from(own["allowed"] == true);
                escalations += usize::from(own.as_str().is_some_and(|it| !it.is_empty()));
                if own != other {
                    differ += 1;
                    if differ <= 10 {
                        println!(
                            "{}\n  ours   {own}\n  theirs {other}",
                            question[asked][index]
                        );
                    }
                }
            }
        }
    }
    assert_eq!(
        differ,
        0,
        "of {} decisions and {} grants",
        worlds * ASKS,
        worlds * GRANTS
    );
    assert!(
        allowed > worlds && escalations > worlds,
        "too little is compared: {allowed} allow, {escalations} escalate"
    );
    println!(
        "{} decisions ({allowed} allow) and {} grants ({escalations} escalate) agree",
        worlds * ASKS,
        worlds * GRANTS
    );
}

//! Which senders may act as whom, and what is asked about it.

use super::*;
use kubist_authorization::{Authorizer, BoxFuture};
use parking_lot::Mutex;
use std::sync::Arc;

/// Allows what is listed, and records what it is asked.
#[derive(Debug, Default)]
struct Listed {
    allowed: Vec<&'static str>,
    asked: Mutex<Vec<String>>,
}

impl Authorizer for Listed {
    fn authorize<'a>(&'a self, attributes: Attributes<'a>) -> BoxFuture<'a, Decision> {
        let Action::Resource(it) = attributes.action else {
            return Box::pin(std::future::ready(Decision::NoOpinion(String::new())));
        };
        let text = format!("{} {}/{}", attributes.verb, it.resource, it.name);
        let decision = if self.allowed.contains(&&*text) {
            Decision::Allow(String::new())
        } else {
            Decision::NoOpinion("no".to_owned())
        };
        self.asked.lock().push(text);
        Box::pin(std::future::ready(decision))
    }
}

fn user(name: &str) -> User {
    User {
        name: name.into(),
        ..User::default()
    }
}

/// Tries to list Pods as somebody.
async fn act(
    allowed: &[&'static str],
    sender: &User,
    wanted: &User,
) -> (Result<Acting, String>, Vec<String>) {
    let listed = Arc::new(Listed {
        allowed: allowed.to_vec(),
        ..Listed::default()
    });
    let authorization = Authorization::by(Arc::clone(&listed) as Arc<dyn Authorizer>);
    let asked = Attributes {
        user: sender,
        verb: "list",
        action: Action::Resource(part("", "pods", "")),
    };
    let last = LastModes::default();
    let acting = authorize(&authorization, &last, asked, wanted).await;
    let acting = acting.map_err(|it| it.message.to_string());
    let asked = listed.asked.lock().clone();
    (acting, asked)
}

#[tokio::test]
async fn a_sender_may_be_limited_to_a_verb() {
    let allowed = [
        "impersonate-on:user-info:list pods/",
        "impersonate:user-info users/bob",
    ];
    let (acting, _) = act(&allowed, &user("alice"), &user("bob")).await;
    assert_eq!(acting.expect("it may").constraint, "impersonate:user-info");
    let (acting, asked) = act(&allowed[1..], &user("alice"), &user("bob")).await;
    let message = acting.expect_err("the verb is missing");
    assert!(
        message.starts_with(
            "pods is forbidden: User \"alice\" cannot impersonate-on:user-info:list resource \
             \"pods\""
        ),
        "{message}"
    );
    let last = [
        "impersonate-on:user-info:list pods/",
        "impersonate users/bob",
    ];
    assert_eq!(asked, last);
}

#[tokio::test]
async fn a_name_that_no_service_account_can_have_is_that_of_a_user() {
    let robot = user("system:serviceaccount:shop:B_");
    let allowed = ["impersonate serviceaccounts/B_"];
    let (acting, asked) = act(&allowed, &user("alice"), &robot).await;
    assert!(acting.is_err());
    let last = asked.last().map(String::as_str);
    assert_eq!(
        last,
        Some("impersonate users/system:serviceaccount:shop:B_")
    );
}

#[tokio::test]
async fn the_verb_of_old_still_counts() {
    let (acting, _) = act(&["impersonate users/bob"], &user("alice"), &user("bob")).await;
    assert_eq!(acting.expect("it may").constraint, "");
}

#[tokio::test]
async fn an_agent_acts_as_its_own_node_only() {
    let allowed = [
        "impersonate-on:associated-node:list pods/",
        "impersonate:associated-node nodes/*",
    ];
    let mut agent = user("system:serviceaccount:kube-system:agent");
    agent.extra.insert(NODE_NAME.into(), vec!["a".into()]);
    let (acting, _) = act(&allowed, &agent, &user("system:node:a")).await;
    let acting = acting.expect("it is its node");
    assert_eq!(acting.groups, [NODES_GROUP]);
    assert_eq!(acting.constraint, "impersonate:associated-node");
    let (acting, _) = act(&allowed, &agent, &user("system:node:b")).await;
    assert!(acting.is_err(), "it is another");
}

#[tokio::test]
async fn the_constrained_modes_never_give_everything() {
    let mut wanted = user("bob");
    wanted.groups = vec![MASTERS_GROUP.into()];
    let allowed = [
        "impersonate-on:user-info:list pods/",
        "impersonate:user-info users/bob",
        "impersonate:user-info groups/system:masters",
    ];
    let (acting, _) = act(&allowed, &user("alice"), &wanted).await;
    let message = acting.expect_err("it is refused");
    let why = "impersonating the system:masters group is not allowed";
    assert!(message.ends_with(why), "{message}");
}

#[tokio::test]
async fn many_groups_are_asked_about_at_once() {
    let mut wanted = user("bob");
    wanted.groups = ["a", "b", "c", "d"].map(Str::from).into();
    let allowed = [
        "impersonate-on:user-info:list pods/",
        "impersonate:user-info users/bob",
        "impersonate:user-info groups/*",
    ];
    let (acting, asked) = act(&allowed, &user("alice"), &wanted).await;
    assert_eq!(acting.expect("it may").groups, wanted.groups);
    assert_eq!(asked, allowed);
}

#[test]
fn extra_fields_have_domains() {
    let values = [Str::from("a")];
    assert_eq!(problem_of_extra("acme.com/scopes", &values), None);
    for (key, values, why) in [
        ("", &values[..], "the empty string key"),
        ("scopes", &values[..], "must be a domain-prefixed path"),
        ("acme.com/Scopes", &values[..], "non-lowercase"),
        ("acme.com/scopes", &[][..], "empty values"),
        (
            "acme.com/scopes",
            &[Str::default()][..],
            "the empty string value",
        ),
    ] {
        let problem = problem_of_extra(key, values).expect("it has a problem");
        assert!(problem.contains(why), "{problem}");
    }
}

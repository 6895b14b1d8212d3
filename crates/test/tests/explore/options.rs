//! Options of scenarios: roles and excuses.

use kubist::api::core::v1::ConfigMap;
use kubist::api::rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, Subject};
use kubist::apimachinery::{ListOptions, Str};
use kubist::client::{Api, ApiError, Client};
use kubist_test::Login;
use kubist_test::explore::{Exploration, Limits, Mistake, Problem, Scenario, explore, replay};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

async fn create(client: Client) -> Result<ConfigMap, ApiError> {
    let mut map = ConfigMap::default();
    map.metadata.name = "a".into();
    Api::namespaced(client, "default").create(&map).await
}

fn scenario() -> Scenario {
    Scenario::new("labels")
        .controller("labeler", crate::labeler::run)
        .step("a map is created", create)
}

/// Stores a role, which the service account of the controller has.
async fn allow(client: Client) -> Result<(), ApiError> {
    let rule = |verbs: &[&str]| PolicyRule {
        verbs: verbs.iter().map(|it| Str::from(*it)).collect(),
        api_groups: vec!["".into()],
        resources: vec!["configmaps".into()],
        ..PolicyRule::default()
    };
    let mut role = ClusterRole::default();
    role.metadata.name = "labeler".into();
    role.rules = vec![rule(&["get", "list", "watch", "patch"])];
    Api::all(client.clone()).create(&role).await?;
    let mut binding = ClusterRoleBinding::default();
    binding.metadata.name = "labeler".into();
    binding.role_ref.api_group = "rbac.authorization.k8s.io".into();
    binding.role_ref.kind = "ClusterRole".into();
    binding.role_ref.name = "labeler".into();
    binding.subjects = vec![Subject {
        kind: "ServiceAccount".into(),
        namespace: "default".into(),
        name: "labeler".into(),
        ..Subject::default()
    }];
    Api::all(client).create(&binding).await?;
    Ok(())
}

#[test]
fn a_controller_may_do_what_the_roles_of_its_account_allow() {
    let account = Login::service_account("default", "labeler");
    let scenario = scenario().obey_roles().acts_as("labeler", &account);
    let explored = explore(0..5, &scenario.clone().prepare("roles", allow));
    explored.assert_good();
    assert!(explored.writes() > 0, "{explored}");
    assert!(explored.forbidden().is_empty(), "{explored}");
    let explored = explore(0..5, &scenario);
    assert_eq!(explored.writes(), 0, "{explored}");
    let text = explored.to_string();
    assert!(text.contains("forbidden: labeler: "), "{text}");
}

fn message(explored: &Exploration) -> String {
    let failure = explored.failure();
    failure.map(|it| it.problem.to_string()).unwrap_or_default()
}

#[test]
fn a_scenario_with_a_mistake_is_refused() {
    let explored = explore(0..5, &scenario().excuse("ConfigMap", "data.x"));
    let expected = "the scenario has a mistake: the pointer of the excuse of ConfigMap data.x does \
                    not begin with /, as JSON pointers do";
    assert_eq!(message(&explored), expected);
    let nobody = Login::service_account("default", "labeler");
    let explored = explore(0..5, &scenario().acts_as("labeller", &nobody));
    let expected = "the scenario has a mistake: acts_as names the controller \"labeller\", and \
                    there is labeler";
    assert_eq!(message(&explored), expected);
}

#[test]
fn controllers_with_a_name_that_is_taken_are_refused() {
    let twice = scenario().controller("labeler", crate::labeler::run);
    let explored = explore(0..5, &twice);
    let name = "labeler".to_owned();
    let problem = explored.failure().map(|it| it.problem.clone());
    assert_eq!(problem, Some(Problem::Mistake(Mistake::SameName { name })));
    let told = "the scenario has a mistake: two controllers are called \"labeler\": each needs a \
                name of its own";
    assert_eq!(message(&explored), told);
    let user = scenario().controller("user", crate::labeler::run);
    let told = "the scenario has a mistake: a controller is called \"user\", as who takes the \
                steps: it needs another name";
    assert_eq!(message(&explore(0..5, &user)), told);
}

/// Notes a number in each map, which is another one in each world.
async fn number(client: Client, stop: CancellationToken) -> Result<(), ApiError> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    while !stop.is_cancelled() {
        for map in maps.list(&ListOptions::default()).await?.items {
            let note = |map: &mut ConfigMap| {
                let data = &mut map.data;
                data.insert("kept".into(), "1".into());
                let number = || client.ambient().number().to_string().into();
                data.entry("number".into()).or_insert_with(number);
            };
            maps.edit(&map.metadata.name, note).await?;
        }
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = tokio::time::sleep(Duration::from_secs(5)) => {}
        }
    }
    Ok(())
}

#[test]
fn an_excuse_without_a_difference_that_needs_it_is_named() {
    let scenario = Scenario::new("numbers")
        .controller("numbers", number)
        .step("a map is created", create)
        .excuse("ConfigMap", "/data/number")
        .excuse("ConfigMap", "/data/kept") // it is there, and the same in each world
        .excuse("ConfigMap", "/data/nubmer");
    let explored = explore(1..6, &scenario);
    explored.assert_good();
    let unused = ["kept", "nubmer"].map(|it| format!("the excuse of ConfigMap /data/{it}"));
    assert_eq!(explored.unused_excuses(), unused);
    let text = explored.to_string();
    assert!(text.ends_with("/data/nubmer excused nothing"), "{text}");
}

#[test]
fn no_bound_of_a_world_is_too_large() {
    let limits = Limits {
        settle: Duration::MAX,
        stop: Duration::MAX,
        blocked: Duration::MAX,
        world: Duration::MAX,
        writes: Some(u64::MAX),
        requests: u64::MAX,
        restarts: u32::MAX,
        shrink: usize::MAX,
        ..Limits::default()
    };
    let scenario = scenario().limits(limits).threads(usize::MAX);
    explore(0..3, &scenario).assert_good();
}

#[test]
fn a_panic_of_a_step_is_told_with_its_message() {
    let scenario = scenario().step("it is odd", |client| async move {
        let map: ConfigMap = Api::namespaced(client, "default").get("a").await?;
        assert_eq!(map.data.len(), 7, "seven are expected");
        Ok::<_, ApiError>(())
    });
    let explored = explore(0..2, &scenario);
    let told = message(&explored);
    assert!(told.starts_with("a step of the user panicked: "), "{told}");
    assert!(told.contains("seven are expected"), "{told}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "it blocks")]
fn a_preparation_that_blocks_is_left_alone() {
    let limits = Limits {
        world: Duration::from_millis(300),
        ..Limits::default()
    };
    let scenario = scenario().limits(limits).prepare("it waits", |_| async {
        std::thread::sleep(Duration::from_secs(3));
        Ok::<_, ApiError>(())
    });
    let told = message(&explore(0..2, &scenario));
    assert!(told.contains("no progress in real time"), "{told}");
    assert!(told.ends_with("the preparation"), "{told}");
}

#[test]
fn no_seeds_and_plans_that_are_not_there_are_no_success() {
    let told = message(&explore(5..5, &scenario()));
    assert_eq!(
        told,
        "the world cannot be set up: there are no seeds in 5..5, 1 times"
    );
    for text in ["3:f99", "3:s7"] {
        let wanted = text.parse().expect("it is a replay");
        let told = message(&replay(&wanted, &scenario()));
        assert!(told.contains(&format!("{text} names ")), "{told}");
    }
    let good = replay(&"3:f".parse().expect("it is a replay"), &scenario());
    assert!(good.is_good() && good.writes() > 0, "{good}");
}

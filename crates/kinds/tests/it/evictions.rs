//! Evictions, which respect the disruption budget of a Pod.

use crate::fixture::{Fixture, typed};
use crate::subresources::{pod, post, post_with};
use kubist_api::core::v1::{Pod, PodCondition};
use kubist_api::meta;
use kubist_api::policy::v1::{Eviction, PodDisruptionBudget};
use kubist_apimachinery::{Condition, IntOrString, PostOptions, Time};

pub(crate) async fn budget(fixture: &Fixture, name: &str, allowed: i32) -> PodDisruptionBudget {
    let mut budget = PodDisruptionBudget::default();
    budget.metadata.name = name.into();
    budget.spec.min_available = Some(IntOrString::Int(1));
    let selector = budget.spec.selector.get_or_insert_default();
    selector.match_labels.insert("app".into(), "web".into());
    let mut budget = fixture.create(budget).await;
    budget.status.observed_generation = 1;
    budget.status.disruptions_allowed = allowed;
    budget.status.desired_healthy = 1;
    budget.status.current_healthy = allowed;
    let updated = fixture
        .put_subresource("status", budget)
        .await
        .expect("fine");
    typed(&updated.object)
}

pub(crate) async fn running(fixture: &Fixture, name: &str, ready: &str) {
    let mut pod: Pod = fixture.create(pod(name)).await;
    pod.status.phase = "Running".into();
    pod.status.conditions.push(PodCondition {
        type_: "Ready".into(),
        status: ready.into(),
        ..PodCondition::default()
    });
    fixture.put_subresource("status", pod).await.expect("fine");
}

pub(crate) fn eviction(name: &str) -> Eviction {
    let mut eviction = Eviction::default();
    eviction.metadata.name = name.into();
    eviction
}

async fn left(fixture: &Fixture) -> (i32, bool) {
    let budget: PodDisruptionBudget = fixture.get("pdb").await.expect("it is there");
    let status = budget.status;
    (
        status.disruptions_allowed,
        status.disrupted_pods.contains_key("p1"),
    )
}

#[tokio::test]
async fn an_eviction_takes_from_the_budget_until_it_is_empty() {
    let fixture = Fixture::new().await;
    budget(&fixture, "pdb", 1).await;
    running(&fixture, "p1", "True").await;
    running(&fixture, "p2", "True").await;
    post(&fixture, "eviction", "p1", eviction("p1"))
        .await
        .expect("the budget has room");
    assert_eq!(left(&fixture).await, (0, true));
    assert!(fixture.get::<Pod>("p1").await.is_err());
    let status = post(&fixture, "eviction", "p2", eviction("p2"))
        .await
        .expect_err("none left");
    assert_eq!(
        (status.code, &*status.message),
        (
            429,
            "Cannot evict pod as it would violate the pod's disruption budget."
        )
    );
    let cause = &status.causes()[0];
    assert_eq!(
        (&*cause.reason, &*cause.message),
        (
            "DisruptionBudget",
            "The disruption budget pdb needs 1 healthy pods and has 1 currently"
        )
    );
    assert!(fixture.get::<Pod>("p2").await.is_ok());
    let missing = post(&fixture, "eviction", "none", eviction("none")).await;
    assert!(missing.is_err_and(|it| it.is_not_found()));
    let mismatch = post(&fixture, "eviction", "p2", eviction("p1")).await;
    assert!(mismatch.is_err_and(|it| it.is_bad_request()));
}

#[tokio::test]
async fn a_dry_run_eviction_leaves_the_budget_unchanged() {
    let fixture = Fixture::new().await;
    budget(&fixture, "pdb", 1).await;
    running(&fixture, "p1", "True").await;
    let mut dry = eviction("p1");
    let options = meta::v1::DeleteOptions {
        dry_run: vec!["All".into()],
        ..meta::v1::DeleteOptions::default()
    };
    dry.delete_options = Some(Box::new(options));
    post(&fixture, "eviction", "p1", dry)
        .await
        .expect("there is room");
    assert_eq!(left(&fixture).await, (1, false));
    let pod: Pod = fixture.get("p1").await.expect("it is still there");
    assert_eq!(pod.status.conditions.len(), 1);
}

#[tokio::test]
async fn an_unprocessed_budget_delays_an_eviction() {
    let fixture = Fixture::new().await;
    let mut stale = budget(&fixture, "pdb", 1).await;
    running(&fixture, "p1", "True").await;
    stale.status.observed_generation = 0;
    fixture
        .put_subresource("status", stale)
        .await
        .expect("fine");
    let status = post(&fixture, "eviction", "p1", eviction("p1"))
        .await
        .expect_err("not yet");
    let details = status.details.as_ref().expect("it says when");
    assert_eq!((status.code, details.retry_after_seconds), (429, 10));
    assert_eq!(
        status.causes()[0].message,
        "The disruption budget pdb is still being processed by the server."
    );
}

#[tokio::test]
async fn several_budgets_of_one_pod_are_an_error_of_the_server() {
    let fixture = Fixture::new().await;
    budget(&fixture, "pdb", 1).await;
    budget(&fixture, "other", 1).await;
    running(&fixture, "p1", "True").await;
    let status = post(&fixture, "eviction", "p1", eviction("p1"))
        .await
        .expect_err("which one is it");
    assert_eq!(
        (status.code, &*status.message),
        (
            500,
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does \
             not support."
        )
    );
}

#[tokio::test]
async fn a_pod_that_is_not_ready_goes_as_the_policy_says() {
    let fixture = Fixture::new().await;
    let mut pdb = budget(&fixture, "pdb", 0).await;
    running(&fixture, "p1", "False").await;
    // Too few Pods are healthy, so an unhealthy one is kept too: it may become healthy.
    let refused = post(&fixture, "eviction", "p1", eviction("p1")).await;
    assert!(refused.is_err_and(|it| it.code == 429));
    pdb.spec.unhealthy_pod_eviction_policy = Some("AlwaysAllow".into());
    pdb.metadata.resource_version = fixture
        .get::<PodDisruptionBudget>("pdb")
        .await
        .expect("it is there")
        .metadata
        .resource_version;
    let pdb: PodDisruptionBudget = typed(&fixture.put(pdb).await.expect("fine").object);
    post(&fixture, "eviction", "p1", eviction("p1"))
        .await
        .expect("it is of no use anyway");
    assert_eq!(left(&fixture).await, (0, false), "nothing was taken");

    let mut healthy = pdb;
    healthy.spec.unhealthy_pod_eviction_policy = Some("IfHealthyBudget".into());
    let stored = fixture.get::<PodDisruptionBudget>("pdb").await.expect("it");
    healthy.metadata.resource_version = stored.metadata.resource_version;
    let updated = fixture.put(healthy).await.expect("fine");
    let mut healthy: PodDisruptionBudget = typed(&updated.object);
    healthy.status.current_healthy = 1;
    healthy.status.observed_generation = healthy.metadata.generation;
    fixture
        .put_subresource("status", healthy)
        .await
        .expect("fine");
    running(&fixture, "p3", "False").await;
    post(&fixture, "eviction", "p3", eviction("p3"))
        .await
        .expect("enough others are healthy");
}

#[tokio::test]
async fn an_eviction_of_a_version_is_of_that_version_only() {
    let fixture = Fixture::new().await;
    running(&fixture, "p1", "True").await;
    let of_version = |version: &str| {
        let mut eviction = eviction("p1");
        let preconditions = meta::v1::Preconditions {
            uid: None,
            resource_version: Some(version.into()),
        };
        let options = meta::v1::DeleteOptions {
            preconditions: Some(Box::new(preconditions)),
            ..meta::v1::DeleteOptions::default()
        };
        eviction.delete_options = Some(Box::new(options));
        eviction
    };
    let before: Pod = fixture.get("p1").await.expect("it is there");
    let status = post(&fixture, "eviction", "p1", of_version("1"))
        .await
        .expect_err("it is another");
    let version = &before.metadata.resource_version;
    assert_eq!(
        (status.code, status.message.to_string()),
        (
            409,
            format!(
                "Operation cannot be fulfilled on Pod \"p1\": the ResourceVersion in the \
                 precondition (1) does not match the ResourceVersion in record ({version}). The \
                 object might have been modified"
            )
        )
    );
    let after: Pod = fixture.get("p1").await.expect("it is there");
    assert_eq!(after, before, "it is not marked");
    post(&fixture, "eviction", "p1", of_version(version))
        .await
        .expect("it is this version");
    assert!(fixture.get::<Pod>("p1").await.is_err());
}

#[tokio::test]
async fn a_budget_without_disruptions_says_why() {
    let fixture = Fixture::new().await;
    let mut budget = budget(&fixture, "pdb", 0).await;
    running(&fixture, "p1", "True").await;
    for (healthy, reason, expected) in [
        (
            0,
            "Other",
            "The disruption budget pdb needs 1 healthy pods and has 0 currently",
        ),
        (
            2,
            "Other",
            "The disruption budget pdb does not allow evicting pods currently",
        ),
        (
            0,
            "SyncFailed",
            "The disruption budget pdb does not allow evicting pods currently because it failed \
             sync: nobody knows",
        ),
    ] {
        budget.status.current_healthy = healthy;
        let condition = Condition {
            type_: "DisruptionAllowed".into(),
            status: "False".into(),
            reason: reason.into(),
            message: "nobody knows".into(),
            last_transition_time: Some(Time::from_unix(1)),
            ..Condition::default()
        };
        budget.status.conditions = vec![condition];
        budget = typed(
            &fixture
                .put_subresource("status", budget)
                .await
                .expect("fine")
                .object,
        );
        let status = post(&fixture, "eviction", "p1", eviction("p1"))
            .await
            .expect_err("none left");
        assert_eq!(status.causes()[0].message, expected);
    }
}

#[tokio::test]
async fn a_pod_that_its_budget_does_not_count_is_evicted_at_its_current_version() {
    let fixture = Fixture::new().await;
    let mut pdb = budget(&fixture, "pdb", 0).await;
    pdb.status.current_healthy = 1;
    fixture.put_subresource("status", pdb).await.expect("fine");
    running(&fixture, "p1", "Maybe").await;
    let under = |preconditions: meta::v1::Preconditions| {
        let mut eviction = eviction("p1");
        let options = meta::v1::DeleteOptions {
            preconditions: Some(Box::new(preconditions)),
            ..meta::v1::DeleteOptions::default()
        };
        eviction.delete_options = Some(Box::new(options));
        eviction
    };
    let another = under(meta::v1::Preconditions {
        uid: Some("x".into()),
        resource_version: None,
    });
    let status = post(&fixture, "eviction", "p1", another)
        .await
        .expect_err("it is not that pod");
    assert_eq!(
        (status.code, &*status.causes()[0].message),
        (
            429,
            "The disruption budget pdb is still being processed by the server."
        )
    );
    // Upstream drops the precondition on the resource version.
    let of_version = |version: &str| {
        under(meta::v1::Preconditions {
            uid: None,
            resource_version: Some(version.into()),
        })
    };
    let before: Pod = fixture.get("p1").await.expect("it is there");
    let status = post(&fixture, "eviction", "p1", of_version("1"))
        .await
        .expect_err("it is another version");
    assert_eq!(status.code, 409);
    assert_eq!(fixture.get::<Pod>("p1").await.expect("it stays"), before);
    let version = &before.metadata.resource_version;
    post(&fixture, "eviction", "p1", of_version(version))
        .await
        .expect("it is spared");
    assert!(fixture.get::<Pod>("p1").await.is_err());
}

#[tokio::test]
async fn the_dry_run_options_of_an_eviction_must_match() {
    let fixture = Fixture::new().await;
    running(&fixture, "p1", "True").await;
    let evict = async |dry_run: bool, stages: &[&str]| {
        let mut eviction = eviction("p1");
        let options = meta::v1::DeleteOptions {
            dry_run: stages.iter().map(|it| (*it).into()).collect(),
            ..meta::v1::DeleteOptions::default()
        };
        eviction.delete_options = Some(Box::new(options));
        let options = PostOptions {
            dry_run,
            ..PostOptions::default()
        };
        post_with(&fixture, "eviction", "p1", eviction, &options).await
    };
    let before: Pod = fixture.get("p1").await.expect("it is there");
    for (dry_run, stages) in [(true, &[][..]), (true, &["All"]), (false, &["All"])] {
        evict(dry_run, stages).await.expect("it could go");
    }
    let status = evict(true, &["None"]).await.expect_err("which one is it");
    assert_eq!(
        (status.code, &*status.message),
        (
            400,
            "Non-matching dry-run options in request and content: [All] and [None]"
        )
    );
    let status = evict(true, &["All", "x"]).await.expect_err("it says more");
    assert!(status.message.ends_with("[All] and [All x]"), "{status:?}");
    assert_eq!(
        evict(false, &["None"]).await.expect_err("no stage").code,
        422
    );
    assert_eq!(fixture.get::<Pod>("p1").await.expect("it stays"), before);
    evict(false, &[]).await.expect("nothing is dry");
    assert!(fixture.get::<Pod>("p1").await.is_err());
}

#[tokio::test]
async fn an_eviction_reads_its_pod() {
    let fixture = Fixture::new().await;
    let mut eviction = eviction("p1");
    let options = meta::v1::DeleteOptions {
        ignore_store_read_error_with_cluster_breaking_potential: Some(true),
        ..meta::v1::DeleteOptions::default()
    };
    eviction.delete_options = Some(Box::new(options));
    let status = post(&fixture, "eviction", "p1", eviction)
        .await
        .expect_err("it cannot do without");
    assert_eq!(
        status.causes()[0].field,
        "deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential"
    );
}

//! Evictions and bindings with concurrent writes.

use super::*;
use crate::evictions::{budget, eviction, running};
use crate::subresources::{pod, post};
use kubist_api::core::v1::{Binding, Pod};
use kubist_api::policy::v1::PodDisruptionBudget;
use kubist_apimachinery::DeleteOptions;

fn at_once() -> DeleteOptions {
    DeleteOptions {
        grace_period_seconds: Some(0),
        ..DeleteOptions::default()
    }
}

async fn allowed(pair: &Pair) -> i32 {
    let budget: PodDisruptionBudget = pair.second.get("pdb").await.expect("it is there");
    budget.status.disruptions_allowed
}

#[tokio::test]
async fn an_eviction_does_not_delete_a_pod_that_was_not_checked_against_its_budget() {
    at_every_call(
        async |pair: &Pair| {
            budget(&pair.second, "pdb", 3).await;
            running(&pair.second, "a", "True").await;
        },
        async |pair: &Pair| post(&pair.first, "eviction", "a", eviction("a")).await,
        |pair| {
            Box::pin(async move {
                let second = &pair.second;
                drop(second.delete::<Pod>("a", at_once()).await);
                running(second, "a", "True").await;
                let new: Pod = second.get("a").await.expect("it is there");
                new.metadata.uid
            })
        },
        async |pair: &Pair, evicted, new, at| {
            let left: Result<Pod, _> = pair.second.get("a").await;
            let taken = 3 - allowed(pair).await;
            match (evicted, new) {
                // The old Pod was marked for deletion, and the other request has removed it.
                (Ok(()), Some(new)) if left.is_ok() => {
                    assert_eq!(left.expect("it is").metadata.uid, new, "{at}");
                    assert_eq!(taken, 1, "{at}: for the old one");
                }
                // It may have used the budget for both Pods in turn, but never for the old one
                // alone.
                (Ok(()), _) => {
                    assert!(left.is_err(), "{at}");
                    assert!((1..=2).contains(&taken), "{at}: {taken}");
                    assert!(at > 1 || taken == 1, "{at}: {taken}");
                }
                (Err(status), Some(new)) => {
                    assert!(status.is_conflict() || status.is_not_found(), "{status:?}");
                    assert_eq!(left.expect("it stays").metadata.uid, new, "{at}");
                }
                (Err(status), None) => panic!("{at} {status:?}"),
            }
        },
    )
    .await;
}

#[tokio::test]
async fn a_pod_that_a_budget_counts_meanwhile_is_checked_again() {
    at_every_call(
        async |pair: &Pair| {
            budget(&pair.second, "pdb", 0).await;
            running(&pair.second, "a", "True").await;
            let rest = pair.second.of::<Pod>();
            let apart = |object: &mut dyn AnyObject| {
                object.meta_mut().labels.clear();
            };
            patch(&pair.second, &rest, "a", apart).await.expect("fine");
        },
        async |pair: &Pair| post(&pair.first, "eviction", "a", eviction("a")).await,
        |pair| {
            Box::pin(async move {
                let rest = pair.second.of::<Pod>();
                let counted = |object: &mut dyn AnyObject| {
                    object.meta_mut().labels.insert("app".into(), "web".into());
                };
                let patched = patch(&pair.second, &rest, "a", counted).await;
                let patched = patched.ok()?;
                Some(patched.object().ok()?.meta().is_terminating())
            })
        },
        async |pair: &Pair, evicted, counted, at| {
            let left: Result<Pod, _> = pair.second.get("a").await;
            if counted == Some(Some(false)) {
                // The budget counts the Pod, and allows no disruption.
                assert_eq!(evicted.expect_err("it is full").code, 429, "{at}");
                let left = left.expect("it stays");
                assert!(!left.metadata.is_terminating(), "{at}");
            } else {
                evicted.expect("nothing counts it");
                let stays = left.is_ok_and(|it| !it.metadata.is_terminating());
                assert!(!stays, "{at}");
            }
        },
    )
    .await;
}

#[tokio::test]
async fn a_pod_is_bound_once() {
    let binding = |node: &str| {
        let mut binding = Binding::default();
        binding.metadata.name = "a".into();
        binding.target.name = node.into();
        binding
    };
    let runs = at_every_call(
        async |pair: &Pair| {
            pair.second.create(pod("a")).await;
        },
        async |pair: &Pair| post(&pair.first, "binding", "a", binding("one")).await,
        move |pair| {
            Box::pin(async move {
                post(&pair.second, "binding", "a", binding("two"))
                    .await
                    .is_ok()
            })
        },
        async |pair: &Pair, bound, other, at| {
            let left: Pod = pair.second.get("a").await.expect("it is there");
            assert_ne!(other, Some(false), "it comes first");
            let node = if other.is_some() { "two" } else { "one" };
            assert_eq!(left.spec.node_name, node, "{at}");
            assert_eq!(bound.is_ok(), other.is_none(), "{at}");
        },
    )
    .await;
    assert!(runs > 2);
}

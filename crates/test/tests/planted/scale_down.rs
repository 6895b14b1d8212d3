//! Scales down by counting what its cache shows, which may be gone already.

use crate::support::{Case, NAMESPACE, Reconciled, Version, create, delete, is_parent, manage};
use crate::support::{merge, or_exists, parent, pod};
use kubist::api::core::v1::{ConfigMap, Pod};
use kubist::apimachinery::ObjectName;
use kubist::cache::Lister;
use kubist::client::{ApiError, Client};
use kubist::controller::{Action, Controller};
use kubist::informers::SharedInformerFactory;
use kubist_test::explore::{Problem, Scenario, State};
use serde_json::json;
use std::sync::Arc;

pub(crate) const CASE: Case = Case {
    name: "scales down by counting a stale list",
    scenario,
    is_found: |problem| matches!(problem, Problem::Invariant { .. }),
};

fn scenario(version: Version) -> Scenario {
    Scenario::new("scale")
        .controller("scale", move |client, stop| {
            let factory = SharedInformerFactory::new(client.clone());
            let sets = factory.informer::<ConfigMap>();
            let pods = factory.informer::<Pod>();
            let this = Arc::new(Scale {
                client,
                sets: sets.lister_unsynced(),
                pods: pods.lister_unsynced(),
                version,
            });
            let controller = Controller::new("scale", &sets)
                .watches(&pods, |_: &Pod| vec![ObjectName::new(NAMESPACE, "set")]);
            let reconcile = move |key| {
                let this = Arc::clone(&this);
                async move { this.reconcile(&key).await }
            };
            manage(factory, controller, reconcile, stop)
        })
        .step("a set of 4 is created", |client| {
            create(client, parent("set", &[("size", "4")]))
        })
        .step("it is scaled to 2", |client| {
            merge::<ConfigMap>(client, "set", json!({"data": {"size": "2"}}))
        })
        .invariant("no more pods are deleted than wanted", enough_are_left)
}

fn size_of(set: &ConfigMap) -> usize {
    set.data
        .get("size")
        .and_then(|it| it.parse().ok())
        .unwrap_or(0)
}

fn enough_are_left(state: &State) -> Result<(), String> {
    let Some(change) = state.change() else {
        return Ok(());
    };
    let size = state
        .get::<ConfigMap>(NAMESPACE, "set")
        .map_or(0, |it| size_of(&it));
    let left = state.all::<Pod>().len();
    let is_deletion = change.kind() == "Pod" && change.after().is_none();
    if is_deletion && left < size {
        return Err(format!("{left} of {size} pods are left after a deletion"));
    }
    Ok(())
}

struct Scale {
    client: Client,
    sets: Lister<ConfigMap>,
    pods: Lister<Pod>,
    version: Version,
}

impl Scale {
    async fn reconcile(&self, key: &ObjectName) -> Reconciled {
        let Some(set) = self.sets.get(key).filter(|it| is_parent(it)) else {
            return Ok(Action::done());
        };
        let size = size_of(&set);
        if self.version.is_fixed() {
            self.by_number(size).await?;
        } else {
            self.by_count(size).await?;
        }
        Ok(Action::done())
    }

    /// Each pod has a number, so it is known which have to be there.
    async fn by_number(&self, size: usize) -> Result<(), ApiError> {
        for number in 0..size {
            let name = format!("set-{number}");
            if self.pods.find(NAMESPACE, &name).is_none() {
                or_exists(create(self.client.clone(), pod(&name)).await)?;
            }
        }
        for pod in self.pods.list() {
            let number = pod.metadata.name.strip_prefix("set-");
            let number = number.and_then(|it| it.parse::<usize>().ok());
            if number.is_some_and(|it| it >= size) {
                // What is wanted now is asked for again: the cache may be behind.
                let maps =
                    kubist::client::Api::<ConfigMap>::namespaced(self.client.clone(), NAMESPACE);
                let now = maps.get_opt("set").await?.map_or(0, |it| size_of(&it));
                if number.is_some_and(|it| it >= now) {
                    delete::<Pod>(self.client.clone(), &pod.metadata.name).await?;
                }
            }
        }
        Ok(())
    }

    /// Any pod is as good as another; so some are chosen.
    async fn by_count(&self, size: usize) -> Result<(), ApiError> {
        let mut pods = self.pods.list();
        for _ in pods.len()..size {
            let mut new = pod("");
            new.metadata.generate_name = "set-".into();
            create(self.client.clone(), new).await?;
        }
        while pods.len() > size {
            let number = self.client.ambient().number() % pods.len() as u64;
            let chosen = pods.swap_remove(usize::try_from(number).unwrap_or(0));
            delete::<Pod>(self.client.clone(), &chosen.metadata.name).await?;
        }
        Ok(())
    }
}

//! Works on after its term, because it asks only once whether it leads.

use crate::support::{Case, NAMESPACE, Version, create, parent};
use kubist::api::core::v1::ConfigMap;
use kubist::client::{Api, ApiError, Client};
use kubist::leader_election::{LeaderElectionConfig, LeaderElector, LeaseLock, Term};
use kubist_test::explore::{Limits, Problem, Scenario};
use std::error::Error;
use std::time::Duration;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// How far the leaders count.
const LAST: u32 = 12;
const PAUSE: Duration = Duration::from_secs(2);

pub(crate) const CASE: Case = Case {
    name: "two leaders write",
    scenario,
    is_found: |problem| matches!(problem, Problem::DeposedWrite { .. }),
};

fn scenario(version: Version) -> Scenario {
    let limits = Limits {
        quiet: Duration::from_secs(40), // leases are renewed all the while
        ..Limits::default()
    };
    Scenario::new("leaders")
        .limits(limits)
        .copies("counter", 2, move |client, stop| async move {
            Box::pin(run(client, stop, version))
                .await
                .map_err(|it| it.to_string())
        })
        .step("counting begins", |client| {
            create(client, parent("count", &[("count", "0")]))
        })
}

async fn run(
    client: Client,
    stop: CancellationToken,
    version: Version,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let lock = LeaseLock::new(client.clone(), NAMESPACE, "counter");
    loop {
        let mut elector = LeaderElector::new(LeaderElectionConfig::new(lock.clone()))?;
        if version.is_fixed() {
            let work = |term: Term| count(client.clone(), stop.clone(), Some(term));
            // Another one leads; this is a candidate again.
            drop(elector.run(stop.clone(), work).await);
        } else {
            // The lease is only waited for, and renewed beside the work.
            let leading = elector.watch();
            let renew = elector.run(stop.clone(), |term: Term| async move {
                term.token().cancelled().await;
            });
            let work = async {
                let mut leading = leading;
                let led = tokio::select! {
                    biased;
                    () = stop.cancelled() => None,
                    term = leading.leading() => term,
                };
                if led.is_some() {
                    Box::pin(count(client.clone(), stop.clone(), None)).await;
                }
            };
            let (_, ()) = tokio::join!(renew, work);
        }
        if stop.is_cancelled() {
            return Ok(());
        }
    }
}

async fn count(client: Client, stop: CancellationToken, term: Option<Term>) {
    loop {
        let paused = async {
            sleep(PAUSE).await;
            match &term {
                Some(term) => Box::pin(term.run(one(&client, true)))
                    .await
                    .unwrap_or(Ok(())),
                None => one(&client, false).await,
            }
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            counted = paused => drop(counted), // the next turn tries again
        }
        if term.as_ref().is_some_and(|it| !it.is_held()) {
            return;
        }
    }
}

/// Counts one further.
async fn one(client: &Client, is_checked: bool) -> Result<(), ApiError> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let Some(mut map) = maps.get_opt("count").await? else {
        return Ok(());
    };
    let count: u32 = map
        .data
        .get("count")
        .and_then(|it| it.parse().ok())
        .unwrap_or(0);
    if count < LAST {
        map.data
            .insert("count".into(), (count + 1).to_string().into());
        if !is_checked {
            map.metadata.resource_version = kubist::apimachinery::Str::default();
        }
        maps.replace(&map).await?;
    }
    Ok(())
}

//! What a story of an exploration says besides what happened: its heading, the faults, what to do.

use crate::explore::outcome::Outcome;
use crate::explore::plan::{Fault, Plan};
use crate::explore::problem::Problem;
use crate::explore::replay::{Replay, SEED_VARIABLE};
use crate::explore::scenario::Scenario;
use crate::story::Story;

/// Tells a run that failed. `plan` is what went wrong in it, and how it is run again; none if it
/// fails without faults.
pub(crate) fn tell(
    scenario: &Scenario,
    problem: &Problem,
    plan: Option<(&Plan, &Replay)>,
    told: &Outcome,
) -> Story {
    let of = match plan {
        Some((_, replay)) => format!("seed {}", replay.seed),
        None => "without any fault".to_owned(),
    };
    let heading = format!("{}, {of}: {problem}", scenario.name);
    let faults = plan.map(|(plan, _)| faults(scenario, plan, &told.struck));
    let end = end(scenario, problem, plan.map(|(_, replay)| replay));
    Story::tell(heading, faults.unwrap_or_default(), &told.entries, end)
}

fn faults(scenario: &Scenario, plan: &Plan, struck: &[Option<Fault>]) -> Vec<String> {
    let describe = |(index, planned): (usize, &Fault)| {
        // What was planned may be impossible for the request at which it struck.
        let fault = struck.get(index).and_then(Option::as_ref);
        let fault = fault.unwrap_or(planned);
        let candidate = scenario.controllers.get(fault.controller);
        fault.describe(candidate.map_or("a controller", |it| it.name.as_str()))
    };
    let faults = plan.faults.iter().enumerate().map(describe);
    let mut faults: Vec<String> = faults.collect();
    if !plan.delay_max.is_zero() {
        faults.push(format!(
            "requests and events take up to {:?}",
            plan.delay_max
        ));
    }
    faults
}

fn end(scenario: &Scenario, problem: &Problem, replay: Option<&Replay>) -> Vec<String> {
    let mut end = Vec::new();
    let advice = problem.advice();
    if !advice.is_empty() {
        end.push(format!("what to do: {advice}"));
    }
    if let Some(replay) = replay {
        let thread = std::thread::current();
        let test = scenario.test.as_deref().or_else(|| thread.name());
        let test = test
            .filter(|it| *it != "main")
            .unwrap_or("NAME_OF_THE_TEST");
        end.push(format!(
            "to run it again: {SEED_VARIABLE}={replay} cargo test -- {test}"
        ));
        end.push(format!(
            "or in code: replay(&\"{replay}\".parse()?, &scenario)"
        ));
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::ground::Ground;
    use crate::explore::plan::{Failing, FaultKind};
    use crate::explore::pool::{self, Job, Shared};
    use kubist::api::core::v1::ConfigMap;
    use kubist::client::{Api, ApiError, Client};
    use std::sync::Arc;
    use tokio_util::sync::CancellationToken;

    async fn create(client: &Client, name: &str) -> Result<ConfigMap, ApiError> {
        let mut map = ConfigMap::default();
        map.metadata.name = name.into();
        Api::namespaced(client.clone(), "default")
            .create(&map)
            .await
    }

    /// Creates a map, and if that fails, one whose name says what it was told.
    async fn run(client: Client, stop: CancellationToken) -> Result<(), ApiError> {
        if let Err(error) = create(&client, "a").await {
            let code = error.status().map_or(0, |it| it.code);
            create(&client, &format!("told-{code}")).await?;
        }
        stop.cancelled().await;
        Ok(())
    }

    #[test]
    fn a_conflict_that_a_create_cannot_have_is_told_as_what_the_client_got() {
        let scenario = Scenario::new("creates").controller("operator", run);
        let ground = Ground::prepare(&scenario).expect("there is nothing to prepare");
        let conflict = Fault {
            controller: 0,
            at: 1,
            kind: FaultKind::Fail {
                failing: Failing::Conflict,
                of_writes: true,
            },
        };
        let plan = Plan {
            faults: vec![conflict],
            ..Plan::default()
        };
        let job = Job {
            plan: plan.clone(),
            reference: None,
            in_full: true,
        };
        let shared = Arc::new(Shared {
            scenario: scenario.clone(),
            ground,
        });
        let outcome = pool::run_one(&shared, job);
        let (problem, replay) = (crate::explore::ground::setup("none"), Replay::seed(0));
        let story = tell(&scenario, &problem, Some((&plan, &replay)), &outcome);
        let told = story.to_string();
        assert!(
            told.contains("created ConfigMap default/told-500"),
            "{told}"
        );
        let lines = told.matches("operator's write 1 is answered 500").count();
        assert_eq!(lines, 2, "what goes wrong, and when it does: {told}");
        assert!(!told.contains("409"), "{told}");
    }
}

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

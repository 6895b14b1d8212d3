//! Makes a failing run smaller: fewer faults, fewer steps, no delays, the same kind of failure.

use crate::explore::outcome::Outcome;
use crate::explore::plan::{Kept, Outline, Plan};
use crate::explore::pool::{self, Job, Shared};
use crate::explore::problem::Problem;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How much earlier a fault is tried when a step is left out.
const MOVES_MAX: u64 = 12;

/// Makes runs of one scenario, and remembers how they end without faults.
pub(crate) struct Bench {
    pub(crate) shared: Arc<Shared>,
    pub(crate) outline: Outline,
    references: BTreeMap<Vec<usize>, Arc<Outcome>>,
    runs_left: usize,
}

impl Bench {
    /// `reference` is the run without faults of all steps.
    pub(crate) fn new(shared: &Arc<Shared>, outline: Outline, reference: Arc<Outcome>) -> Self {
        let all = (0..outline.steps).collect();
        Self {
            shared: Arc::clone(shared),
            outline,
            references: BTreeMap::from([(all, reference)]),
            runs_left: shared.scenario.limits.shrink,
        }
    }

    /// Runs what is kept of a seed. None if its steps fail even without faults.
    pub(crate) fn run(&mut self, seed: u64, kept: &Kept, in_full: bool) -> Option<Outcome> {
        let plan = Plan::of(seed, kept.clone(), &self.outline);
        let steps = plan.steps.iter().map(|(index, _)| *index).collect();
        let reference = Some(self.reference(steps)?);
        let job = Job {
            plan,
            reference,
            in_full,
        };
        Some(pool::run_one(&self.shared, job))
    }

    fn reference(&mut self, steps: Vec<usize>) -> Option<Arc<Outcome>> {
        if let Some(known) = self.references.get(&steps) {
            return known.problem.is_none().then(|| Arc::clone(known));
        }
        let job = Job {
            plan: Plan::calm(steps.iter().copied()),
            reference: None,
            in_full: false,
        };
        let reference = Arc::new(pool::run_one(&self.shared, job));
        self.references.insert(steps, Arc::clone(&reference));
        reference.problem.is_none().then_some(reference)
    }

    fn fails_alike(&mut self, seed: u64, kept: &Kept, problem: &Problem) -> bool {
        if self.runs_left == 0 {
            return false;
        }
        self.runs_left -= 1;
        let outcome = self.run(seed, kept, false);
        let found = outcome.and_then(|it| it.problem);
        found.is_some_and(|it| problem.is_like(&it))
    }

    /// Returns the smallest part of a seed's plan that was found to fail alike.
    pub(crate) fn shrink(&mut self, seed: u64, kept: Kept, problem: &Problem) -> Kept {
        let mut best = kept;
        if matches!(problem, Problem::Blocked { .. }) {
            return best; // each attempt would take as long
        }
        loop {
            let before = best.clone();
            for smaller in [
                |it: &mut Kept| it.no_delays = true,
                |it: &mut Kept| it.no_hurry = true,
            ] {
                let mut candidate = best.clone();
                smaller(&mut candidate);
                if candidate != best && self.fails_alike(seed, &candidate, problem) {
                    best = candidate;
                }
            }
            let whole = Plan::of(seed, Kept::default(), &self.outline);
            let all: Vec<usize> = (0..whole.faults.len()).collect();
            let faults = best.faults.clone().unwrap_or(all);
            best = self.without_some(seed, best, faults, problem, |it, faults| {
                it.faults = Some(faults);
            });
            best = self.without_steps(seed, best, &whole, problem);
            if best == before || self.runs_left == 0 {
                return best;
            }
        }
    }

    /// Leaves out steps from the last. With fewer steps, what a fault has to strike at may come
    /// earlier, so if the failure is gone without a step, each fault is tried there too.
    fn without_steps(
        &mut self,
        seed: u64,
        mut best: Kept,
        whole: &Plan,
        problem: &Problem,
    ) -> Kept {
        let all: Vec<usize> = whole.steps.iter().map(|(index, _)| *index).collect();
        let mut steps = best.steps.clone().unwrap_or(all);
        for index in (0..steps.len()).rev() {
            let mut fewer = steps.clone();
            fewer.remove(index);
            let mut candidate = best.clone();
            candidate.steps = Some(fewer.clone());
            let found = if self.fails_alike(seed, &candidate, problem) {
                Some(candidate)
            } else {
                self.with_a_fault_moved(seed, &candidate, whole, problem)
            };
            if let Some(found) = found {
                (best, steps) = (found, fewer);
            }
        }
        best
    }

    /// Tries each kept fault at every earlier write, request or event.
    fn with_a_fault_moved(
        &mut self,
        seed: u64,
        kept: &Kept,
        whole: &Plan,
        problem: &Problem,
    ) -> Option<Kept> {
        for (index, fault) in whole.faults.iter().enumerate() {
            if kept.faults.as_ref().is_some_and(|it| !it.contains(&index)) {
                continue;
            }
            let at = kept.moved.get(&index).copied().unwrap_or(fault.at);
            for earlier in (at.saturating_sub(MOVES_MAX).max(1)..at).rev() {
                let mut candidate = kept.clone();
                // Only kept faults are written with their place.
                let all = || (0..whole.faults.len()).collect();
                candidate.faults.get_or_insert_with(all);
                candidate.moved.insert(index, earlier);
                if self.fails_alike(seed, &candidate, problem) {
                    return Some(candidate);
                }
            }
        }
        None
    }

    /// Leaves out one after the other, from the last.
    fn without_some(
        &mut self,
        seed: u64,
        mut best: Kept,
        mut items: Vec<usize>,
        problem: &Problem,
        set: impl Fn(&mut Kept, Vec<usize>),
    ) -> Kept {
        for index in (0..items.len()).rev() {
            let mut fewer = items.clone();
            fewer.remove(index);
            let mut candidate = best.clone();
            set(&mut candidate, fewer.clone());
            if self.fails_alike(seed, &candidate, problem) {
                (best, items) = (candidate, fewer);
            }
        }
        best
    }
}

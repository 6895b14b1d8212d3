//! Stories: what happened in a run that failed, told for people.
//!
//! A story has the steps of the user, the faults, and every write: by whom, what changed, and what
//! the writer's cache showed if that was an older version. It ends with what is wrong, what the
//! caches showed then, and how to run it again.
//!
//! It is not a log: reads, and what happens beside the work (leases, events), are left out.

mod caches;
mod lines;

use crate::explore::plan::Plan;
use crate::explore::{Problem, Replay, SEED_VARIABLE, Scenario};
use crate::explore::outcome::Outcome;
use lines::Teller;
pub use lines::Line;
use std::fmt;

/// A story with more lines is cut in the middle.
const LINES_MAX: usize = 60;
/// The lines that are kept of its beginning then.
const BEGINNING: usize = 15;

/// What happened in a run that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Story {
    heading: String,
    faults: Vec<String>,
    lines: Vec<Line>,
    left_out: usize,
    caches: Vec<String>,
    end: Vec<String>,
}

/// What a story is about.
pub(crate) struct Heading<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) problem: &'a Problem,
    /// `None` if it fails without faults.
    pub(crate) replay: Option<&'a Replay>,
}

impl Story {
    pub(crate) fn tell(heading: &Heading<'_>, plan: Option<&Plan>, told: &Outcome) -> Self {
        let Heading {
            scenario,
            problem,
            replay,
        } = heading;
        let of = match replay {
            Some(replay) => format!("seed {}", replay.seed),
            None => "without any fault".to_owned(),
        };
        let faults = plan.map(|plan| {
            let describe = |fault: &crate::explore::plan::Fault| {
                let candidate = scenario.controllers.get(fault.controller);
                fault.describe(candidate.map_or("a controller", |it| it.name.as_str()))
            };
            let mut faults: Vec<String> = plan.faults.iter().map(describe).collect();
            if !plan.delay_max.is_zero() {
                let most = plan.delay_max;
                faults.push(format!("requests and events take up to {most:?}"));
            }
            faults
        });
        let mut teller = Teller::default();
        told.entries.iter().for_each(|it| teller.hear(it));
        let (mut lines, caches) = teller.end();
        let mut left_out = 0;
        if lines.len() > LINES_MAX {
            left_out = lines.len() - LINES_MAX;
            lines.drain(BEGINNING..BEGINNING + left_out);
        }
        Self {
            heading: format!("{}, {of}: {problem}", scenario.name),
            faults: faults.unwrap_or_default(),
            lines,
            left_out,
            caches,
            end: end(heading),
        }
    }

    /// Returns the lines: what happened, in order.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Returns the number of lines of the whole text.
    pub fn len(&self) -> usize {
        self.to_string().lines().count()
    }

    /// Reports whether nothing is told.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

fn end(heading: &Heading<'_>) -> Vec<String> {
    let mut end = Vec::new();
    let advice = heading.problem.advice();
    if !advice.is_empty() {
        end.push(format!("what to do: {advice}"));
    }
    if let Some(replay) = heading.replay {
        let thread = std::thread::current();
        let test = heading.scenario.test.as_deref().or(thread.name());
        let test = test.filter(|it| *it != "main").unwrap_or("NAME_OF_THE_TEST");
        end.push(format!(
            "to run it again: {SEED_VARIABLE}={replay} cargo test -- {test}"
        ));
        end.push(format!(
            "or in code: replay(&\"{replay}\".parse()?, &scenario)"
        ));
    }
    end
}

impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.heading)?;
        if !self.faults.is_empty() {
            writeln!(f, "what goes wrong:")?;
            self.faults.iter().try_for_each(|it| writeln!(f, "    {it}"))?;
        }
        if !self.lines.is_empty() {
            writeln!(f, "what happened:")?;
        }
        for (index, line) in self.lines.iter().enumerate() {
            if self.left_out > 0 && index == BEGINNING {
                writeln!(f, "    … {} lines left out …", self.left_out)?;
            }
            writeln!(f, "    {line}")?;
        }
        if !self.caches.is_empty() {
            writeln!(f, "what caches showed then, and what was stored:")?;
            self.caches.iter().try_for_each(|it| writeln!(f, "    {it}"))?;
        }
        self.end.iter().try_for_each(|it| writeln!(f, "{it}"))
    }
}

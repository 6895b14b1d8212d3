//! Several rounds of a short benchmark, in which the systems take turns: A B C, A B C. Work of
//! other programs, and a processor that slows down, then meet all of them and not the last.

use super::samples::Samples;
use clap::Args;
use kubist_test_support::process::Outcome;
use serde_json::{Value, json};
use std::process::Command;

/// How often the short benchmarks measure.
#[derive(Args, Clone, Copy)]
pub(super) struct Rounds {
    /// Rounds of apply, workloads, cache, queue, fanout and codec, in which the systems take turns;
    /// tables show the median and the spread
    #[arg(
        long, global = true, default_value_t = 5, value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(super) rounds: u32,
}

impl Rounds {
    /// The sentence for a report.
    pub(super) fn sentence(self) -> String {
        match self.rounds {
            1 => "One round.".to_owned(),
            it => format!("Median of {it} rounds, ± their spread."),
        }
    }
}

/// A system that is measured, and how its program is started.
pub(super) struct Contestant<'a> {
    name: &'static str,
    command: Box<dyn Fn() -> Command + 'a>,
}

impl<'a> Contestant<'a> {
    pub(super) fn new(name: &'static str, command: impl Fn() -> Command + 'a) -> Self {
        let command = Box::new(command);
        Self { name, command }
    }
}

/// What a system printed.
pub(super) struct System {
    pub(super) name: &'static str,
    /// The lines of each round.
    rounds: Vec<Vec<Value>>,
}

impl System {
    #[cfg(test)]
    pub(super) fn of(name: &'static str, rounds: Vec<Vec<Value>>) -> Self {
        Self { name, rounds }
    }

    /// Returns the number under a key in the lines of a case.
    pub(super) fn samples(&self, case: &str, key: &str) -> Samples {
        self.figure(case, |line| line[key].as_f64().unwrap_or(f64::NAN))
    }

    /// Returns what follows from the line of a case in each round.
    pub(super) fn figure(&self, case: &str, of: impl Fn(&Value) -> f64) -> Samples {
        let line = |lines: &&Vec<Value>| lines.iter().position(|line| line["case"] == *case);
        Samples::new((self.rounds.iter()).filter_map(|lines| line(&lines).map(|at| of(&lines[at]))))
    }

    /// Returns the line of a case in the last round.
    pub(super) fn last(&self, case: &str) -> Option<&Value> {
        self.rounds
            .last()?
            .iter()
            .find(|line| line["case"] == *case)
    }

    pub(super) fn json(&self) -> Value {
        json!({"peer": self.name, "rounds": self.rounds})
    }
}

/// Runs all systems, round after round.
///
/// # Errors
///
/// With the first error of `run`.
pub(super) fn interleave(
    rounds: Rounds,
    contestants: &[Contestant<'_>],
    mut run: impl FnMut(&mut Command) -> Outcome<Vec<Value>>,
) -> Outcome<Vec<System>> {
    let system = |it: &Contestant<'_>| System {
        name: it.name,
        rounds: Vec::new(),
    };
    let mut systems: Vec<System> = contestants.iter().map(system).collect();
    for _ in 0..rounds.rounds {
        for (contestant, system) in contestants.iter().zip(&mut systems) {
            system.rounds.push(run(&mut (contestant.command)())?);
        }
    }
    Ok(systems)
}

/// Returns a figure of a system; an empty one if the system was not measured.
pub(super) fn find(systems: &[System], name: &str, case: &str, key: &str) -> Samples {
    let found = systems.iter().find(|it| it.name == name);
    found.map_or_else(Samples::default, |it| it.samples(case, key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_take_turns_and_each_keeps_its_rounds() {
        let contestants = ["a", "b"].map(|name| Contestant::new(name, move || Command::new(name)));
        let mut order = String::new();
        let systems = interleave(Rounds { rounds: 3 }, &contestants, |command| {
            order.push_str(&command.get_program().to_string_lossy());
            Ok(vec![json!({"case": "c", "ns": order.len()})])
        });
        let systems = systems.unwrap();
        assert_eq!(order, "ababab");
        let rounds = |name| find(&systems, name, "c", "ns");
        assert_eq!(rounds("a"), Samples::new([1.0, 3.0, 5.0]));
        assert_eq!(rounds("b"), Samples::new([2.0, 4.0, 6.0]));
        assert_eq!(rounds("c"), Samples::default());
    }

    #[test]
    fn the_first_failure_ends_the_rounds() {
        let contestants = ["a", "b"].map(|name| Contestant::new(name, move || Command::new(name)));
        let mut runs = 0;
        let failed = interleave(Rounds { rounds: 5 }, &contestants, |_| {
            runs += 1;
            if runs == 2 {
                Err("no".into())
            } else {
                Ok(Vec::new())
            }
        });
        assert!(failed.is_err());
        assert_eq!(runs, 2);
    }
}

//! `Replay`: a seed, and what is kept of its plan, as a text for the environment.
//!
//! `17` is all of seed 17, `17:f0.2:s1:d` its faults 0 and 2, its step 1, and no delays. What
//! [`Replay`] documents is the whole grammar.

use crate::explore::plan::Kept;
use std::fmt;
use std::str::FromStr;

/// The variable that names the seed to replay.
pub const SEED_VARIABLE: &str = "KUBIST_TEST_SEED";
/// The variable that multiplies the number of seeds, for long runs.
pub const SEEDS_VARIABLE: &str = "KUBIST_TEST_SEEDS";

/// A run that can be repeated: a seed, and what is kept of its plan. As text, the parts stand
/// between colons:
///
/// | part | meaning |
/// |---|---|
/// | `17` | the seed, always first |
/// | `f0.2` | only these faults of its plan, in its order from 0; `f` alone: none |
/// | `f0@5` | fault 0, at the fifth write, request or event instead of the planned one |
/// | `s0.1` | only these steps of the scenario, from 0; `s` alone: none |
/// | `d` | nothing is delayed |
/// | `h` | each step waits until the one before has settled |
///
/// The same text repeats the same run as long as the scenario and the controllers are the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    pub(crate) seed: u64,
    pub(crate) kept: Kept,
}

/// A text that is not a [`Replay`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no seed: expected a number, and what is kept of its plan, as in 17:f0.2:s1:d")]
#[non_exhaustive]
pub struct ParseReplayError {
    /// The text.
    pub text: String,
}

impl Replay {
    /// All of a seed.
    pub fn seed(seed: u64) -> Self {
        Self {
            seed,
            kept: Kept::default(),
        }
    }
}

fn numbers(text: &str) -> Option<Vec<usize>> {
    let numbers = text.split('.').filter(|it| !it.is_empty());
    numbers.map(|it| it.parse().ok()).collect()
}

/// Reads faults, of which some are moved: `0.2@5`.
fn faults(text: &str, kept: &mut Kept) -> Option<()> {
    let mut faults = Vec::new();
    for one in text.split('.').filter(|it| !it.is_empty()) {
        let (index, at) = match one.split_once('@') {
            Some((index, at)) => {
                let at = at.parse().ok().filter(|it| *it > 0)?;
                (index.parse().ok()?, Some(at))
            }
            None => (one.parse().ok()?, None),
        };
        faults.push(index);
        kept.moved.extend(at.map(|at| (index, at)));
    }
    kept.faults = Some(faults);
    Some(())
}

impl FromStr for Replay {
    type Err = ParseReplayError;

    fn from_str(text: &str) -> Result<Self, ParseReplayError> {
        let parse = || {
            let mut parts = text.split(':');
            let mut replay = Self::seed(parts.next()?.trim().parse().ok()?);
            for part in parts {
                match part.split_at_checked(1)? {
                    ("f", rest) => faults(rest, &mut replay.kept)?,
                    ("s", rest) => replay.kept.steps = Some(numbers(rest)?),
                    ("d", "") => replay.kept.no_delays = true,
                    ("h", "") => replay.kept.no_hurry = true,
                    _ => return None,
                }
            }
            Some(replay)
        };
        parse().ok_or_else(|| ParseReplayError {
            text: text.to_owned(),
        })
    }
}

impl fmt::Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |it: &[usize]| {
            let texts: Vec<String> = it.iter().map(ToString::to_string).collect();
            texts.join(".")
        };
        write!(f, "{}", self.seed)?;
        if let Some(faults) = &self.kept.faults {
            let of = |index: &usize| match self.kept.moved.get(index) {
                Some(at) => format!("{index}@{at}"),
                None => index.to_string(),
            };
            let texts: Vec<String> = faults.iter().map(of).collect();
            write!(f, ":f{}", texts.join("."))?;
        }
        if let Some(steps) = &self.kept.steps {
            write!(f, ":s{}", list(steps))?;
        }
        if self.kept.no_delays {
            f.write_str(":d")?;
        }
        if self.kept.no_hurry {
            f.write_str(":h")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_again() {
        for text in [
            "17",
            "17:f0.2:s1:d",
            "3:f",
            "0:f:s0.1.2:h",
            "9:d:h",
            "4:f0@7.2:s1",
        ] {
            let replay: Replay = text.parse().unwrap();
            assert_eq!(replay.to_string(), text);
        }
        for bad in [
            "", "x", "17:", "17:q", "17:f0,2", "17:f0@", "17:f0@0", "17:s0@1", "17:é", "-1",
        ] {
            assert!(bad.parse::<Replay>().is_err(), "{bad}");
        }
    }
}

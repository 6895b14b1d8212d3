//! Reads a trace, replays its sequences, and compares.

use crate::replayer::{LineError, Replayer, Step};
use crate::{
    delta_fifo, durations, field_selectors, indexer, label_selectors, quantities, rate_limiters,
    real_fifo, times, work_queue,
};
use serde::Deserialize;
use serde_json::Value;
use std::fmt;
use std::io::BufRead;

/// The most mismatches that are kept; others are only counted.
const MISMATCHES_MAX: usize = 10;

/// The results of a replay.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Replayed {
    /// Sequences, one for each seed.
    pub sequences: u64,
    /// Operations with equal results.
    pub agreed: u64,
    /// Sequences with a mismatch; the rest of such a sequence is not replayed.
    pub disagreed: u64,
    /// The first mismatches.
    pub mismatches: Vec<Mismatch>,
}

/// An operation whose result differs from upstream's.
#[derive(Debug)]
#[non_exhaustive]
pub struct Mismatch {
    /// The type.
    pub suite: String,
    /// The seed of the sequence.
    pub seed: u64,
    /// The line in the trace, from 1.
    pub line: u64,
    /// The operation and its arguments.
    pub operation: String,
    /// The expected result.
    pub expected: Value,
    /// The actual result.
    pub got: Value,
}

/// A trace that cannot be replayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// It cannot be read.
    #[error("the trace cannot be read")]
    Read(#[from] std::io::Error),
    /// A line is not valid.
    #[error("line {line} cannot be replayed")]
    Line {
        /// The line, from 1.
        line: u64,
        /// The error.
        #[source]
        source: LineError,
    },
    /// An operation comes before the first sequence.
    #[error("the trace does not begin with a sequence")]
    NoSequence,
}

/// The start of a sequence, or one of its operations.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Begin {
        suite: String,
        seed: u64,
        config: Value,
    },
    Operation {
        op: String,
        #[serde(default)]
        r#in: Value,
        out: Value,
    },
}

/// The sequence that is being replayed.
struct Sequence {
    suite: String,
    seed: u64,
    replayer: Box<dyn Replayer>,
    disagreed: bool,
}

/// Replays a whole trace.
///
/// # Errors
/// The trace cannot be read, or has an invalid line. A mismatch is not an error; it is in the
/// result.
pub fn replay(trace: impl BufRead) -> Result<Replayed, ReplayError> {
    let mut replayed = Replayed::default();
    let mut sequence: Option<Sequence> = None;
    for (line, text) in (1..).zip(trace.lines()) {
        let at_line = |source| ReplayError::Line { line, source };
        match serde_json::from_str(&text?).map_err(|error| at_line(error.into()))? {
            Line::Begin {
                suite,
                seed,
                config,
            } => {
                replayed.sequences += 1;
                sequence = Some(Sequence {
                    replayer: replayer(&suite, config).map_err(at_line)?,
                    suite,
                    seed,
                    disagreed: false,
                });
            }
            Line::Operation { op, r#in, out } => {
                let sequence = sequence.as_mut().ok_or(ReplayError::NoSequence)?;
                let step = Step {
                    op,
                    input: r#in,
                    theirs: out,
                };
                if !sequence.disagreed {
                    sequence.step(&step, line, &mut replayed).map_err(at_line)?;
                }
            }
        }
    }
    Ok(replayed)
}

impl Sequence {
    fn step(&mut self, step: &Step, line: u64, into: &mut Replayed) -> Result<(), LineError> {
        let got = self.replayer.perform(step)?;
        let expected = self.replayer.expected(step, &got);
        if got == expected {
            into.agreed += 1;
            return Ok(());
        }
        self.disagreed = true;
        into.disagreed += 1;
        if into.mismatches.len() < MISMATCHES_MAX {
            into.mismatches.push(Mismatch {
                suite: self.suite.clone(),
                seed: self.seed,
                line,
                operation: format!("{} {}", step.op, step.input),
                expected,
                got,
            });
        }
        Ok(())
    }
}

fn replayer(suite: &str, config: Value) -> Result<Box<dyn Replayer>, LineError> {
    Ok(match suite {
        "indexer" => Box::new(indexer::Replay::new(config)?),
        "delta-fifo" => Box::new(delta_fifo::Replay::new(config)?),
        "real-fifo" => Box::new(real_fifo::Replay::default()),
        "work-queue" => Box::new(work_queue::Replay::new(config)?),
        "rate-limiters" => Box::new(rate_limiters::Replay::new(config)?),
        "label-selectors" => Box::new(label_selectors::Replay::new(config)?),
        "field-selectors" => Box::new(field_selectors::Replay::new(config)?),
        "quantities" => Box::new(quantities::Replay::default()),
        "durations" => Box::new(durations::Replay),
        "times" => Box::new(times::Replay),
        other => return Err(LineError::UnknownConfig(other.to_owned())),
    })
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            suite,
            seed,
            line,
            operation,
            expected,
            got,
        } = self;
        write!(
            f,
            "{suite}, seed {seed}, line {line}, {operation}\n  \
             expected {expected}\n  got      {got}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = r#"{"suite":"durations","seed":7,"config":{}}
{"op":"duration","in":"90m","out":{"nanos":5400000000000,"text":"1h30m0s"}}
{"op":"duration","in":"1s","out":{"nanos":1000000000,"text":"2s"}}
{"op":"duration","in":"1s","out":null}
{"suite":"durations","seed":8,"config":{}}
{"op":"duration","in":"0","out":{"nanos":0,"text":"0s"}}"#;

    #[test]
    fn a_result_that_differs_is_found_and_ends_its_sequence() {
        let replayed = replay(TRACE.as_bytes()).unwrap();
        assert_eq!(
            (replayed.sequences, replayed.agreed, replayed.disagreed),
            (2, 2, 1)
        );
        assert_eq!(
            replayed.mismatches[0].to_string(),
            "durations, seed 7, line 3, duration \"1s\"\n  \
             expected {\"nanos\":1000000000,\"text\":\"2s\"}\n  \
             got      {\"nanos\":1000000000,\"text\":\"1s\"}"
        );
    }

    #[test]
    fn a_line_that_is_not_understood_is_an_error() {
        for (trace, message) in [
            ("{}", "line 1 cannot be replayed"),
            (
                r#"{"op":"x","out":null}"#,
                "the trace does not begin with a sequence",
            ),
            (
                r#"{"suite":"x","seed":1,"config":null}"#,
                "line 1 cannot be replayed",
            ),
            (
                "{\"suite\":\"times\",\"seed\":1,\"config\":null}\n{\"op\":\"x\",\"out\":null}",
                "line 2 cannot be replayed",
            ),
        ] {
            let error = replay(trace.as_bytes()).expect_err(trace);
            assert_eq!(error.to_string(), message, "{trace}");
        }
    }
}

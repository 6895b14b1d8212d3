//! `Theirs`: cases under upstream's rules, in the program of `tests/interop/validation`.

use crate::{Answer, Case};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

/// An error of upstream's program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TheirsError {
    /// It cannot be started, or its pipes fail.
    #[error("the program cannot be talked to")]
    Talk(#[from] std::io::Error),
    /// A line is invalid.
    #[error("a line is not understood")]
    Line(#[from] serde_json::Error),
    /// It exited before it had answered all cases.
    #[error("it ended after {answers} of {cases} answers: {status}")]
    Ended {
        /// The number of answers.
        answers: usize,
        /// The number of cases.
        cases: usize,
        /// Its exit status.
        status: ExitStatus,
    },
}

/// Upstream's program.
#[derive(Debug)]
pub struct Theirs {
    program: PathBuf,
}

impl Theirs {
    /// Creates it for the program at a path.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
        }
    }

    /// Returns the answers to cases, in their order.
    pub fn answers(&self, cases: &[Case]) -> Result<Vec<Answer>, TheirsError> {
        let mut child = Command::new(&self.program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or_else(no_pipe)?;
        let output = child.stdout.take().ok_or_else(no_pipe)?;
        let answers = std::thread::scope(|scope| {
            // It answers while it reads: a single thread would deadlock.
            let writer = scope.spawn(|| write(input, cases));
            let answers = read(output);
            match writer.join() {
                Ok(written) => written.and(answers),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        });
        let status = child.wait()?;
        let answers = answers?;
        if answers.len() < cases.len() || !status.success() {
            return Err(TheirsError::Ended {
                answers: answers.len(),
                cases: cases.len(),
                status,
            });
        }
        Ok(answers)
    }
}

fn write(input: impl Write, cases: &[Case]) -> Result<(), TheirsError> {
    let mut input = BufWriter::new(input);
    for case in cases {
        serde_json::to_writer(&mut input, case)?;
        input.write_all(b"\n")?;
    }
    Ok(input.flush()?)
}

fn read(output: impl std::io::Read) -> Result<Vec<Answer>, TheirsError> {
    let lines = BufReader::new(output).lines();
    lines
        .map(|line| Ok(serde_json::from_str(&line?)?))
        .collect()
}

fn no_pipe() -> std::io::Error {
    std::io::Error::other("the program has no pipe")
}

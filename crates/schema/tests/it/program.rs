//! The program of `tests/interop/schemas`, which answers one line of JSON with another.

use serde_json::Value;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::process::{Command, Stdio};

/// The program; `cargo xtask interop` builds it and sets this.
const PROGRAM: &str = "KUBIST_SCHEMAS_PROGRAM";
/// The number of cases. Default: 2,000.
const COUNT: &str = "KUBIST_SCHEMAS_COUNT";
/// The seed of the first case. Default: 1.
const SEED: &str = "KUBIST_SCHEMAS_SEED";

/// Returns the number of cases.
pub(crate) fn count() -> u64 {
    number(COUNT).unwrap_or(2_000)
}

/// Returns the seed of the first case.
pub(crate) fn first_seed() -> u64 {
    number(SEED).unwrap_or(1)
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var_os(name)?;
    let number = text.to_str().and_then(|it| it.parse().ok());
    Some(number.expect("it is a number"))
}

/// Asks the program all questions. Returns how many of its answers do not pass; `None` if there is
/// no program.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
pub(crate) fn ask(
    questions: &[Value],
    mut passes: impl FnMut(&Value, Value) -> bool,
) -> Option<usize> {
    let Some(program) = std::env::var_os(PROGRAM) else {
        println!("skipped: {PROGRAM} names no program");
        return None;
    };
    let child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.expect("the program starts");
    let input = child.stdin.take().expect("it is piped");
    let output = child.stdout.take().expect("it is piped");
    let mut failed = 0;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut input = BufWriter::new(input);
            for question in questions {
                // It ends early if answers do not pass.
                if writeln!(input, "{question}").is_err() {
                    return;
                }
            }
        });
        for (question, line) in questions.iter().zip(BufReader::new(output).lines()) {
            let answer = serde_json::from_str(&line.expect("it writes")).expect("JSON");
            failed += usize::from(!passes(question, answer));
            if failed > 20 {
                break;
            }
        }
        child.kill().ok();
    });
    child.wait().expect("it ends");
    Some(failed)
}

//! The program of `tests/interop/merge`, which answers one line of JSON with another.

use serde_json::Value;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::process::{Command, Stdio};

/// The program; `cargo xtask interop` builds it and sets this.
const PROGRAM: &str = "KUBIST_MERGE_PROGRAM";
/// The number of cases. Default: 10,000.
const COUNT: &str = "KUBIST_MERGE_COUNT";

/// Returns the number of cases.
pub(crate) fn count() -> usize {
    std::env::var_os(COUNT).map_or(10_000, |it| {
        let count = it.to_str().and_then(|it| it.parse().ok());
        count.expect("the count is a number")
    })
}

/// Asks the program all questions, and checks its answers. Returns whether there is a program.
///
/// # Panics
/// An answer does not pass.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
pub(crate) fn ask(questions: &[Value], mut passes: impl FnMut(&Value, Value) -> bool) -> bool {
    let Some(program) = std::env::var_os(PROGRAM) else {
        println!("skipped: {PROGRAM} names no program");
        return false;
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
                writeln!(input, "{question}").expect("it reads");
            }
        });
        for (question, line) in questions.iter().zip(BufReader::new(output).lines()) {
            let answer = serde_json::from_str(&line.expect("it writes")).expect("JSON");
            failed += usize::from(!passes(question, answer));
            if failed > 3 {
                break;
            }
        }
        child.kill().ok();
    });
    child.wait().expect("it ends");
    assert_eq!(failed, 0, "of {} cases", questions.len());
    true
}

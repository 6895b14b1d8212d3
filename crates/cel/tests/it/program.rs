//! The program of `tests/interop/cel`, which answers one line of JSON with another.

use serde_json::Value;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The program; `cargo xtask interop` builds it and sets this.
const PROGRAM: &str = "KUBIST_CEL_PROGRAM";
/// The number of cases. Default: 2,000.
const COUNT: &str = "KUBIST_CEL_COUNT";
/// Files with definitions, separated by colons.
const DEFINITIONS: &str = "KUBIST_CEL_DEFINITIONS";
/// The folder with the conformance files of the CEL specification.
const CONFORMANCE: &str = "KUBIST_CEL_CONFORMANCE";

/// Returns the number of cases.
pub(crate) fn count() -> usize {
    std::env::var_os(COUNT).map_or(2_000, |it| {
        let count = it.to_str().and_then(|it| it.parse().ok());
        count.expect("the count is a number")
    })
}

#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn found(variable: &str) -> Option<PathBuf> {
    let found = std::env::var_os(variable).map(PathBuf::from);
    if found.is_none() {
        println!("skipped: {variable} is not set");
    }
    found
}

/// Returns the conformance cases with Kubernetes' answers, if there is a program.
pub(crate) fn conformance() -> Option<Vec<Value>> {
    let (program, folder) = (found(PROGRAM)?, found(CONFORMANCE)?);
    let mut command = Command::new(program);
    command.arg("conformance").arg(folder);
    Some(lines(command))
}

/// Returns the rules of definitions with objects and Kubernetes' answers, if there is a program.
pub(crate) fn rules() -> Option<Vec<Value>> {
    let (program, files) = (found(PROGRAM)?, found(DEFINITIONS)?);
    let mut command = Command::new(program);
    command.args(["rules", "0"]);
    command.args(std::env::split_paths(&files));
    Some(lines(command))
}

fn lines(mut command: Command) -> Vec<Value> {
    let output = command.output().expect("the program starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).expect("it is text");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// Asks the program all questions; none if there is no program.
pub(crate) fn ask(questions: &[Value]) -> Option<Vec<Value>> {
    let mut child = Command::new(found(PROGRAM)?)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let input = child.stdin.take().expect("it is piped");
    let output = child.stdout.take().expect("it is piped");
    let answers = std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut input = BufWriter::new(input);
            for question in questions {
                writeln!(input, "{question}").expect("it reads");
            }
        });
        let lines = BufReader::new(output).lines();
        lines
            .map(|line| serde_json::from_str(&line.expect("it writes")).expect("JSON"))
            .collect()
    });
    child.wait().expect("it ends");
    Some(answers)
}

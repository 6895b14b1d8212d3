//! Go test programs and their results: specs of Ginkgo from its JSON report, and other tests from
//! the verbose output.

use super::cases::{Case, End};
use kubist_test_support::process::Outcome;
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The time limit for a program, in seconds.
const SECONDS_MAX: &str = "600";

/// A package's test program.
pub(super) struct GoSuite {
    /// The suite of its cases.
    pub(super) name: String,
    pub(super) program: PathBuf,
    /// The package's folder, where its tests find their files.
    pub(super) source: PathBuf,
}

impl GoSuite {
    /// Runs it in this environment, with files in an existing folder.
    ///
    /// # Errors
    /// It ended in another way than with cases that passed or failed, such as by a panic or by the
    /// time limit.
    pub(super) fn run(&self, folder: &Path, environment: &[(&str, &OsStr)]) -> Outcome<Vec<Case>> {
        let report = folder.join("report.json");
        let log = folder.join("output");
        let file = std::fs::File::create(&log)?;
        let status = Command::new("timeout")
            .arg(SECONDS_MAX)
            .arg(&self.program)
            .args(["-test.v", "-ginkgo.no-color"])
            .arg(format!("-ginkgo.json-report={}", report.display()))
            .envs(environment.iter().copied())
            .current_dir(&self.source)
            .stdout(file.try_clone()?)
            .stderr(file)
            .status()?;
        let output = String::from_utf8_lossy(&std::fs::read(&log)?).into_owned();
        let mut cases = tests(&self.name, &output);
        if let Ok(report) = std::fs::read_to_string(&report) {
            cases.extend(specs(&self.name, &report)?);
        }
        if cases.is_empty() || !matches!(status.code(), Some(0 | 1)) {
            let name = &self.name;
            return Err(format!("{name} ended with {status}; see {}", log.display()).into());
        }
        Ok(cases)
    }
}

/// Returns the folder of a package that a module requires, from the module's folder.
pub(super) fn source(module: &Path, package: &str) -> Outcome<PathBuf> {
    let output = Command::new("go")
        .args(["list", "-f", "{{.Dir}}", package])
        .current_dir(module)
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    if text.trim().is_empty() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(PathBuf::from(text.trim()))
}

/// Returns the specs of a JSON report.
pub(super) fn specs(suite: &str, report: &str) -> Outcome<Vec<Case>> {
    let report: Value = serde_json::from_str(report)?;
    let suites = report.as_array().ok_or("the report is not a list")?;
    let specs = suites
        .iter()
        .filter_map(|it| it["SpecReports"].as_array())
        .flatten();
    Ok(specs.filter_map(|it| spec(suite, it)).collect())
}

/// Returns a spec, or a node like `BeforeSuite` if it failed.
fn spec(suite: &str, report: &Value) -> Option<Case> {
    let kind = report["LeafNodeType"].as_str().unwrap_or_default();
    let end = match report["State"].as_str().unwrap_or_default() {
        "passed" => End::Passed,
        "skipped" | "pending" => End::Skipped,
        state => {
            let message = report["Failure"]["Message"].as_str().unwrap_or_default();
            End::Failed(format!("{state}: {}", message.replace('\n', " ")))
        }
    };
    let mut words: Vec<&str> = Vec::new();
    if let Some(texts) = report["ContainerHierarchyTexts"].as_array() {
        words.extend(texts.iter().filter_map(Value::as_str));
    }
    words.extend(report["LeafNodeText"].as_str());
    if kind != "It" {
        if !matches!(end, End::Failed(_)) {
            return None;
        }
        words.insert(0, kind);
    }
    let words: Vec<&str> = words.iter().flat_map(|it| it.split_whitespace()).collect();
    Some(Case {
        suite: suite.to_owned(),
        name: words.join(" "),
        end,
    })
}

/// Returns the tests of a program's verbose output, except those that have subtests or run specs.
fn tests(suite: &str, output: &str) -> Vec<Case> {
    let mut running = "";
    let mut runs_specs = Vec::new();
    let mut ended: Vec<(&str, End)> = Vec::new();
    for line in output.lines() {
        if let Some(name) = line.strip_prefix("=== RUN ") {
            running = name.trim();
        } else if line.starts_with("Running Suite:") {
            runs_specs.push(running);
        } else if let Some(rest) = line.trim_start().strip_prefix("--- ") {
            let Some((state, rest)) = rest.split_once(": ") else {
                continue;
            };
            let name = rest.split_whitespace().next().unwrap_or_default();
            let end = match state {
                "PASS" => End::Passed,
                "SKIP" => End::Skipped,
                "FAIL" => End::Failed("see the log".to_owned()),
                _ => continue,
            };
            ended.push((name, end));
        }
    }
    let has_subtests = |name: &str| {
        let prefix = format!("{name}/");
        ended.iter().any(|(it, _)| it.starts_with(&prefix))
    };
    let leaves = ended
        .iter()
        .filter(|(name, _)| !runs_specs.contains(name) && !has_subtests(name));
    leaves
        .map(|(name, end)| Case {
            suite: suite.to_owned(),
            name: (*name).to_owned(),
            end: end.clone(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_have_the_texts_of_their_containers() {
        let report = r#"[{"SpecReports": [
            {"LeafNodeType": "BeforeSuite", "State": "passed"},
            {"LeafNodeType": "It", "State": "failed", "ContainerHierarchyTexts": ["Client", "Get "],
             "LeafNodeText": "should work", "Failure": {"Message": "a\nb"}},
            {"LeafNodeType": "AfterSuite", "State": "panicked"}
        ]}, {"SpecReports": null}]"#;
        let specs = specs("client", report).expect("it is a report");
        let shown: Vec<_> = specs.iter().map(|it| (it.name.as_str(), &it.end)).collect();
        assert_eq!(
            shown,
            [
                (
                    "Client Get should work",
                    &End::Failed("failed: a b".to_owned())
                ),
                ("AfterSuite", &End::Failed("panicked: ".to_owned())),
            ]
        );
    }

    #[test]
    fn tests_without_subtests_are_counted() {
        let output = "=== RUN   TestSpecs\nRunning Suite: Specs\n--- PASS: TestSpecs (1.00s)\n\
                      === RUN   TestA\n=== RUN   TestA/b\n--- FAIL: TestA (0.00s)\n    \
                      --- FAIL: TestA/b (0.00s)\n    --- SKIP: TestA/c (0.00s)\nFAIL\n";
        let names: Vec<_> = tests("s", output)
            .iter()
            .map(|it| it.name.clone())
            .collect();
        assert_eq!(names, ["TestA/b", "TestA/c"]);
    }
}

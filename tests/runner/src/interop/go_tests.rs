//! The results of Go test programs: specs of Ginkgo from its JSON report, and other tests from the
//! verbose output.

use super::cases::{Case, End};
use kubist_test_support::process::Outcome;
use serde_json::Value;

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
pub(super) fn tests(suite: &str, output: &str) -> Vec<Case> {
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

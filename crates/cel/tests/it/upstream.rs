//! Compares with Kubernetes' own CEL, which the program of `tests/interop/cel` links: values, classes
//! and words of errors, types, costs and estimates.

use crate::encoding::{decode, encode, parse_type};
use crate::program;
use kubist_cel::{Activation, Budget, Environment, Version};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// What we make of a question, in the form of the program's answers.
pub(crate) fn answer(question: &Json, base: &Environment) -> Json {
    let types = question["types"].as_object().into_iter().flatten();
    let variables: Vec<_> = types
        .map(|(name, kind)| {
            (
                name.as_str(),
                parse_type(kind.as_str().expect("text")).expect("a type"),
            )
        })
        .collect();
    let environment = base
        .extend(variables)
        .with_container(question["container"].as_str().unwrap_or_default());
    let program = match environment.compile(question["expression"].as_str().expect("text")) {
        Ok(program) => program,
        Err(error) if error.is_instantiation() => return json!({"programError": error.to_string()}),
        Err(error) => return json!({"compileError": error.to_string()}),
    };
    let estimate = program.cost_estimate();
    let mut out = json!({
        "type": program.output_type().to_string(),
        "estimate": [estimate.min.to_string(), estimate.max.to_string()],
    });
    if question["checkOnly"] == true {
        return out;
    }
    let mut activation = Activation::new();
    for (name, value) in question["values"].as_object().into_iter().flatten() {
        activation = activation.bind(name, decode(value).expect("a value"));
    }
    let evaluated = program.evaluate(&activation, Budget::default());
    out["cost"] = evaluated.cost.into();
    match evaluated.value {
        Ok(value) => out["value"] = encode(&value),
        Err(error) => out["error"] = error.to_string().into(),
    }
    out
}

/// How far an answer agrees with upstream's.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    all: usize,
    outcome: usize,
    words: usize,
    kind: usize,
    estimate: usize,
    cost: usize,
}

pub(crate) fn class(answer: &Json) -> &str {
    ["compileError", "programError", "error"]
        .into_iter()
        .find(|it| answer.get(*it).is_some())
        .unwrap_or("value")
}

impl Counts {
    fn add(&mut self, ours: &Json, theirs: &Json) -> bool {
        let same = |key: &str| ours.get(key) == theirs.get(key);
        let is_outcome = class(ours) == class(theirs) && same("value");
        self.all += 1;
        self.outcome += usize::from(is_outcome);
        self.words += usize::from(is_outcome && same(class(theirs)));
        self.kind += usize::from(same("type"));
        self.estimate += usize::from(same("estimate"));
        self.cost += usize::from(same("cost") || theirs.get("cost").is_none());
        is_outcome
            && same("type")
            && same("estimate")
            && (same("cost") || theirs.get("cost").is_none())
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the runner shows the counts")]
fn conformance_cases_are_answered_as_kubernetes_answers_them() {
    let Some(cases) = program::conformance() else {
        return;
    };
    let base = Environment::new(Version::minor(36));
    let (mut counts, mut differ) = (BTreeMap::<String, Counts>::new(), 0);
    for case in cases {
        let (question, theirs) = (&case["question"], &case["answer"]);
        if theirs.get("panic").is_some() || question["unchecked"] == true {
            continue;
        }
        let ours = answer(question, &base);
        let mut theirs = theirs.clone();
        if theirs.get("programError").is_some() {
            // Ours has no program, so neither type nor estimate.
            theirs = json!({"programError": theirs["programError"]});
        }
        let theirs = &theirs;
        let file = case["file"].as_str().expect("text").to_owned();
        let differs = !counts.entry(file).or_default().add(&ours, theirs);
        // Upstream visits maps in random order, so what an error cost is random.
        if differs
            && !(ours.get("error").is_some()
                && question["expression"].to_string().contains("transformMap"))
        {
            differ += 1;
            println!(
                "{} {}\n  ours   {ours}\n  theirs {theirs}",
                case["name"], question["expression"]
            );
        }
    }
    for (file, counts) in &counts {
        println!("{file}: {counts:?} agree");
    }
    assert_eq!(differ, 0, "cases differ");
}

//! Compares with Kubernetes' own CEL, which the program of `tests/interop/cel` links: values,
//! classes and words of errors, types, costs and estimates.

use crate::encoding::{decode, encode, normalize, parse_type};
use crate::program;
use crate::random::Random;
use kubist_cel::{Activation, Budget, Environment, Evaluated, Version};
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
    out["outcome"] = outcome(&evaluated);
    out
}

/// Encodes the outcome of an evaluation.
pub(crate) fn outcome(evaluated: &Evaluated<'_>) -> Json {
    match &evaluated.value {
        Ok(value) => json!({"value": encode(value), "cost": evaluated.cost}),
        Err(error) => json!({"error": error.to_string(), "cost": evaluated.cost}),
    }
}

/// Returns the outcome of upstream's that is most like ours: it visits maps in random order, so
/// that there may be several.
pub(crate) fn nearest(ours: &Json, theirs: &Json) -> Json {
    let outcomes = || theirs["outcomes"].as_array().into_iter().flatten();
    let like = |it: &&Json| {
        ["value", "error"]
            .iter()
            .all(|key| it.get(*key) == ours.get(*key))
    };
    let found = outcomes()
        .find(|it| *it == ours)
        .or_else(|| outcomes().find(like))
        .or_else(|| outcomes().next());
    found.cloned().unwrap_or_default()
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
    let errors = ["compileError", "programError"];
    let found = errors.into_iter().find(|it| answer.get(*it).is_some());
    let has_error = answer["outcome"].get("error").is_some();
    found.unwrap_or(if has_error { "error" } else { "value" })
}

impl Counts {
    #[expect(
        clippy::print_stdout,
        reason = "words that differ do not fail the test"
    )]
    fn add(&mut self, ours: &Json, theirs: &Json) -> bool {
        let mut theirs = theirs.clone();
        theirs["outcome"] = nearest(&ours["outcome"], &theirs);
        let theirs = &theirs;
        let same = |key: &str| ours.get(key) == theirs.get(key);
        let (own, other) = (&ours["outcome"], &theirs["outcome"]);
        let is_outcome = class(ours) == class(theirs) && own.get("value") == other.get("value");
        let is_cost = own.get("cost") == other.get("cost");
        let words = ["compileError", "programError"].into_iter().all(same)
            && own.get("error") == other.get("error");
        self.all += 1;
        self.outcome += usize::from(is_outcome);
        self.words += usize::from(is_outcome && words);
        if is_outcome && !words {
            println!("other words\n  ours   {ours}\n  theirs {theirs}");
        }
        self.kind += usize::from(same("type"));
        self.estimate += usize::from(same("estimate"));
        self.cost += usize::from(is_cost);
        is_outcome && is_cost && same("type") && same("estimate")
    }
}

#[test]
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
        let theirs = comparable(theirs.clone());
        let file = case["file"].as_str().expect("text").to_owned();
        if !counts.entry(file).or_default().add(&ours, &theirs) {
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

#[test]
fn random_expressions_are_answered_as_kubernetes_answers_them() {
    let mut random = Random::new(1);
    let questions: Vec<Json> = (0..program::count()).map(|_| random.question()).collect();
    let Some(answers) = program::ask(&questions) else {
        return;
    };
    let base = Environment::new(Version::minor(36));
    let (mut counts, mut differ) = (Counts::default(), 0);
    for (question, theirs) in questions.iter().zip(answers) {
        let ours = answer(question, &base);
        // What visits maps of several entries has random outcomes.
        let text = question["expression"].as_str().expect("text");
        let is_random = text.contains("'b':") || text.contains("transformMap");
        // Upstream has maps as keys of maps, which it compares by address.
        let is_key = ours["outcome"]["error"] == "unsupported key type";
        // Upstream fails on some keys, and overwrites bytes that are shared.
        let error = theirs["outcomes"][0]["error"].as_str().unwrap_or_default();
        let is_wrong = error.starts_with("internal error") || text.matches("(y + ").count() > 1;
        if theirs.get("panic").is_some() || is_random || is_key || is_wrong {
            continue;
        }
        let theirs = comparable(theirs);
        if !counts.add(&ours, &theirs) {
            differ += 1;
            println!(
                "{} {}\n  ours   {ours}\n  theirs {theirs}",
                question["expression"], question["values"]
            );
        }
    }
    println!("random expressions: {counts:?} agree");
    assert_eq!(differ, 0, "expressions differ");
}

/// Ours has no program if its constants have no value, so neither type nor estimate.
fn comparable(mut theirs: Json) -> Json {
    normalize(&mut theirs["outcomes"]);
    match theirs.get("programError") {
        Some(error) => json!({"programError": error}),
        None => theirs,
    }
}

#[test]
fn syntax_errors_begin_as_those_of_kubernetes() {
    let expressions: Vec<&str> = include_str!("syntax_errors.cel").lines().collect();
    let types = json!({"a": "dyn", "b": "dyn", "self": "dyn"});
    let questions: Vec<Json> = expressions
        .iter()
        .map(|it| json!({"expression": it, "types": types, "checkOnly": true}))
        .collect();
    let Some(answers) = program::ask(&questions) else {
        return;
    };
    let base = Environment::new(Version::minor(36));
    let (mut all, mut differ) = (0, 0);
    let first = |answer: &Json| {
        answer["compileError"]
            .as_str()
            .and_then(|it| it.lines().next())
            .map(str::to_owned)
    };
    for (question, theirs) in questions.iter().zip(answers) {
        let ours = answer(question, &base);
        all += usize::from(ours.get("compileError") == theirs.get("compileError"));
        if first(&ours) != first(&theirs) {
            differ += 1;
            println!(
                "{}\n  ours   {:?}\n  theirs {:?}",
                question["expression"],
                first(&ours),
                first(&theirs)
            );
        }
    }
    println!("syntax errors: {all} of {} agree", expressions.len());
    assert_eq!(differ, 0, "errors differ");
}

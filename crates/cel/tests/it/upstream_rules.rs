//! Compares rules of real definitions, over random objects, with Kubernetes' own CEL.

use crate::program;
use crate::rules::declare;
use crate::upstream::{nearest, outcome};
use kubist_cel::cost::DeclaredSizes;
use kubist_cel::{Activation, Budget, Environment, Value, Version};
use serde_json::{Value as Json, json};
use std::sync::Arc;

#[test]
fn rules_of_definitions_are_answered_as_kubernetes_answers_them() {
    let Some(groups) = program::rules() else {
        return;
    };
    let base = Environment::new(Version::minor(36));
    let (mut all, mut differ) = (0, 0);
    for group in &groups {
        let declared = declare(&group["schema"], "selfType", group["root"] == true);
        let declared = Arc::new(declared.expect("it has a declared type"));
        let kind = declared.cel_type();
        let environment = base
            .extend([("self", kind.clone()), ("oldSelf", kind)])
            .with_sizes(DeclaredSizes(Arc::clone(&declared)));
        for case in group["cases"].as_array().expect("a list") {
            let (question, theirs) = (&case["question"], &case["answer"]);
            assert!(theirs.get("panic").is_none(), "{theirs}");
            let ours = answer(question, &environment, &declared);
            let mut theirs = theirs.clone();
            theirs["outcome"] = nearest(&ours["outcome"], &theirs);
            let keys = ["compileError", "type", "estimate", "outcome"];
            all += 1;
            if keys.iter().any(|key| ours.get(*key) != theirs.get(*key)) {
                differ += 1;
                println!(
                    "{}\n  self   {}\n  ours   {ours}\n  theirs {theirs}",
                    question["expression"], question["self"]
                );
            }
        }
    }
    println!("rules of definitions: {} of {all} agree", all - differ);
    assert_eq!(differ, 0, "rules differ");
}

fn answer(
    question: &Json,
    environment: &Environment,
    declared: &kubist_cel::declared::Declared,
) -> Json {
    let program = match environment.compile(question["expression"].as_str().expect("text")) {
        Ok(program) => program,
        Err(error) => return json!({"compileError": error.to_string()}),
    };
    let estimate = program.cost_estimate();
    let activation = Activation::new()
        .bind_result("self", Value::view(&question["self"], declared))
        .bind_result("oldSelf", Value::view(&question["oldSelf"], declared));
    let evaluated = program.evaluate(&activation, Budget::default());
    json!({
        "type": program.output_type().to_string(),
        "estimate": [estimate.min.to_string(), estimate.max.to_string()],
        "outcome": outcome(&evaluated),
    })
}

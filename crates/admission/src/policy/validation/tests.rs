//! Tests of what policies demand.

use super::*;
use crate::expressions::AccessQuestions;
use kubist_authorization::AlwaysAllow;
use serde_json::{Value as Json, json};

fn compiled(spec: &Json) -> Validation {
    let policy = json!({"metadata": {"name": "p"}, "spec": spec});
    let policy = serde_json::from_value(policy).expect("it is a policy");
    Validation::policy(&policy).rules
}

fn judged(spec: &Json, questions: &AccessQuestions) -> Verdicts {
    let object = json!({"metadata": {"name": "a"}, "data": {"k": "v"}});
    let request = json!({"operation": "CREATE"});
    let resource = Default::default();
    compiled(spec).judge(&Inputs {
        object: Some(&object),
        old_object: None,
        params: None,
        request: &request,
        namespace: None,
        questions: Some(questions),
        resource: &resource,
    })
}

fn messages(spec: &Json) -> Vec<String> {
    let verdicts = judged(spec, &AccessQuestions::default());
    let decisions = verdicts.decisions.into_iter();
    let message = |it| match it {
        Decision::Admit | Decision::FailedOpen(_) => String::new(),
        Decision::Deny { message, .. } => message,
    };
    decisions.map(message).collect()
}

#[test]
fn a_message_that_cannot_be_used_gives_way_to_the_plain_one() {
    let rule = |members: Json| {
        let mut rule = json!({"expression": " false "});
        for (name, value) in members.as_object().expect("it has members") {
            rule[name] = value.clone();
        }
        rule
    };
    let rules = json!({"validations": [
        rule(json!({"message": " plain "})),
        rule(json!({"message": "plain", "messageExpression": "' evaluated '"})),
        rule(json!({"message": "plain", "messageExpression": "object.missing"})),
        rule(json!({"message": "plain", "messageExpression": "'two\\nlines'"})),
        rule(json!({"messageExpression": "''"})),
    ]});
    assert_eq!(
        messages(&rules),
        [
            "plain",
            "evaluated",
            "plain",
            "plain",
            "failed expression: false"
        ]
    );
}

#[test]
fn annotations_are_published_left_out_or_fail() {
    let spec = json!({"auditAnnotations": [
        {"key": "a", "valueExpression": "' v '"},
        {"key": "b", "valueExpression": "null"},
        {"key": "c", "valueExpression": "object.missing + ''"},
        {"key": "d", "valueExpression": "''"},
    ]});
    let verdicts = judged(&spec, &AccessQuestions::default());
    let why = "expression 'object.missing + ''' resulted in error: no such key: missing";
    assert_eq!(
        verdicts.annotations,
        [
            Annotation::Publish {
                key: "a".into(),
                value: "v".to_owned(),
            },
            Annotation::Failed(why.to_owned()),
        ]
    );
}

#[test]
fn an_expensive_policy_is_refused_as_a_whole() {
    let range = "[1,2,3,4,5,6,7,8,9,10]";
    let deep = (0..5).fold("true".to_owned(), |inner, _| {
        format!("{range}.all(x, {inner})")
    });
    let rules: Vec<Json> = (0..40).map(|_| json!({"expression": deep})).collect();
    let found = messages(&json!({"validations": rules}));
    let why = "validation failed due to running out of cost budget, no further validation rules \
               will be run";
    assert_eq!(found, [why]);
    let spec = json!({"validations": rules, "failurePolicy": "Ignore"});
    assert_eq!(messages(&spec), [""]);
}

#[tokio::test]
async fn a_question_is_asked_once_and_the_evaluation_repeated() {
    let spec = json!({"validations": [{
        "expression": "authorizer.group('').resource('pods').check('get').allowed()",
    }]});
    let questions = AccessQuestions::default();
    assert_ne!(judged(&spec, &questions).decisions, [Decision::Admit]);
    assert!(questions.settle(&AlwaysAllow).await);
    assert_eq!(judged(&spec, &questions).decisions, [Decision::Admit]);
    assert!(!questions.settle(&AlwaysAllow).await);
}

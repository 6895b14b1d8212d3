//! `Conditions`: the match conditions of a webhook or a policy.

use super::evaluator::Evaluator;
use super::expression::Expression;
use super::inputs::Inputs;
use kubist_api::admissionregistration::v1::MatchCondition;
use kubist_cel::admission::{self, Uses};
use kubist_cel::{Environment, Type, Value, Variables};

/// The budget of the conditions of one webhook or binding, as upstream.
const BUDGET: u64 = 2_500_000;

/// Conditions that must all be true.
#[derive(Debug, Default)]
pub(crate) struct Conditions {
    expressions: Vec<Expression>,
    /// Reports whether an error means that the request does not match, instead of a refusal.
    ignores_errors: bool,
}

/// What conditions say about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Matched,
    NotMatched,
    /// A condition failed, and so the request does.
    Failed(String),
}

impl Conditions {
    /// Compiles the conditions of a webhook.
    pub(crate) fn of_webhook(conditions: &[MatchCondition], ignores_errors: bool) -> Self {
        let uses = Uses {
            params: false,
            authorizer: true,
        };
        Self::compile(&admission::stored(uses), conditions, ignores_errors)
    }

    /// Compiles conditions.
    pub(crate) fn compile(
        environment: &Environment,
        conditions: &[MatchCondition],
        ignores_errors: bool,
    ) -> Self {
        let compile =
            |it: &MatchCondition| Expression::compile(environment, &it.expression, &[Type::Bool]);
        Self {
            expressions: conditions.iter().map(compile).collect(),
            ignores_errors,
        }
    }

    /// Reports whether there are no conditions: then every request matches.
    pub(crate) fn is_empty(&self) -> bool {
        self.expressions.is_empty()
    }

    /// Judges a request. One false condition decides, whatever the others are. As upstream, there
    /// is no `namespaceObject` for conditions.
    pub(crate) fn judge(&self, inputs: &Inputs<'_>, variables: &Variables) -> Verdict {
        self.judge_counting(inputs, variables).0
    }

    /// The same, with the number of conditions that failed.
    pub(crate) fn judge_counting(
        &self,
        inputs: &Inputs<'_>,
        variables: &Variables,
    ) -> (Verdict, u64) {
        let inputs = Inputs {
            namespace: None,
            ..*inputs
        };
        let mut evaluator = Evaluator::new(&inputs, variables, BUDGET);
        let (mut errors, mut is_false) = (Vec::<String>::new(), false);
        let mut failures = 0;
        for expression in &self.expressions {
            match evaluator.evaluate(expression) {
                Ok(Ok(Value::Bool(false))) => is_false = true,
                Ok(Ok(_)) => {}
                Ok(Err(error)) => {
                    failures += 1;
                    if !errors.contains(&error) {
                        errors.push(error);
                    }
                }
                Err(halt) => return (self.failed(halt.to_string()), failures),
            }
        }
        let verdict = match &errors[..] {
            _ if is_false => Verdict::NotMatched,
            [] => Verdict::Matched,
            [only] => self.failed(only.clone()),
            several => self.failed(format!("[{}]", several.join(", "))),
        };
        (verdict, failures)
    }

    fn failed(&self, why: String) -> Verdict {
        if self.ignores_errors {
            Verdict::NotMatched
        } else {
            Verdict::Failed(why)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expressions::AccessQuestions;
    use serde_json::json;

    fn judged(expressions: &[&str], ignores_errors: bool) -> Verdict {
        let object = json!({"metadata": {"name": "a", "labels": {"x": "1"}}});
        judged_on(&object, expressions, ignores_errors)
    }

    fn judged_on(
        object: &serde_json::Value,
        expressions: &[&str],
        ignores_errors: bool,
    ) -> Verdict {
        let conditions: Vec<MatchCondition> = expressions
            .iter()
            .map(|it| MatchCondition {
                name: "a".into(),
                expression: (*it).into(),
            })
            .collect();
        let conditions = Conditions::of_webhook(&conditions, ignores_errors);
        let request = json!({"operation": "CREATE", "userInfo": {"username": "bob"}});
        let inputs = Inputs {
            object: Some(object),
            old_object: None,
            params: None,
            request: &request,
            namespace: None,
            questions: Some(&AccessQuestions::default()),
            resource: &Default::default(),
        };
        conditions.judge(&inputs, &Variables::new())
    }

    #[test]
    fn all_conditions_must_be_true() {
        let yes = "object.metadata.labels.x == '1' && oldObject == null";
        let no = "request.userInfo.username != 'bob'";
        assert_eq!(judged(&[yes], false), Verdict::Matched);
        assert_eq!(judged(&[yes, no], false), Verdict::NotMatched);
    }

    #[test]
    fn a_false_condition_decides_even_if_another_fails() {
        let fails = "object.spec.x == 1";
        assert_eq!(judged(&[fails, "false"], false), Verdict::NotMatched);
        let why = "expression 'object.spec.x == 1' resulted in error: no such key: spec";
        assert_eq!(judged(&[fails], false), Verdict::Failed(why.to_owned()));
        assert_eq!(judged(&[fails], true), Verdict::NotMatched);
    }

    #[test]
    fn an_expression_that_costs_little_and_takes_long_is_interrupted() {
        let labels: serde_json::Map<_, _> = (0..40_000)
            .map(|it| (format!("label-{it}"), json!("x")))
            .collect();
        let object = json!({"metadata": {"labels": labels}});
        let long = "object.metadata.labels.all(k, object == object)";
        let why = format!("expression '{long}' resulted in error: operation interrupted");
        assert_eq!(judged_on(&object, &[long], false), Verdict::Failed(why));
    }

    #[test]
    fn a_condition_that_is_no_boolean_fails() {
        let why = "compilation error: must evaluate to bool but got string";
        assert_eq!(judged(&["'a'"], false), Verdict::Failed(why.to_owned()));
    }

    #[test]
    fn an_expensive_condition_fails_in_the_words_of_the_budget() {
        let range = "[1,2,3,4,5,6,7,8,9,10]";
        let nested = |inner: &str| format!("{range}.all(x, {inner})");
        let deep = (0..6).fold("true".to_owned(), |inner, _| nested(&inner));
        let verdict = judged(&[&deep], false);
        let why = format!(
            "expression '{deep}' resulted in error: operation cancelled: actual cost \
             limit exceeded"
        );
        assert_eq!(verdict, Verdict::Failed(why));
        assert!(matches!(
            judged(&[&deep, &deep, &deep], false),
            Verdict::Failed(why) if why.starts_with("validation failed due to running out of cost")
        ));
    }
}

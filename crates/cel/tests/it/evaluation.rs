//! What expressions evaluate to, and within which budget.

use kubist_cel::{
    Activation, Budget, Environment, EvalError, Evaluated, Program, Type, Value, Version,
};
use std::cell::Cell;

fn environment() -> Environment {
    let variables = [
        ("x", Type::Dyn),
        ("i", Type::Int),
        ("l", Type::list(Type::Int)),
    ];
    Environment::new(Version::minor(36)).extend(variables)
}

fn compile(expression: &str) -> Program {
    environment().compile(expression).expect("it compiles")
}

fn evaluate<'a>(program: &'a Program, budget: Budget<'_>) -> Evaluated<'a> {
    let numbers: Vec<Value<'_>> = (0..1000).map(Value::Int).collect();
    let activation = Activation::new()
        .bind("x", Value::string("text"))
        .bind("i", Value::Int(7))
        .bind("l", Value::list(numbers));
    program.evaluate(&activation, budget)
}

fn is_true(expression: &str) -> bool {
    matches!(
        evaluate(&compile(expression), Budget::default()).value,
        Ok(Value::Bool(true))
    )
}

fn failure(expression: &str) -> String {
    let program = compile(expression);
    let evaluated = evaluate(&program, Budget::default());
    evaluated.value.expect_err("it fails").to_string()
}

#[test]
fn a_term_that_decides_absorbs_the_error_of_the_other() {
    assert!(is_true("1 / 0 > 1 || i == 7"));
    assert!(is_true("!(1 / 0 > 1 && i == 8)"));
    assert!(is_true("l.exists(e, 1 / e > 0)"));
    assert_eq!(failure("1 / 0 > 1 && i == 7"), "division by zero");
    assert_eq!(failure("l.all(e, 1 / (e - 3) != 5)"), "division by zero");
}

#[test]
fn arithmetic_that_overflows_fails() {
    for expression in [
        "9223372036854775807 + i",
        "-9223372036854775808 - i",
        "-9223372036854775808 * -1",
        "-9223372036854775808 / (i - 8)",
    ] {
        assert_eq!(failure(expression), "integer overflow");
    }
    assert_eq!(failure("0u - uint(i)"), "unsigned integer overflow");
    assert_eq!(failure("i % 0"), "modulus by zero");
    assert_eq!(
        failure("timestamp('9999-12-31T00:00:00Z') + duration('48h')"),
        "timestamp overflow"
    );
    assert_eq!(
        failure("duration('9223372036s') + duration('9223372036s')"),
        "integer overflow"
    );
}

#[test]
fn numbers_of_different_types_compare_by_what_they_are() {
    assert!(is_true("dyn(1) == 1u && dyn(1u) == 1.0 && dyn(-1) != 1u"));
    assert!(is_true(
        "-1 < 0u && 9223372036854775808u > 9223372036854775807 && 0.5 < 1"
    ));
    assert!(is_true(
        "{1: 'a'}[dyn(1.0)] == 'a' && [1, 2][dyn(1.0)] == 2"
    ));
    assert_eq!(
        failure("double('NaN') < double(i)"),
        "NaN values cannot be ordered"
    );
}

#[test]
fn values_of_different_types_are_not_equal() {
    assert!(is_true("dyn(1) != 'a' && dyn(null) != 0 && dyn([]) != {}"));
}

#[test]
fn an_evaluation_ends_at_its_cost_limit() {
    let program = compile("l.all(e, l.all(f, e + f >= 0))");
    let budget = Budget {
        cost_limit: 500,
        ..Budget::default()
    };
    let evaluated = evaluate(&program, budget);
    assert_eq!(evaluated.value.err(), Some(EvalError::CostLimitExceeded));
    assert!((500..520).contains(&evaluated.cost), "{}", evaluated.cost);
}

#[test]
fn no_operator_absorbs_the_cost_limit() {
    let program = compile("l.all(e, l.all(f, e + f >= 0)) || true");
    let budget = Budget {
        cost_limit: 500,
        ..Budget::default()
    };
    assert_eq!(
        evaluate(&program, budget).value.err(),
        Some(EvalError::CostLimitExceeded)
    );
}

#[test]
fn an_evaluation_ends_when_it_is_interrupted() {
    let program = compile("l.all(e, l.all(f, e + f >= 0))");
    let asked = Cell::new(0);
    let interrupt = || {
        asked.set(asked.get() + 1);
        asked.get() == 3
    };
    let evaluated = evaluate(
        &program,
        Budget {
            cost_limit: u64::MAX,
            interrupt: Some(&interrupt),
        },
    );
    assert_eq!(evaluated.value.err(), Some(EvalError::Interrupted));
    assert_eq!(asked.get(), 3);
}

#[test]
fn lists_of_a_macro_grow_without_being_copied() {
    // A thousand lists of two thousand elements each: with copies this would take gigabytes.
    let program = compile("l.map(e, l + l).map(e, size(e)).all(e, e == 2000)");
    let budget = Budget {
        cost_limit: u64::MAX,
        ..Budget::default()
    };
    assert!(matches!(
        evaluate(&program, budget).value,
        Ok(Value::Bool(true))
    ));
}

#[test]
fn a_variable_without_a_value_fails_where_it_is_used() {
    let program = compile("i == 7 || x == 1");
    let activation = Activation::new().bind("i", Value::Int(7));
    assert!(matches!(
        program.evaluate(&activation, Budget::default()).value,
        Ok(Value::Bool(true))
    ));
    let evaluated = program.evaluate(&Activation::new(), Budget::default());
    assert_eq!(
        evaluated.value.expect_err("it fails").to_string(),
        "no such attribute(s): i"
    );
}

#[test]
fn a_program_knows_which_variables_it_uses() {
    let program = compile("l.exists(x, x == i)");
    assert!(program.uses("i") && program.uses("l") && !program.uses("x"));
}

#[test]
fn regular_expressions_are_those_of_go() {
    assert!(is_true(
        r"'a1'.matches(r'^\w\d$') && !'é'.matches(r'^\w$') && !'٣'.matches(r'^\d$')"
    ));
    assert!(is_true(
        r"'a.b'.matches(r'a\Q.\Eb') && 'x&&y'.matches('[&&]') && 'a b'.matches(r'\bb')"
    ));
    assert!(environment().compile("'a'.matches('(')").is_err());
}

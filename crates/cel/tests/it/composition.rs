//! Variables that are expressions themselves.

use kubist_cel::{
    Activation, Budget, Environment, Evaluated, Type, Value, VariableValues, Variables, Version,
};

fn environment() -> Environment {
    Environment::new(Version::minor(36)).extend([("x", Type::Dyn)])
}

/// Compiles variables, each of which can use those before it.
fn variables(all: &[(&str, &str)]) -> Variables {
    let mut variables = Variables::new();
    for (name, expression) in all {
        let environment = with(&variables);
        let program = environment.compile(expression);
        variables.push(name, program.map_err(|error| error.to_string()));
    }
    variables
}

fn with(variables: &Variables) -> Environment {
    environment().extend([(Variables::NAME, variables.cel_type())])
}

/// What an expression evaluates to, and what it and its variables cost.
fn evaluated(all: &[(&str, &str)], expression: &str) -> (Result<String, String>, u64, u64) {
    let variables = variables(all);
    let program = with(&variables).compile(expression).expect("it compiles");
    let activation = Activation::new().bind("x", Value::Int(1));
    let mut values = VariableValues::new();
    let budget = Budget::default();
    let Evaluated { value, cost } =
        program.evaluate_composed(&activation, &variables, &mut values, budget);
    let text = value.map_err(|error| error.to_string());
    let text = text.map(|it| it.to_json().expect("it has JSON").to_string());
    (text, cost, values.take_cost())
}

#[test]
fn a_variable_is_evaluated_once_and_costs_nothing_unless_it_is_used() {
    let all = [("a", "x + 1"), ("b", "variables.a * 2"), ("c", "x / 0")];
    let (value, cost, of_variables) = evaluated(&all, "variables.b + variables.b");
    assert_eq!(value.as_deref(), Ok("8"));
    assert_eq!((cost, of_variables), (5, 5));
    let (value, _, of_variables) = evaluated(&all, "1 + 1");
    assert_eq!(value.as_deref(), Ok("2"));
    assert_eq!(of_variables, 0);
}

#[test]
fn a_variable_has_the_type_of_its_expression() {
    let variables = variables(&[("a", "[1, 2]"), ("b", "{'k': 'v'}"), ("c", "x")]);
    let type_of = |expression: &str| {
        let program = with(&variables).compile(expression);
        program.map(|it| it.output_type().to_string())
    };
    assert_eq!(type_of("variables.a").as_deref(), Ok("list(int)"));
    assert_eq!(type_of("variables.b").as_deref(), Ok("map(string, string)"));
    assert_eq!(type_of("variables.c").as_deref(), Ok("dyn"));
    let error = type_of("variables.d")
        .expect_err("it is not there")
        .to_string();
    assert!(error.contains("undefined field 'd'"), "{error}");
}

#[test]
fn a_variable_that_fails_fails_where_it_is_used() {
    let all = [("a", "x.missing"), ("b", "nope")];
    let (value, ..) = evaluated(&all, "variables.a == 1");
    let why = "composited variable \"a\" fails to evaluate: no such key: missing";
    assert_eq!(value, Err(why.to_owned()));
    let (value, ..) = evaluated(&all, "variables.b == 1");
    let why = value.expect_err("it does not compile");
    assert!(
        why.starts_with("composited variable \"b\" fails to compile: "),
        "{why}"
    );
    let (value, ..) = evaluated(&all, "true || variables.a == 1");
    assert_eq!(value.as_deref(), Ok("true"));
}

#[test]
fn variables_that_use_each_other_do_not_overflow_a_small_stack() {
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let deep = format!("{}variables.v0{}", "(".repeat(100), ")".repeat(100));
    let handle = thread.spawn(move || {
        let mut variables = Variables::new();
        let first = with(&variables)
            .compile("x")
            .map_err(|error| error.to_string());
        variables.push("v0", first);
        for index in 1..60 {
            let name = format!("v{index}");
            let last = deep.replace("v0", &format!("v{}", index - 1));
            let text = format!("{}x + {last}{}", "[".repeat(60), "][0]".repeat(60));
            let program = with(&variables).compile(&text);
            variables.push(&name, program.map_err(|error| error.to_string()));
        }
        let program = with(&variables)
            .compile("variables.v59")
            .expect("it compiles");
        let activation = Activation::new().bind("x", Value::Int(1));
        let mut values = VariableValues::new();
        let budget = Budget::default();
        let evaluated = program.evaluate_composed(&activation, &variables, &mut values, budget);
        evaluated.value.map(drop).map_err(|error| error.to_string())
    });
    let evaluated = handle
        .expect("it starts")
        .join()
        .expect("it does not overflow");
    let why = evaluated.expect_err("it is too deep");
    assert!(why.contains("nested too deeply"), "{why}");
}

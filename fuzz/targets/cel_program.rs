//! CEL: any text compiles or has an error, and what compiles ends within its budget with the same
//! result and cost each time.

#![no_main]

use kubist_cel::{Activation, Budget, Environment, Type, Value, Version};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

/// More than an evaluation costs before it ends.
const LIMIT: u64 = 100_000;

static ENVIRONMENT: LazyLock<Environment> = LazyLock::new(|| {
    let environment = Environment::new(Version::minor(36));
    environment.extend([
        ("i", Type::Int),
        ("s", Type::String),
        ("l", Type::list(Type::Int)),
        ("m", Type::map(Type::String, Type::String)),
        ("x", Type::Dyn),
    ])
});

fuzz_target!(|text: &str| {
    let program = match ENVIRONMENT.compile(text) {
        Ok(program) => program,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let estimate = program.cost_estimate();
    assert!(estimate.min <= estimate.max || estimate.max == 0);
    let activation = Activation::new()
        .bind("i", Value::Int(3))
        .bind("s", Value::string("a text, with words"))
        .bind(
            "l",
            Value::list(vec![Value::Int(1), Value::Int(-1), Value::Int(2)]),
        )
        .bind(
            "m",
            Value::Map(kubist_cel::Map::from(std::collections::BTreeMap::new())),
        )
        .bind("x", Value::Null);
    let budget = Budget {
        cost_limit: LIMIT,
        interrupt: None,
    };
    let (one, other) = (
        program.evaluate(&activation, budget),
        program.evaluate(&activation, budget),
    );
    assert_eq!(one.cost, other.cost);
    assert_eq!(format!("{:?}", one.value), format!("{:?}", other.value));
});

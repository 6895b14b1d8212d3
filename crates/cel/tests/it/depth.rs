//! Depth: no expression overflows the stack of a small thread.

use kubist_cel::{Activation, Budget, Environment, Type, Value, Version};

/// Compiles and evaluates on a thread with a stack as small as those of servers.
fn run(expression: String) -> Result<(), String> {
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let handle = thread.spawn(move || {
        let environment = Environment::new(Version::minor(36))
            .extend([("x", Type::Dyn), ("o", Type::optional(Type::Int))]);
        let program = environment
            .compile(&expression)
            .map_err(|error| error.to_string())?;
        let activation = Activation::new()
            .bind("x", Value::Int(1))
            .bind("o", Value::optional(Some(Value::Int(1))));
        program.evaluate(&activation, Budget::default());
        Ok(())
    });
    handle
        .expect("it starts")
        .join()
        .expect("it does not overflow")
}

fn nested(open: &str, inner: &str, close: &str, depth: usize) -> String {
    format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn the_deepest_expressions_fit_on_a_small_stack() {
    for (open, inner, close) in [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("{1: ", "1", "}"),
        ("-(", "1", ")"),
        ("!(", "true", ")"),
        ("dyn(", "1", ")"),
        ("x[", "x", "]"),
        ("true ? 1 : ", "1", ""),
        ("[1].map(e, ", "1", ")"),
        ("[1].exists(e, ", "true", ")"),
        ("has(x.a) || (", "true", ")"),
        ("1 + (", "1", ")"),
        ("x == (", "1", ")"),
    ] {
        for depth in [10, 100, 200, 249] {
            let _outcome = run(nested(open, inner, close, depth));
        }
        assert!(run(nested(open, inner, close, 10)).is_ok(), "{open}");
        let error = run(nested(open, inner, close, 5000)).expect_err("it is too deep");
        assert!(error.contains("recursion"), "{open} {error}");
    }
}

#[test]
fn chains_are_limited_as_nesting_is() {
    for link in [".a", "[0]", " + 1", " == 1", ".f()", " * 1", ".?a", " in x"] {
        let _outcome = run(format!("x{}", link.repeat(240)));
        let error = run(format!("x{}", link.repeat(5_000))).expect_err("it is too long");
        assert!(error.contains("recursion"), "{link} {error}");
    }
    assert!(run(format!("x == 1{}", " || x == 1".repeat(5000))).is_ok());
    assert!(run(format!("{}true", "!".repeat(50_000))).is_ok());
}

#[test]
fn macros_that_double_their_target_are_limited() {
    let error = run(format!("o{}", ".optMap(e, e + 1)".repeat(100))).expect_err("it is too large");
    assert!(error.contains("recursion"), "{error}");
}

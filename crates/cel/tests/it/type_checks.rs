//! Types of expressions, and what versions have.

use kubist_cel::{Environment, Type, Version};

fn kind(expression: &str) -> String {
    let environment = Environment::new(Version::minor(36))
        .extend([("x", Type::Dyn), ("o", Type::optional(Type::Int))]);
    environment
        .compile(expression)
        .expect("it compiles")
        .output_type()
        .to_string()
}

#[test]
fn types_follow_from_the_parts() {
    assert_eq!(kind("[1, 2]"), "list(int)");
    assert_eq!(kind("{'a': [1.0]}"), "map(string, list(double))");
    assert_eq!(kind("[]"), "list(dyn)");
    assert_eq!(kind("[1].map(e, string(e))"), "list(string)");
    assert_eq!(kind("x.a[0]"), "dyn");
    assert_eq!(kind("{'a': 1}.?a"), "optional_type(int)");
    assert_eq!(kind("o.optMap(e, [e])"), "optional_type(list(int))");
    assert_eq!(kind("type(1)"), "type(int)");
    assert_eq!(
        kind("timestamp('2020-01-01T00:00:00Z') - timestamp(x)"),
        "duration"
    );
    assert_eq!(kind("[[], [1]]"), "list(list(int))");
    assert_eq!(kind("x ? null : null"), "null");
}

#[test]
fn a_version_has_what_it_introduced() {
    let compiles = |minor, expression| {
        Environment::new(Version::minor(minor))
            .compile(expression)
            .is_ok()
    };
    assert!(!compiles(27, "1 < 2u") && compiles(28, "1 < 2u"));
    assert!(!compiles(27, "{'a': 1}.?a") && compiles(28, "{'a': 1}.?a"));
    assert!(!compiles(28, "'%d'.format([1])") && compiles(29, "'%d'.format([1])"));
    assert!(!compiles(31, "[1].all(a, b, a < b)") && compiles(32, "[1].all(a, b, a < b)"));
    let error = |minor| {
        Environment::new(Version::minor(minor))
            .compile("duration('x')")
            .expect_err("it does not compile")
    };
    assert!(error(28).is_instantiation() && !error(29).is_instantiation());
}

#[test]
fn names_are_found_from_within_a_container() {
    let environment =
        Environment::new(Version::minor(36)).extend([("a.b.c", Type::Int), ("c", Type::String)]);
    let inner = environment.with_container("a.b");
    assert_eq!(
        inner.compile("c").expect("it compiles").output_type(),
        &Type::Int
    );
    assert_eq!(
        inner.compile(".c").expect("it compiles").output_type(),
        &Type::String
    );
    assert_eq!(
        environment
            .compile("a.b.c")
            .expect("it compiles")
            .output_type(),
        &Type::Int
    );
}

//! A mistake in a struct that is a kind does not compile, and the message says what is wrong.

use super::implement;
use syn::{DeriveInput, parse_str};

const NAMES: &str = r#"group = "example.com", version = "v1", kind = "Fig""#;

/// Returns the message for a struct with these options and fields; empty if it compiles.
fn message(options: &str, fields: &str) -> String {
    let text = format!("#[resource({options})] struct Fig {{ {fields} }}");
    let input: DeriveInput = parse_str(&text).expect("it is a struct");
    match implement(&input) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn names_that_servers_refuse_do_not_compile() {
    let fields = "metadata: ObjectMeta";
    assert_eq!(message(NAMES, fields), "");
    for (options, expected) in [
        (r#"group = "example.com", version = "v1""#, "missing `kind`"),
        (
            r#"group = "example", version = "v1", kind = "Fig""#,
            "is no API group",
        ),
        (
            r#"group = "a.b", version = "v1", kind = "fig""#,
            "is no kind",
        ),
        (
            r#"group = "a.b", version = "v1", kind = "Fig", list_kind = "figs""#,
            "\"figs\" is no kind",
        ),
        (r#"group = "a.b", group = "a.c""#, "`group` is given twice"),
        (r#"status = "FigStatus""#, "unknown option `status`"),
    ] {
        let found = message(options, fields);
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn fields_that_are_no_object_do_not_compile() {
    for (fields, expected) in [
        ("spec: FigSpec", "missing the field `metadata"),
        ("metadata: ObjectMeta, kind: String", "\"kind\" names"),
        (
            "metadata: ObjectMeta, spec: A, #[resource(rename = \"spec\")] other: B",
            "\"spec\" names another field",
        ),
        (
            "metadata: ObjectMeta, #[resource(name = \"spec\")] other: B",
            "expected `rename",
        ),
        (
            "metadata: ObjectMeta, #[resource(flatten)] a: A, #[resource(flatten)] b: A",
            "only one field",
        ),
    ] {
        let found = message(NAMES, fields);
        assert!(found.contains(expected), "{found}");
    }
}

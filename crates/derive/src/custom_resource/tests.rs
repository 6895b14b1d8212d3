//! A mistake in the options does not compile, and the message names the cause and the way out.

use super::implement;
use syn::{DeriveInput, parse_str};

/// Returns the message for a spec with these options.
fn message(options: &str) -> String {
    let text = format!("#[custom_resource({options})] struct FigSpec {{}}");
    let input: DeriveInput = parse_str(&text).expect("it is a struct");
    match implement(&input) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

const NAMES: &str = r#"group = "example.com", version = "v1", kind = "Fig""#;

fn with(option: &str) -> String {
    message(&format!("{NAMES}, {option}"))
}

#[test]
fn names_that_servers_refuse_do_not_compile() {
    assert_eq!(message(NAMES), "");
    let missing = message(r#"group = "example.com", version = "v1""#);
    assert!(missing.starts_with("missing `kind`: write"), "{missing}");
    for (options, expected) in [
        (
            r#"group = "example", version = "v1", kind = "Fig""#,
            "\"example\" is no API group",
        ),
        (
            r#"group = "a.b", version = "V1", kind = "Fig""#,
            "\"V1\" is no version",
        ),
        (
            r#"group = "a.b", version = "v1", kind = "fig""#,
            "\"fig\" is no kind",
        ),
        (
            r#"group = "a.b", version = "v1", kind = "FigSpec""#,
            "rename it to `FigSpecSpec`",
        ),
    ] {
        let found = message(options);
        assert!(found.contains(expected), "{found}");
    }
    assert!(with(r#"plural = "Figs""#).contains("as in \"figs\""));
    assert!(with(r#"root = "a b""#).contains("is no name of a struct"));
    assert_eq!(with(r#"kind = "Fig""#), "`kind` is given twice");
}

#[test]
fn options_that_are_unknown_or_kubes_have_a_hint() {
    assert!(with(r#"colour = "red""#).starts_with("unknown option `colour`; expected one of"));
    assert!(with(r#"shortnames = "f""#).contains("`shortname = \"fg\"`, once for each"));
    assert!(with(r#"crates(kube_core = "x")"#).contains("`crate = PATH`"));
    assert!(with("no_spec").contains("every kind has a `spec`"));
}

#[test]
fn columns_scale_rules_and_paths_are_checked() {
    for (option, expected) in [
        (r#"printcolumn = r"{}""#, "expected the parts of the column"),
        (
            r#"printcolumn(name = "A")"#,
            "a column needs name, type and json_path",
        ),
        (
            r#"printcolumn(name = "A", type = "text", json_path = ".a")"#,
            "integer, number, string",
        ),
        (
            r#"printcolumn(name = "A", type = "string", json_path = "a")"#,
            "begin with a dot",
        ),
        (
            r#"printcolumn(name = "A", width = 3)"#,
            "expected `name`, `type`",
        ),
        (
            r#"scale(spec_replicas_path = ".spec.replicas")"#,
            "scale needs both paths",
        ),
        ("scale(replicas = 1)", "expected `spec_replicas_path`"),
        (
            r#"selectable = "spec.colour""#,
            "\"spec.colour\" is no JSON path",
        ),
        ("validation()", "missing rule"),
        (r#"validation(text = "a")"#, "expected `rule`, `message`"),
        (r#"annotation("a")"#, "expected a name and a value"),
    ] {
        let found = with(option);
        assert!(found.contains(expected), "{option}: {found}");
    }
}

#[test]
fn a_spec_with_type_parameters_is_refused() {
    let input: DeriveInput = parse_str("struct FigSpec<T> { a: T }").expect("it is a struct");
    let error = implement(&input).expect_err("it has a parameter");
    assert!(
        error
            .to_string()
            .starts_with("a spec cannot have type parameters")
    );
}

#[test]
fn plurals_are_those_of_kube() {
    let cases = [
        ("fig", "figs"),
        ("berry", "berries"),
        ("box", "boxes"),
        ("bush", "bushes"),
    ];
    for (singular, plural) in cases
        .into_iter()
        .chain([("toy", "toys"), ("class", "classes")])
    {
        assert_eq!(crate::names::plural_of(singular), plural);
    }
}

//! What cannot have a configuration does not compile, and the message names the way out.

use super::implement;
use syn::parse_str;

fn message(text: &str) -> String {
    let input = parse_str(text).expect("it is an item");
    match implement(&input) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_has_no_configuration_is_refused_with_the_way_out() {
    for (text, expected) in [
        ("struct A { a: String }", ""),
        ("struct A {}", ""),
        ("enum A { One, Two }", ""),
        ("struct A(String);", "put `#[apply(json)]` on the fields"),
        (
            "enum A { One(String) }",
            "put `#[apply(json)]` on the fields",
        ),
        ("union A { a: u8 }", "is made of structs"),
        ("struct A<T> { a: T }", "cannot have type parameters"),
        (
            "struct A { #[serde(flatten)] a: B }",
            "cannot set flattened fields",
        ),
        ("struct A { #[apply(yaml)] a: B }", "expected `json`"),
        ("#[apply(path = b)] struct A {}", "expected `crate = PATH`"),
        (
            "#[serde(rename_all = \"Title Case\")] struct A { a: B }",
            "no rule of serde",
        ),
    ] {
        let message = message(text);
        assert!(message.contains(expected), "{text}: {message}");
        assert_eq!(message.is_empty(), expected.is_empty(), "{text}: {message}");
    }
}

#[test]
fn names_are_those_of_serde() {
    let input = r#"
        #[serde(rename_all(serialize = "camelCase", deserialize = "snake_case"), default)]
        struct A {
            #[serde(default = "path", skip_serializing_if = "Vec::is_empty")] first_one: Vec<B>,
            #[serde(rename(serialize = "2nd"), alias = "x")] second: B,
            #[serde(skip_serializing)] third: B,
            r#type: B,
        }"#;
    let output = implement(&parse_str(input).expect("it is a struct"));
    let output = output.expect("it has a configuration").to_string();
    for name in ["\"firstOne\"", "\"2nd\"", "\"type\""] {
        assert!(output.contains(name), "{name} in {output}");
    }
    assert!(!output.contains("third"), "{output}");
}

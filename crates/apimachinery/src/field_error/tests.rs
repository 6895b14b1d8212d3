//! Every kind of field error as upstream prints it.

use super::*;

fn check(table: &[(FieldError, &str)]) {
    for (error, expected) in table {
        assert_eq!(error.body(), *expected);
        assert_eq!(error.to_string(), format!("spec.x: {expected}"));
    }
}

#[test]
fn errors_print_as_upstreams() {
    let path = FieldPath::new("spec").child("x");
    let table = [
        (FieldError::required(&path, ""), "Required value"),
        (FieldError::required(&path, "why"), "Required value: why"),
        (
            FieldError::invalid(&path, "a\"b", "detail"),
            r#"Invalid value: "a\"b": detail"#,
        ),
        (
            FieldError::invalid(&path, "", "detail"),
            r#"Invalid value: "": detail"#,
        ),
        (
            FieldError::invalid(&path, -1, "low"),
            "Invalid value: -1: low",
        ),
        (FieldError::invalid(&path, true, ""), "Invalid value: true"),
        (
            FieldError::invalid(&path, BadValue::null(), "d"),
            "Invalid value: null: d",
        ),
        (
            FieldError::invalid(&path, BadValue::omitted(), "d"),
            "Invalid value: d",
        ),
        (
            FieldError::invalid(&path, BadValue::json(&["<a>", "&"]), "d"),
            r#"Invalid value: ["\u003ca\u003e","\u0026"]: d"#,
        ),
        (
            FieldError::type_invalid(&path, "a", "d"),
            r#"Invalid value: "a": d"#,
        ),
        (
            FieldError::not_supported(&path, "x", &["A", "B"]),
            r#"Unsupported value: "x": supported values: "A", "B""#,
        ),
        (
            FieldError::not_supported(&path, "<\u{2028}", &["A"]),
            r#"Unsupported value: "\u003c\u2028": supported values: "A""#,
        ),
        (
            FieldError::not_supported_text(&path, "<", &["A"]),
            r#"Unsupported value: "<": supported values: "A""#,
        ),
        (
            FieldError::not_supported(&path, "x", &[""; 0]),
            r#"Unsupported value: "x""#,
        ),
    ];
    check(&table);
}

#[test]
fn other_errors_print_as_upstreams() {
    let path = FieldPath::new("spec").child("x");
    let table = [
        (FieldError::duplicate(&path, "x"), r#"Duplicate value: "x""#),
        (FieldError::not_found(&path, 5), "Not found: 5"),
        (FieldError::forbidden(&path, "why"), "Forbidden: why"),
        (
            FieldError::too_long(&path, 128),
            "Too long: may not be more than 128 bytes",
        ),
        (
            FieldError::too_long(&path, 1),
            "Too long: may not be more than 1 byte",
        ),
        (
            FieldError::too_long_characters(&path, 2),
            "Too long: may not be more than 2 characters",
        ),
        (
            FieldError::too_short(&path, 1),
            "Too short: must be at least 1 character",
        ),
        (
            FieldError::too_many(&path, Some(4), 3),
            "Too many: 4: must have at most 3 items",
        ),
        (
            FieldError::too_many(&path, None, 1),
            "Too many: must have at most 1 item",
        ),
        (FieldError::internal(&path, "oops"), "Internal error: oops"),
    ];
    check(&table);
}

#[test]
fn several_errors_are_listed_once_each() {
    let path = FieldPath::new("a");
    let (one, two) = (
        FieldError::required(&path, ""),
        FieldError::duplicate(&path, 1),
    );
    for (errors, expected) in [
        (vec![], ""),
        (vec![one.clone()], "a: Required value"),
        (vec![one.clone(), one.clone()], "a: Required value"),
        (
            vec![one.clone(), two, one],
            "[a: Required value, a: Duplicate value: 1]",
        ),
    ] {
        assert_eq!(aggregate(&errors), expected);
    }
}

#[test]
fn only_as_many_errors_are_reported_as_fit() {
    let long = BadValue::json(&"x".repeat(300_000));
    let error = FieldError::invalid(&FieldPath::new("spec"), long, "no");
    let errors = vec![error; 40_000];
    assert_eq!(reported(&errors).len(), 3);
    let status = crate::Status::invalid(&crate::GroupKind::new("", "Pod"), "p", &errors);
    assert_eq!(status.details.map_or(0, |it| it.causes.len()), 3);
    assert!(reported(&[]).is_empty());
}

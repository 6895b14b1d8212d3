//! Field selectors against a table that upstream's own parser made.

use super::*;
use crate::upstream_table::{Outcome, read};
use proptest::prelude::*;

#[test]
fn texts_parse_and_print_as_upstream() {
    let table: Vec<(String, Outcome)> = read(include_str!("../../testdata/field_selectors.json"));
    for (text, expected) in table {
        assert_eq!(
            Outcome::of(&text.parse::<FieldSelector>()),
            expected,
            "{text}"
        );
    }
}

fn selector(text: &str) -> FieldSelector {
    text.parse().expect("the text is a selector")
}

#[test]
fn a_missing_field_is_an_empty_one() {
    let fields = |field: &str| (field == "a").then_some("1");
    for (text, expected) in [
        ("", true),
        ("a=1", true),
        ("a=2", false),
        ("a!=2", true),
        ("a!=1", false),
        ("b=", true),
        ("b=1", false),
        ("b!=", false),
        ("b!=1", true),
        ("a=1,b=", true),
        ("a=1,b=1", false),
    ] {
        assert_eq!(selector(text).matches(fields), expected, "{text}");
    }
}

#[test]
fn the_exact_value_of_a_field_is_found() {
    let selector = selector("metadata.name=a,metadata.namespace!=b");
    assert_eq!(selector.exact("metadata.name"), Some("a"));
    assert_eq!(selector.exact("metadata.namespace"), None);
    assert_eq!(selector.exact("spec"), None);
    let object = FieldSelector::object(&ObjectName::new("ns", "x"));
    assert_eq!(object.to_string(), "metadata.name=x,metadata.namespace=ns");
    assert_eq!(
        FieldSelector::object(&ObjectName::cluster("x"))
            .terms()
            .len(),
        1
    );
}

#[test]
fn a_lone_operator_is_no_term() {
    for text in ["=", "!=", "==,", ",=,!="] {
        assert!(selector(text).is_everything(), "{text}");
    }
    assert_eq!(selector("=,a=b,!=").to_string(), "a=b");
    assert_eq!(selector("=b,a=").to_string(), "=b,a=");
}

#[test]
fn transform_renames_drops_and_refuses() {
    let convert = |field: &Str, value: &Str| match field.as_str() {
        "old" => Ok((Str::from("new"), value.clone())),
        "drop" => Ok((Str::default(), Str::default())),
        other => Err(format!("field label not supported: {other}")),
    };
    let transformed = selector("old!=1,drop=2").transform(convert);
    assert_eq!(
        transformed.map(|it| it.to_string()),
        Ok("new!=1".to_owned())
    );
    let refused = selector("x=1").transform(convert);
    assert_eq!(refused, Err("field label not supported: x".to_owned()));
}

proptest! {
    #[test]
    fn what_is_printed_parses_back(terms in prop::collection::vec(
        ("[a-z]{1,3}", any::<bool>(), "[a-z\\\\,=! é]{0,6}"), 0..5,
    )) {
        let terms = terms.into_iter().map(|(field, negated, value)| FieldTerm {
            field: field.into(), negated, value: value.into(),
        });
        let printed = FieldSelector::new(terms).to_string();
        let parsed: FieldSelector = printed.parse()?;
        // Parsing sorts.
        prop_assert_eq!(parsed.to_string().parse(), Ok(parsed.clone()));
        prop_assert_eq!(parsed.to_string().len(), printed.len());
    }

    #[test]
    fn no_text_panics(text in "[a-c=!,\\\\é]{0,12}") {
        drop(text.parse::<FieldSelector>());
    }
}

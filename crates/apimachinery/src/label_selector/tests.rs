//! Selectors against a table that upstream's own parser made.

use super::*;
use crate::upstream_table::{Outcome, read};
use crate::{FieldPath, LabelSelectorRequirement};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

/// What stands for `{NAME}` and `{VALUE}` in messages here.
const NAME: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and \
    end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used \
    for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, \
    '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or \
    'my_value',  or '12345', regex used for validation is \
    '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

#[test]
fn texts_parse_and_print_as_upstream() {
    let table: Vec<(String, Outcome)> = read(include_str!("../../testdata/label_selectors.json"));
    for (text, expected) in table {
        assert_eq!(Outcome::of(&text.parse::<Selector>()), expected, "{text}");
    }
}

fn selector(text: &str) -> Selector {
    text.parse().expect("the text is a selector")
}

#[test]
fn labels_match_or_not() {
    let labels = [("a", "1"), ("b", ""), ("c", "x")].map(|(key, value)| (key.into(), value.into()));
    let labels = BTreeMap::from(labels);
    for (text, expected) in [
        ("", true),
        ("a=1", true),
        ("a==1", true),
        ("a=2", false),
        ("z=1", false),
        ("a!=1", false),
        ("a!=2", true),
        ("z!=1", true),
        ("a in (0,1)", true),
        ("z in (0,1)", false),
        ("a notin (0,1)", false),
        ("z notin (0,1)", true),
        ("b=", true),
        ("z=", false),
        ("b", true),
        ("z", false),
        ("!b", false),
        ("!z", true),
        ("a>0", true),
        ("a>1", false),
        ("a<2", true),
        ("z>0", false),
        ("c>0", false),
        ("b<5", false),
        ("a=1,c=x", true),
        ("a=1,c=y", false),
        ("a=1,a=2", false),
    ] {
        assert_eq!(selector(text).matches_labels(&labels), expected, "{text}");
    }
    assert!(!Selector::nothing().matches_labels(&labels));
    assert!(Selector::everything().matches_labels(&BTreeMap::new()));
}

#[test]
fn everything_and_nothing_are_distinct() {
    assert!(Selector::default().is_everything() && !Selector::default().is_nothing());
    assert!(Selector::nothing().is_nothing() && !Selector::nothing().is_everything());
    assert_eq!(Selector::nothing().to_string(), "");
    let requirement = selector("a=1").requirements()[0].clone();
    assert!(Selector::nothing().and(requirement.clone()).is_nothing());
    assert_eq!(selector("b").and(requirement).to_string(), "a=1,b");
}

#[test]
fn the_exact_value_of_a_label_is_found() {
    for (text, expected) in [
        ("a=1", Some("1")),
        ("a==1", Some("1")),
        ("a in (1)", Some("1")),
        ("a in (1,2)", None),
        ("a!=1", None),
        ("a", None),
        ("b=1", None),
    ] {
        assert_eq!(selector(text).exact("a"), expected, "{text}");
    }
}

fn spec(labels: &[(&str, &str)], expressions: &[(&str, &str, &[&str])]) -> LabelSelector {
    let expression = |(key, operator, values): &(&str, &str, &[&str])| LabelSelectorRequirement {
        key: (*key).into(),
        operator: (*operator).into(),
        values: values.iter().map(|value| Str::from(*value)).collect(),
    };
    LabelSelector {
        match_labels: labels
            .iter()
            .map(|(k, v)| (Str::from(*k), Str::from(*v)))
            .collect(),
        match_expressions: expressions.iter().map(expression).collect(),
    }
}

#[test]
fn selectors_of_objects_convert() {
    let table: &[(LabelSelector, Result<&str, String>)] = &[
        (spec(&[], &[]), Ok("")),
        (spec(&[("a", "b")], &[]), Ok("a=b")),
        (
            spec(&[("a$", "b")], &[]),
            Err(format!("key: Invalid value: \"a$\": name part {NAME}")),
        ),
        (
            spec(&[("a", "$")], &[]),
            Err(format!("values[0][a]: Invalid value: \"$\": {VALUE}")),
        ),
        (
            spec(&[], &[("k", "In", &["b", "a"]), ("a", "Exists", &[])]),
            Ok("a,k in (a,b)"),
        ),
        (
            spec(&[], &[("k", "In", &[])]),
            Err(
                "values: Invalid value: null: for 'in', 'notin' operators, values set can't be \
                 empty"
                    .to_owned(),
            ),
        ),
        (
            spec(&[], &[("k", "Exists", &["b"])]),
            Err(
                "values: Invalid value: [\"b\"]: values set must be empty for exists and does not \
                 exist"
                    .to_owned(),
            ),
        ),
        (
            spec(&[], &[("k", "Gt", &["b"])]),
            Err("\"Gt\" is not a valid label selector operator".to_owned()),
        ),
    ];
    for (spec, expected) in table {
        let found = Selector::try_from(spec);
        let found = found
            .map(|it| it.to_string())
            .map_err(|error| error.to_string());
        assert_eq!(found, expected.clone().map(str::to_owned));
    }
    assert_eq!(format_label_selector(None), "<none>");
    assert_eq!(format_label_selector(Some(&table[0].0)), "<none>");
    assert_eq!(format_label_selector(Some(&table[1].0)), "a=b");
    assert_eq!(format_label_selector(Some(&table[2].0)), "<error>");
}

#[test]
fn selectors_of_objects_are_validated() {
    let path = FieldPath::new("spec").child("selector");
    let selector = spec(
        &[("a", "$")],
        &[
            ("k", "In", &[]),
            ("k", "Exists", &["b"]),
            ("k", "Gt", &[]),
            ("k$", "NotIn", &["$"]),
        ],
    );
    let messages: Vec<_> = validate_label_selector(&selector, &path, false)
        .iter()
        .map(|error| {
            error
                .to_string()
                .replace(NAME, "{NAME}")
                .replace(VALUE, "{VALUE}")
        })
        .collect();
    assert_eq!(
        messages,
        [
            "spec.selector.matchLabels: Invalid value: \"$\": {VALUE}",
            "spec.selector.matchExpressions[0].values: Required value: must be specified when \
         `operator` is 'In' or 'NotIn'",
            "spec.selector.matchExpressions[1].values: Forbidden: may not be specified when \
         `operator` is 'Exists' or 'DoesNotExist'",
            "spec.selector.matchExpressions[2].operator: Invalid value: \"Gt\": not a valid \
             selector operator",
            "spec.selector.matchExpressions[3].key: Invalid value: \"k$\": name part {NAME}",
            "spec.selector.matchExpressions[3].values[0]: Invalid value: \"$\": {VALUE}",
        ]
    );
    assert_eq!(validate_label_selector(&selector, &path, true).len(), 5);
}

#[test]
fn a_selector_of_labels_selects_those_labels() {
    let labels = BTreeMap::from([("b".into(), "2".into()), ("a".into(), "1".into())]);
    let selector = Selector::from_labels(&labels);
    assert_eq!(selector.to_string(), "a=1,b=2");
    assert!(selector.matches_labels(&labels));
}

proptest! {
    #[test]
    fn what_is_printed_parses_back(
        first in "[a-c](=|==|!=)[a-c0-9]?|!?[a-c]|[a-c] (not)?in \\([a-c]?(,[a-c]){0,3}\\)|a[<>]9",
        others in "(,[d-f]=[a-c]){0,3}",
    ) {
        let text = first + &others;
        let parsed = selector(&text);
        let printed = parsed.to_string();
        prop_assert_eq!(selector(&printed).to_string(), printed);
    }

    #[test]
    fn no_text_panics(text in "[a-c=!,()<> \0é]{0,16}|(a|in|notin|,|\\(|\\)| ){0,12}") {
        drop(text.parse::<Selector>());
    }

    #[test]
    fn a_matcher_selects_what_its_selector_does(
        requirements in vec(few_requirements(), 0..6),
        labels in btree_map("[abc]", "(-?[0-9]|[xy])", 0..4),
    ) {
        let selector = Selector::new(requirements);
        let pairs = || labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let expected = selector.matches(|key| labels.get(key).map(String::as_str));
        prop_assert_eq!(selector.matcher().matches(pairs()), expected, "{}", selector);
    }
}

/// Few keys and values, so that they collide.
fn few_requirements() -> impl Strategy<Value = Requirement> {
    let values = vec("(-?[0-9]|[xy])", 1..4);
    ("[abc]", 0..9_usize, values).prop_filter_map("not valid", |(key, operator, values)| {
        let operator = [
            Operator::Equals,
            Operator::DoubleEquals,
            Operator::In,
            Operator::NotEquals,
            Operator::NotIn,
            Operator::Exists,
            Operator::DoesNotExist,
            Operator::GreaterThan,
            Operator::LessThan,
        ][operator];
        let count = match operator {
            Operator::In | Operator::NotIn => values.len(),
            Operator::Exists | Operator::DoesNotExist => 0,
            _ => 1,
        };
        let values = values.into_iter().take(count).map(Str::from);
        Requirement::new(key, operator, values).ok()
    })
}

#[test]
fn nothing_selects_nothing_and_everything_everything() {
    assert!(!Selector::nothing().matcher().matches([]));
    assert!(Selector::everything().matcher().matches([("a", "b")]));
}

//! Field selectors against a table that upstream's own parser made.

use proptest::prelude::*;

use super::*;

#[rustfmt::skip]
const TABLE: &[(&str, Result<&str, &str>)] = &[
    ("", Ok("")),
    ("x=a", Ok("x=a")),
    ("x==a", Ok("x=a")),
    ("x!=a", Ok("x!=a")),
    ("x=a,y=b", Ok("x=a,y=b")),
    ("y=b,x=a", Ok("x=a,y=b")),
    ("x=,y=b", Ok("x=,y=b")),
    ("x= ", Ok("x= ")),
    ("x", Err("invalid selector: 'x'; can't understand 'x'")),
    ("x>a", Err("invalid selector: 'x>a'; can't understand 'x>a'")),
    ("x=a,y", Err("invalid selector: 'x=a,y'; can't understand 'y'")),
    ("=a", Ok("=a")),
    ("!=a", Ok("!=a")),
    ("x=a\\,b", Ok("x=a\\,b")),
    ("x=a\\=b", Ok("x=a\\=b")),
    ("x=a\\\\b", Ok("x=a\\\\b")),
    ("x=a\\b", Err("invalid field selector: invalid escape sequence: \\b")),
    ("x=a\\", Err("invalid field selector: invalid escape sequence: \\")),
    ("x=a=b", Err("invalid field selector: unescaped character in value: 61")),
    ("x!=a=b", Err("invalid field selector: unescaped character in value: 61")),
    ("x==a==b", Err("invalid field selector: unescaped character in value: 61")),
    ("x=a,", Ok("x=a")),
    ("x=a,,y=b", Ok("x=a,y=b")),
    (",", Ok("")),
    ("x\\,y=a", Ok("x\\,y=a")),
    ("x=\\\\\\,", Ok("x=\\\\\\,")),
    ("metadata.name=a,metadata.namespace!=b", Ok("metadata.name=a,metadata.namespace!=b")),
    ("x!==a", Err("invalid field selector: unescaped character in value: 61")),
    ("é=ü", Ok("é=ü")),
    ("x=a b", Ok("x=a b")),
    ("x===a", Err("invalid field selector: unescaped character in value: 61")),
    ("x!=", Ok("x!=")),
    ("a\\=b=c", Err("invalid field selector: unescaped character in value: 61")),
];

#[test]
fn texts_parse_and_print_as_upstream() {
    for (text, expected) in TABLE {
        let found = text.parse::<FieldSelector>();
        let found = found
            .map(|it| it.to_string())
            .map_err(|error| error.to_string());
        assert_eq!(
            found,
            expected.map(str::to_owned).map_err(str::to_owned),
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
        let _ = text.parse::<FieldSelector>();
    }
}

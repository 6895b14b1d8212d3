//! Tables of scalars and documents; the meanings are those of upstream's parser.

use super::*;
use serde_json::{Value, json};

fn value(text: &str) -> Value {
    parse(text.as_bytes())
        .unwrap_or_else(|error| panic!("{text}: {error}"))
        .value
}

#[test]
fn plain_scalars_mean_what_yaml_1_1_says() {
    let cases = [
        ("yes", json!(true)),
        ("y", json!(true)),
        ("On", json!(true)),
        ("NO", json!(false)),
        ("off", json!(false)),
        ("yEs", json!("yEs")),
        ("~", json!(null)),
        ("Null", json!(null)),
        ("nULL", json!("nULL")),
        ("1e3", json!(1000)),
        ("1.5e-3", json!(0.0015)),
        (".5", json!(0.5)),
        ("5.", json!(5)),
        ("1e", json!("1e")),
        ("0x10", json!(16)),
        ("0o17", json!(15)),
        ("017", json!(15)),
        ("08", json!(8)),
        ("0b101", json!(5)),
        ("-0x10", json!(-16)),
        ("+7", json!(7)),
        ("1_000", json!(1000)),
        ("9223372036854775808", json!(9_223_372_036_854_775_808u64)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("100000000000000000000", json!(1e20)),
        ("2008-01-01", json!("2008-01-01")),
        ("2008-01-01T01:01:01Z", json!("2008-01-01T01:01:01Z")),
        ("1.2.3", json!("1.2.3")),
        ("10.0.0.0/8", json!("10.0.0.0/8")),
        ("12:30:45", json!("12:30:45")),
        ("100m", json!("100m")),
        ("-", json!([null])),
        ("'yes'", json!("yes")),
        ("\"1\"", json!("1")),
        ("!!str 1", json!("1")),
        ("!!int \"3\"", json!(3)),
        ("!!float 3", json!(3)),
        ("!!binary aGk=", json!("hi")),
        ("!custom x", json!("x")),
        ("", json!(null)),
        ("# nothing\n", json!(null)),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn keys_become_strings() {
    assert_eq!(
        value("1: a\ntrue: b\non: c\n1.5: d\n\"2\": e"),
        json!({"1": "a", "true": "c", "1.5": "d", "2": "e"})
    );
    for text in ["? [a]\n: b", "~: a", "{a: b}: c"] {
        let error = parse(text.as_bytes()).unwrap_err();
        assert_eq!(error.kind, YamlErrorKind::Key, "{text}");
    }
}

#[test]
fn documents_are_split_and_empty_ones_left_out() {
    let text = "# head\n---\na: 1\n---\n# nothing\n---\nb: |\n  x\n  ---\n...\n---\nc: '---'\n";
    let documents = parse_all(text.as_bytes()).unwrap();
    let values: Vec<Value> = documents
        .iter()
        .map(|document| document.value.clone())
        .collect();
    assert_eq!(
        values,
        [
            json!({"a": 1}),
            json!({"b": "x\n---\n"}),
            json!({"c": "---"})
        ]
    );
    assert_eq!(parse(text.as_bytes()).unwrap().value, json!({"a": 1}));
    assert!(parse_all(b"").unwrap().is_empty());
    let crlf = parse_all(b"a: 1\r\n---\r\nb: 2\r\n").unwrap();
    assert_eq!(crlf.len(), 2);
}

#[test]
fn json_is_yaml_and_block_scalars_keep_their_lines() {
    assert_eq!(
        value("{\"a\": [1, \"x\\ny\", null], \"b\":{}}"),
        json!({"a": [1, "x\ny", null], "b": {}})
    );
    let text = "a: |\n  one\n\n    two\n  three\nb: >-\n  folded\n  text\nc: |+\n  keep\n\n";
    assert_eq!(
        value(text),
        json!({"a": "one\n\n  two\nthree\n", "b": "folded text", "c": "keep\n\n"})
    );
}

#[test]
fn duplicate_keys_are_named_by_line_and_the_last_counts() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: y1\n  name: z1\n";
    let document = parse(text.as_bytes()).unwrap();
    assert_eq!(document.value["metadata"]["name"], "z1");
    assert_eq!(document.duplicates.len(), 1);
    assert_eq!(
        document.duplicates[0].to_string(),
        "line 5: key \"name\" already set in map"
    );
}

#[test]
fn anchors_and_merge_keys_are_expanded() {
    let text = "base: &b {x: 1, w: 2}\nother: &o\n  w: 3\n  z: 4\n\
        one:\n  w: 9\n  <<: *b\nboth:\n  <<: [*b, *o]\n  v: 0\nlist: [*b, *o]\n";
    let value = value(text);
    assert_eq!(value["one"], json!({"x": 1, "w": 9}));
    assert_eq!(value["both"], json!({"x": 1, "w": 2, "z": 4, "v": 0}));
    assert_eq!(value["list"][1], json!({"w": 3, "z": 4}));
    assert!(parse(text.as_bytes()).unwrap().duplicates.is_empty());
    assert_eq!(parse(b"a: {<<: 1}").unwrap_err().kind, YamlErrorKind::Merge);
    assert_eq!(
        parse(b"a: &a [*a]").unwrap_err().kind,
        YamlErrorKind::Recursive
    );
}

#[test]
fn aliases_cannot_blow_a_document_up() {
    let levels = (1..12).map(|level| {
        let items = [(); 9].map(|()| format!("*a{}", level - 1)).join(",");
        format!("a{level}: &a{level} [{items}]\n")
    });
    let text = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned() + &levels.collect::<String>();
    assert_eq!(
        parse(text.as_bytes()).unwrap_err().kind,
        YamlErrorKind::Aliases
    );
}

#[test]
fn errors_name_the_line() {
    let error = parse(b"a: b: c").unwrap_err();
    assert_eq!(
        error.to_string(),
        "yaml: mapping values are not allowed in this context"
    );
    let error = parse(b"a: 1\nb: 2\nc: [1, 2\nd: 3\n").unwrap_err();
    assert!(error.to_string().starts_with("yaml: line "), "{error}");
    assert!(error.line >= 3, "{error:?}");
    for text in [
        "a: *none",
        "a:\n\tb: 1",
        "a: 'x",
        "a:\n- b\n c: d",
        "a: .inf",
        "@x",
    ] {
        assert!(parse(text.as_bytes()).is_err(), "{text}");
    }
    let error = parse(b"a: 1\nb: \xff").unwrap_err();
    assert_eq!(
        (error.line, error.column, error.kind),
        (2, 4, YamlErrorKind::NotUtf8)
    );
    let deep = "[".repeat(10_000);
    assert!(parse(deep.as_bytes()).is_err());
    let long = format!("a: {}", "x".repeat(DOCUMENT_BYTES_MAX));
    let error = parse(long.as_bytes()).unwrap_err();
    assert_eq!(
        error.kind,
        YamlErrorKind::TooLong {
            max: DOCUMENT_BYTES_MAX
        }
    );
}

#[test]
fn texts_are_quoted_only_where_they_must_be() {
    let cases = [
        ("plain text", "plain text"),
        ("1", "\"1\""),
        ("yes", "\"yes\""),
        ("", "\"\""),
        ("null", "\"null\""),
        ("2008-01-01T01:01:01Z", "\"2008-01-01T01:01:01Z\""),
        ("2008-01-01 01:01:01.5", "\"2008-01-01 01:01:01.5\""),
        ("2008-13-01", "2008-13-01"),
        ("12:30:45", "\"12:30:45\""),
        ("0x10", "\"0x10\""),
        ("1e3", "\"1e3\""),
        ("1e3x", "1e3x"),
        ("10.0.0.0/8", "10.0.0.0/8"),
        ("<<", "\"<<\""),
        ("a: b", "'a: b'"),
        ("a:", "'a:'"),
        ("a:b", "a:b"),
        ("a #b", "'a #b'"),
        ("a#b", "a#b"),
        ("#a", "'#a'"),
        ("- a", "'- a'"),
        ("-a", "-a"),
        ("*", "'*'"),
        ("it's", "it's"),
        ("'x'", "'''x'''"),
        ("{}", "'{}'"),
        ("a{b},c", "a{b},c"),
        (" lead", "' lead'"),
        ("trail ", "'trail '"),
        ("tab\there", "\"tab\\there\""),
        ("bell\u{7}", "\"bell\\a\""),
        ("quote\" and\ttab", "\"quote\\\" and\\ttab\""),
        ("größe", "größe"),
        ("\u{1f600}", "\"\\U0001F600\""),
        ("---", "'---'"),
        ("line\n", "|\n  line"),
        ("line", "line"),
        ("a\nb", "|-\n  a\n  b"),
        ("a\n\n", "|+\n  a\n"),
        ("a \nb", "\"a \\nb\""),
        (" a\nb\n", "|2\n   a\n  b"),
    ];
    for (text, printed) in cases {
        let expected = format!("k: {printed}\n");
        let found = to_yaml(&json!({ "k": text }));
        assert_eq!(found, expected, "{text:?}");
        assert_eq!(value(&found), json!({ "k": text }), "{text:?}");
    }
}

#[test]
fn long_texts_are_folded_as_upstream_folds_them() {
    let message = "0/1 nodes are available: 1 node(s) had taint {node.kubernetes.io/not-ready: }, \
        that the pod didn't tolerate.";
    let printed = to_yaml(&json!({"status": {"conditions": [{ "message": message }]}}));
    assert_eq!(
        printed,
        "status:\n  conditions:\n  - message: '0/1 nodes are available: 1 node(s) had taint \
         {node.kubernetes.io/not-ready:\n      }, that the pod didn''t tolerate.'\n"
    );
    let words = "word ".repeat(60).trim_end().to_owned();
    for text in [
        words.clone(),
        format!("{words}: x"),
        format!("{words}\t  {words}"),
    ] {
        let printed = to_yaml(&json!({"a": {"b": text}}));
        assert!(printed.lines().count() > 3, "{printed}");
        assert_eq!(value(&printed)["a"]["b"], json!(text));
    }
}

#[test]
fn trees_are_printed_in_block_style() {
    let tree = json!({
        "b": [1, [2, [3]], {"x": [], "y": {}}, [{"k": "v", "l": [null]}]],
        "a": {"n": -1.5, "t": true, "e": 1e-7, "big": 1e21},
        "k10": 1, "k9": 2,
    });
    let printed = "a:\n  big: 1e+21\n  e: 1e-07\n  \"n\": -1.5\n  t: true\nb:\n- 1\n\
        - - 2\n  - - 3\n\
        - x: []\n  \"y\": {}\n- - k: v\n    l:\n    - null\nk9: 2\nk10: 1\n";
    assert_eq!(to_yaml(&tree), printed);
    assert_eq!(value(printed)["b"], tree["b"]);
    let long = "k".repeat(200);
    let printed = to_yaml(&json!({ &long: {"a": 1} }));
    assert_eq!(printed, format!("? {long}\n: a: 1\n"));
    assert_eq!(to_yaml(&json!("x")), "x\n");
    assert_eq!(to_yaml(&json!({})), "{}\n");
}

//! Bodies and the errors that upstream was recorded to return for them.

use super::go_text::go_field;
use super::kind_check::SCHEME;
use super::*;
use kubist_api::find_kind;

fn decoded(
    body: &[u8],
    format: Format,
    kind: &'static Kind,
    validation: FieldValidation,
) -> Result<Decoded<Box<dyn AnyObject>>, Status> {
    let decoding = Decoding {
        cbor: false,
        format,
        kind,
        validation,
        prune: None,
    };
    object(body, decoding).map_err(|refusal| refusal.status)
}

fn decode(body: &str, format: Format, validation: FieldValidation) -> Result<Vec<String>, String> {
    let kind = find_kind("", "v1", "ConfigMap").expect("it is built in");
    decoded(body.as_bytes(), format, kind, validation)
        .map(|it| it.warnings)
        .map_err(|status| {
            assert_eq!(status.code, 400);
            status.message.to_string()
        })
}

#[track_caller]
fn refused_with(body: &str, format: Format, expected: &str) {
    let error = decode(body, format, FieldValidation::Strict);
    assert_eq!(error, Err(expected.to_owned()), "{body}");
}

#[test]
fn malformed_bodies_are_shown() {
    let head = "the object provided is unrecognized (must be of type ConfigMap): ";
    let json = format!("{head}couldn't get version/kind; json parse error: ");
    for (body, expected) in [
        ("", "unexpected end of JSON input (<empty>)"),
        (
            r#"{"apiVersion":"v1","#,
            r#"unexpected end of JSON input ({"apiVersion":"v1",)"#,
        ),
        (
            r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"t"}} x"#,
            r#"invalid character 'x' after top-level value ({"apiVersion":"v1","kind":"Con ...)"#,
        ),
        (
            "[]",
            "json: cannot unmarshal array into Go value of type struct { APIVersion string \
             \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" } \
             (5b5d)",
        ),
    ] {
        refused_with(body, Format::Json, &format!("{json}{expected}"));
    }
    let yaml = "yaml: mapping values are not allowed in this context (613a20623a20630a092d2078)";
    refused_with("a: b: c\n\t- x", Format::Yaml, &format!("{head}{yaml}"));
}

#[test]
fn other_kinds_are_refused_by_name() {
    let body = |api_version: &str, kind: &str| {
        format!(r#"{{"apiVersion":"{api_version}","kind":"{kind}","metadata":{{"name":"x"}}}}"#)
    };
    let tail = "cannot be handled as a ConfigMap:";
    let secret = format!(
        "Secret in version \"v1\" {tail} converting (v1.Secret) to (core.ConfigMap): unknown \
         conversion"
    );
    refused_with(&body("v1", "Secret"), Format::Json, &secret);
    let foo = format!(
        "Foo in version \"v1\" {tail} no kind \"Foo\" is registered for version \"v1\" in scheme \
         \"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30\""
    );
    refused_with(&body("v1", "Foo"), Format::Json, &foo);
    let other = format!(
        "ConfigMap in version \"v9\" {tail} no kind \"ConfigMap\" is registered for version \
         \"x/v9\" in scheme \"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30\""
    );
    refused_with(&body("x/v9", "ConfigMap"), Format::Json, &other);
    let odd = format!(
        "ConfigMap in version \"\u{e4}<&>\\u2028\" {tail} no kind \"ConfigMap\" is registered for \
         version \"\u{e4}<&>\\u2028\" in scheme \"{SCHEME}\""
    );
    refused_with(&body("\u{e4}<&>\u{2028}", "ConfigMap"), Format::Json, &odd);
    for fine in [
        r#"{"metadata":{}}"#,
        r#"{"kind":"ConfigMap"}"#,
        r#"{"apiVersion":"v1"}"#,
    ] {
        assert_eq!(
            decode(fine, Format::Json, FieldValidation::Strict),
            Ok(Vec::new())
        );
    }
}

#[test]
fn the_last_kind_counts_in_any_case_of_letters() {
    let tail = "in version \"v1\" cannot be handled as a ConfigMap: no kind";
    let scheme = format!("is registered for version \"v1\" in scheme \"{SCHEME}\"");
    for (body, kind) in [
        (
            r#"{"kind":"ConfigMap","data":{},"kind":"Second"}"#,
            "Second",
        ),
        (r#"{"kind":"ConfigMap","Kind":"x"}"#, "x"),
    ] {
        let expected = format!("{kind} {tail} \"{kind}\" {scheme}");
        refused_with(body, Format::Json, &expected);
    }
    for fine in [
        "null",
        r#"{"kind":"Other","metadata":{},"kind":"ConfigMap"}"#,
        r#"{"kind":"ConfigMap","kind":null}"#,
    ] {
        let warned = decode(fine, Format::Json, FieldValidation::Ignore);
        assert_eq!(warned, Ok(Vec::new()), "{fine}");
    }
}

#[test]
fn a_status_is_one_in_whichever_version() {
    for version in ["v1", "*.example.com", "v2"] {
        refused_with(
            &format!(r#"{{"apiVersion":"apps/{version}","kind":"Status"}}"#),
            Format::Json,
            &format!(
                "Status in version {version:?} cannot be handled as a ConfigMap: converting \
                 (v1.Status) to (core.ConfigMap): unknown conversion"
            ),
        );
    }
}

#[test]
fn invalid_versions_and_kinds_are_reported_before_fields() {
    let head = "the object provided is unrecognized (must be of type ConfigMap): ";
    refused_with(
        r#"{"apiVersion": "a/b/c", "kind": "ConfigMap", "metadata": {}}"#,
        Format::Json,
        &format!(
            "{head}unexpected GroupVersion string: a/b/c ({{\"apiVersion\": \"a/b/c\", \"kind\" ...)"
        ),
    );
    refused_with(
        r#"{"Kind":7}"#,
        Format::Json,
        &format!(
            "{head}couldn't get version/kind; json parse error: json: cannot unmarshal number \
             into Go struct field .kind of type string ({{\"Kind\":7}})"
        ),
    );
    refused_with(
        r#"{"apiVersion":"v1","kind":"Secret","data":{"a":"b"}}"#,
        Format::Json,
        "Secret in version \"v1\" cannot be handled as a ConfigMap: illegal base64 data at input \
         byte 0",
    );
    let deep = "[".repeat(200) + &"]".repeat(200);
    let error = decode(&deep, Format::Json, FieldValidation::Strict).unwrap_err();
    assert!(
        error.contains("json: cannot unmarshal array into Go value"),
        "{error}"
    );
}

#[test]
fn wrong_types_are_named_with_their_go_field() {
    let head = "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot \
                unmarshal ";
    refused_with(
        "metadata: {name: y}",
        Format::Yaml,
        &format!("{head}bool into Go struct field ObjectMeta.metadata.name of type string"),
    );
    refused_with(
        r#"{"data":{"a":1}}"#,
        Format::Json,
        &format!("{head}number into Go struct field ConfigMap.data of type string"),
    );
    refused_with(
        r#"{"binaryData":{"a":["b"]}}"#,
        Format::Json,
        &format!("{head}string into Go struct field ConfigMap.binaryData of type uint8"),
    );
    refused_with(
        r#"{"binaryData":{"a":[256]}}"#,
        Format::Json,
        &format!("{head}number 256 into Go struct field ConfigMap.binaryData of type uint8"),
    );
}

#[test]
fn bytes_may_be_lists_of_numbers() {
    let kind = find_kind("", "v1", "ConfigMap").expect("it is built in");
    let body = br#"{"binaryData":{"empty":[],"two":[null,7]}}"#;
    let read = decoded(body, Format::Json, kind, FieldValidation::Strict);
    let decoded = read.expect("it is what upstream takes").value;
    let tree = kubist_apimachinery::wire::to_json_value(&*decoded);
    let expected = serde_json::json!({"empty": "", "two": "AAc="});
    assert_eq!(tree["binaryData"], expected);
}

#[test]
fn unknown_and_duplicate_fields_are_refused_reported_or_dropped() {
    let body = r#"{"metadata":{"name":"a","x":1},"data":{},"data":{},"y":{"z":1}}"#;
    let problems = [
        "unknown field \"metadata.x\"",
        "duplicate field \"data\"",
        "unknown field \"y\"",
    ];
    let warned = decode(body, Format::Json, FieldValidation::Warn);
    assert_eq!(warned, Ok(problems.map(str::to_owned).to_vec()));
    assert_eq!(
        decode(body, Format::Json, FieldValidation::Ignore),
        Ok(Vec::new())
    );
    let head = "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding \
                error: ";
    refused_with(
        body,
        Format::Json,
        &format!("{head}{}", problems.join(", ")),
    );
    let twice = "metadata:\n  name: a\n  name: b\n";
    let line = "line 3: key \"name\" already set in map";
    let warned = decode(twice, Format::Yaml, FieldValidation::Warn);
    assert_eq!(warned, Ok(vec![line.to_owned()]));
    let expected = format!("{head}yaml: unmarshal errors:\n  {line}");
    refused_with(twice, Format::Yaml, &expected);
}

#[test]
fn places_are_named_as_go_does() {
    let schema = find_kind("", "v1", "Pod").expect("it is built in").schema();
    for (path, expected) in [
        (
            "spec.containers[0].ports[12].name",
            "spec.containers.ports.name",
        ),
        ("metadata.labels.a.b", "metadata.labels"),
        (
            "spec.containers[1].resources.limits.cpu",
            "spec.containers.resources.limits",
        ),
        ("", ""),
    ] {
        assert_eq!(go_field(path, schema).0, expected);
    }
    let json = br#"{"spec":{"containers":{}}}"#;
    let mut pod = find_kind("", "v1", "Pod")
        .expect("it is built in")
        .new_message();
    let error = merge_json(&mut *pod, json, &mut DecodeContext::new()).unwrap_err();
    assert_eq!(
        decode_text(&error, json, schema),
        "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type \
         []v1.Container"
    );
}

#[test]
fn a_kind_of_another_group_that_has_the_same_name_is_of_another_version() {
    let kind = find_kind("events.k8s.io", "v1", "Event").expect("it is built in");
    let body = br#"{"apiVersion":"v1","kind":"Event","metadata":{"name":"x"}}"#;
    let refused = decoded(body, Format::Json, kind, FieldValidation::Strict);
    let message = refused.err().map(|status| status.message.to_string());
    let expected = "the API version in the data (v1) does not match the expected API version \
                    (events.k8s.io/v1)";
    assert_eq!(message.as_deref(), Some(expected));
}

#[test]
fn text_that_is_not_quite_unicode_is_read_as_go_reads_it() {
    let kind = find_kind("", "v1", "ConfigMap").expect("it is built in");
    let bodies: [&[u8]; 2] = [
        br#"{"data":{"a":"x","b":"\ud800z"},"metadata":{"name":"n"}}"#,
        b"{\"data\":{\"a\":\"x\",\"b\":\"\xffz\"},\"metadata\":{\"name\":\"n\"}}",
    ];
    for body in bodies {
        let read = decoded(body, Format::Json, kind, FieldValidation::Strict);
        let tree = kubist_apimachinery::wire::to_json_value(&*read.expect("it is read").value);
        assert_eq!(
            tree["data"],
            serde_json::json!({"a": "x", "b": "\u{fffd}z"})
        );
    }
    let outside = decoded(b"{\xff}", Format::Json, kind, FieldValidation::Strict);
    assert!(outside.is_err());
    let unknown = r#"{"kind":"Config\ud800"}"#;
    let words = "Config\u{fffd} in version \"v1\" cannot be handled as a ConfigMap: no kind \
                 \"Config\u{fffd}\" is registered for version \"v1\" in scheme";
    let error = decode(unknown, Format::Json, FieldValidation::Strict);
    assert!(error.is_err_and(|it| it.starts_with(words)));
}

#[test]
fn numbers_out_of_range_are_reported_with_their_field() {
    let head = "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: ";
    let of_bool = "json: cannot unmarshal number into Go struct field ConfigMap.immutable of type \
                   bool";
    let body = r#"{"immutable":1e400}"#;
    refused_with(body, Format::Json, &format!("{head}{of_bool}"));
    let unknown = decode(r#"{"x":1e400}"#, Format::Json, FieldValidation::Ignore);
    assert_eq!(unknown, Ok(Vec::new()));
}

//! The content of custom objects: any JSON is accepted, and stored as Go decodes it.

use super::{WIDGETS, defined};
use crate::client::{Client, silent_server};
use http::Version;
use serde_json::{Value, json};

const JSON: &str = "application/json";

/// The body of a widget with additional members.
fn body(name: &str, members: &[u8]) -> Vec<u8> {
    let head = format!(
        r#"{{"apiVersion":"example.com/v1","kind":"Widget","metadata":{{"name":"{name}"}},"#
    );
    [head.as_bytes(), members, b"}"].concat()
}

#[tokio::test]
async fn numbers_are_stored_and_returned_as_go_writes_them() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined(&mut client).await;
    for (index, (number, stored)) in [
        ("1.0", "1"),
        ("1E2", "100"),
        ("0.1e1", "1"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("1e20", "100000000000000000000"),
        ("1e21", "1e+21"),
        ("0.000001", "0.000001"),
        ("1e-7", "1e-7"),
        ("1.10", "1.1"),
        ("9007199254740993.0", "9007199254740992"),
        ("9007199254740993", "9007199254740993"),
        ("9223372036854775807", "9223372036854775807"),
        ("9223372036854775808", "9223372036854776000"),
        ("-9223372036854775809", "-9223372036854776000"),
        ("18446744073709551616", "18446744073709552000"),
        ("123456789012345678901234567890", "1.2345678901234568e+29"),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("n{index}");
        let members = format!(r#""x":[{number}]"#);
        let created = client
            .ask("POST", WIDGETS, JSON, body(&name, members.as_bytes()))
            .await;
        let one = format!("{WIDGETS}/{name}");
        let patch = format!(r#"[{{"op":"add","path":"/x/0","value":{number}}}]"#);
        let patched = client
            .ask("PATCH", &one, "application/json-patch+json", patch)
            .await;
        let expected = [
            (201, format!("\"x\":[{stored}]")),
            (200, format!("\"x\":[{stored},{stored}]")),
        ];
        for (answer, (code, text)) in [created, patched].into_iter().zip(expected) {
            assert_eq!(answer.code, code, "{number}");
            let answer = String::from_utf8(answer.bytes.to_vec()).expect("it is text");
            assert!(answer.contains(&text), "{number}: {answer}");
        }
    }
    let huge = body("huge", br#""x":1e400"#);
    let refused = client.ask("POST", WIDGETS, JSON, huge).await;
    let message = "Widget in version \"v1\" cannot be handled as a Widget: json: cannot unmarshal \
                   number 1e400 into Go value of type float64";
    assert_eq!(
        (refused.code, &refused.json()["message"]),
        (400, &json!(message))
    );
    server.shutdown().await;
}

#[tokio::test]
async fn odd_names_and_texts_are_content_as_any_other() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined(&mut client).await;
    let cases: [(&[u8], Value); 6] = [
        (br#""":{"":null}"#, json!({"": {"": null}})),
        (
            br#""Kind":"Foo","KIND":"Bar","apiversion":"x/v3""#,
            json!({"Kind": "Foo", "KIND": "Bar", "apiversion": "x/v3"}),
        ),
        (
            br#""Metadata":{"name":"zz"}"#,
            json!({"Metadata": {"name": "zz"}}),
        ),
        (
            br#""x":"\ud800a","\udc00":1"#,
            json!({"x": "\u{fffd}a", "\u{fffd}": 1}),
        ),
        (
            b"\"x\":[\"\xff\xc3\xa9\xe2\x82\"]",
            json!({"x": ["\u{fffd}é\u{fffd}\u{fffd}"]}),
        ),
        (br#""x":null"#, json!({"x": null})),
    ];
    for (index, (members, expected)) in cases.into_iter().enumerate() {
        let name = format!("o{index}");
        let shown = String::from_utf8_lossy(members).into_owned();
        let created = client
            .ask("POST", WIDGETS, JSON, body(&name, members))
            .await;
        assert_eq!(created.code, 201, "{shown}: {created:?}");
        let one = format!("{WIDGETS}/{name}");
        let mut read = client.get(&one).await.json();
        let read = read.as_object_mut().expect("it is one");
        for known in ["apiVersion", "kind", "metadata"] {
            assert!(read.remove(known).is_some(), "{shown}");
        }
        assert_eq!(Value::Object(read.clone()), expected, "{shown}");
    }
    let odd = br#"{"x":"\ud800","Kind":"Foo"}"#.to_vec();
    let merge = "application/merge-patch+json";
    let one = format!("{WIDGETS}/o0");
    let patched = client.ask("PATCH", &one, merge, odd).await.json();
    assert_eq!(
        (&patched["x"], &patched["Kind"]),
        (&json!("\u{fffd}"), &json!("Foo"))
    );
    server.shutdown().await;
}

#[tokio::test]
async fn what_an_object_is_stands_under_the_very_names() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined(&mut client).await;
    let rest = r#""metadata":{"name":"a"}}"#;
    for (head, part) in [
        (
            r#"{"Kind":"Widget","apiVersion":"example.com/v1","#,
            "Object 'Kind' is missing in '{",
        ),
        (
            r#"{"kind":"Widget","kind":null,"apiVersion":"example.com/v1","#,
            "Object 'Kind' is missing in '{",
        ),
        (
            r#"{"kind":"Widget","ApiVersion":"example.com/v1","#,
            "the API version in the data () does not match the expected API version",
        ),
        (
            r#"{"kind":"Widget","Kind":5,"apiVersion":"example.com/v1","#,
            "json: cannot unmarshal number into Go struct field .kind of type string",
        ),
    ] {
        let answer = client
            .ask("POST", WIDGETS, JSON, format!("{head}{rest}"))
            .await;
        let message = answer.json()["message"].to_string();
        assert_eq!(answer.code, 400, "{message}");
        assert!(message.contains(part), "{message}");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn the_depth_limit_of_trees_has_gos_error() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined(&mut client).await;
    let nested = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!(r#""x":{open}{close}"#).into_bytes()
    };
    let most = body("deep", &nested(126));
    assert_eq!(client.ask("POST", WIDGETS, JSON, most).await.code, 201);
    for accept in [
        "application/json;as=Table;g=meta.k8s.io;v=v1",
        "application/yaml",
    ] {
        let picky = Client::in_memory(&server, Version::HTTP_2).await;
        let mut picky = picky.header("accept", accept);
        let list = format!("{WIDGETS}?includeObject=Object");
        assert_eq!(picky.get(&list).await.code, 200, "{accept}");
    }
    let words = "invalid character '[' exceeded max depth";
    let more = body("deeper", &nested(127));
    let refused = client.ask("POST", WIDGETS, JSON, more).await;
    let message = format!("Widget in version \"v1\" cannot be handled as a Widget: {words}");
    assert_eq!(
        (refused.code, &refused.json()["message"]),
        (400, &json!(message))
    );
    let merge = "application/merge-patch+json";
    let patch = [b"{".as_slice(), &nested(127), b"}"].concat();
    let one = format!("{WIDGETS}/deep");
    let refused = client.ask("PATCH", &one, merge, patch).await;
    let message = format!("error decoding patch: {words}");
    assert_eq!(
        (refused.code, &refused.json()["message"]),
        (400, &json!(message))
    );
    server.shutdown().await;
}

#[tokio::test]
async fn names_given_twice_within_content_are_reported_with_their_place() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined(&mut client).await;
    let strict = format!("{WIDGETS}?fieldValidation=Strict");
    let twice = body("a", br#""kind":"Widget","x":{"y":[{"z":1,"z":2}],"y":3}"#);
    let refused = client.ask("POST", &strict, JSON, twice).await;
    let message = "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: \
                   duplicate field \"kind\", duplicate field \"x.y[0].z\", duplicate field \"x.y\"";
    assert_eq!(
        (refused.code, &refused.json()["message"]),
        (400, &json!(message))
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_json_patch_can_replace_the_whole_object() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined(&mut client).await;
    let created = client
        .ask("POST", WIDGETS, JSON, body("a", br#""x":1"#))
        .await;
    let version = created.json()["metadata"]["resourceVersion"].clone();
    let one = format!("{WIDGETS}/a");
    let what = json!({"apiVersion": "example.com/v1", "kind": "Widget"});
    let mut whole = what.clone();
    whole["metadata"] = json!({"name": "a", "resourceVersion": version});
    whole["y"] = json!(2);
    for (value, code, part) in [
        (
            json!({}),
            422,
            " \"\" is invalid: patch: Invalid value: \"{}\": Object 'Kind' is missing in '{}'",
        ),
        (
            json!([]),
            422,
            " \"\" is invalid: patch: Invalid value: \"[]\": couldn't get version/kind; json parse \
             error: json: cannot unmarshal array into Go value of type struct {",
        ),
        (
            what,
            400,
            "the name of the object (a based on URL) was undeterminable: name must be provided",
        ),
        (
            json!(5),
            422,
            "the server rejected our request due to an error in our request",
        ),
        (whole, 200, ""),
    ] {
        let patch = json!([{"op": "replace", "path": "", "value": value}]).to_string();
        let answer = client
            .ask("PATCH", &one, "application/json-patch+json", patch)
            .await;
        let answer_json = answer.json();
        let message = answer_json["message"].as_str().unwrap_or_default();
        assert_eq!(answer.code, code, "{value}: {message}");
        assert!(message.starts_with(part), "{value}: {message}");
    }
    let after = client.get(&one).await.json();
    assert_eq!((&after["x"], &after["y"]), (&Value::Null, &json!(2)));
    server.shutdown().await;
}

//! The bodies of applies: YAML and JSON, repeated keys, and what is neither.

use super::*;

const NAMED: &str = "/api/v1/namespaces/default/configmaps/c?fieldManager=m";

async fn applied(it: &mut Cluster, query: &str, body: &str) -> Answer {
    let path = format!("{NAMED}{query}");
    it.client.ask("PATCH", &path, APPLY, body.to_owned()).await
}

#[tokio::test]
async fn yaml_and_json_are_the_same_configuration() {
    let mut it = Cluster::new().await;
    let yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a: 'yes'\n  b: |\n    text\n";
    let first = applied(&mut it, "", yaml).await;
    assert_eq!(first.code, 201, "{}", first.json());
    let json = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"},"data":{"b":"text\n","a":"yes"}}"#;
    let second = applied(&mut it, "", json).await;
    assert_eq!((second.code, second.json()), (200, first.json()));
    it.shut_down().await;
}

#[tokio::test]
async fn repeated_keys_are_refused_reported_or_ignored() {
    let mut it = Cluster::new().await;
    let yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a: '1'\n  a: '2'\n";
    let json = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"},\"data\":{\"a\":\"1\",\"a\":\"2\"}}";
    for body in [yaml, json] {
        let refused = applied(&mut it, "&fieldValidation=Strict", body).await;
        assert_eq!(refused.code, 400, "{body}: {}", refused.json());
        let message = refused.json()["message"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let start = "error strict decoding YAML: error converting YAML to JSON: ";
        assert!(message.starts_with(start), "{message}");
        assert!(
            message.contains("key \"a\" already set in map"),
            "{message}"
        );
        for query in ["&fieldValidation=Warn&dryRun=All", "&dryRun=All"] {
            let warned = applied(&mut it, query, body).await;
            assert_eq!(warned.code, 201, "{}", warned.json());
            assert_eq!(warned.json()["data"]["a"], "2");
            let warning = warned.header("warning");
            assert!(warning.contains("already set in map"), "{warning}");
        }
        let ignored = applied(&mut it, "&fieldValidation=Ignore&dryRun=All", body).await;
        assert_eq!(ignored.code, 201);
        assert_eq!(ignored.header("warning"), "");
    }
    it.shut_down().await;
}

#[tokio::test]
async fn a_body_that_is_no_configuration_is_refused() {
    let mut it = Cluster::new().await;
    let no_map = "cannot unmarshal";
    for (body, text) in [
        ("", "invalid object type: /, Kind="),
        ("{}", "invalid object type: /, Kind="),
        ("null", "invalid object type: /, Kind="),
        ("[]", no_map),
        ("7", no_map),
        ("text", no_map),
        ("true", no_map),
        (
            "{",
            "error decoding YAML: error converting YAML to JSON: yaml: ",
        ),
        (
            "a: b: c",
            "error decoding YAML: error converting YAML to JSON: yaml: ",
        ),
        ("a: *b", "unknown anchor"),
        (
            "\u{0}",
            "error decoding YAML: error converting YAML to JSON: yaml: ",
        ),
    ] {
        let refused = applied(&mut it, "", body).await;
        assert_eq!(refused.code, 400, "{body}: {}", refused.json());
        let message = refused.json()["message"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        assert!(message.contains(text), "{body}: {message}");
    }
    let bytes = b"apiVersion: v1\nkind: \xff\xfe".to_vec();
    let refused = it.client.ask("PATCH", NAMED, APPLY, bytes).await;
    assert_eq!(refused.code, 400, "{}", refused.json());
    assert_eq!(it.client.get(CONFIG_MAP).await.code, 404);
    it.shut_down().await;
}

#[tokio::test]
async fn cbor_is_refused_by_its_name() {
    let mut it = Cluster::new().await;
    let media = "application/apply-patch+cbor";
    let refused = it.client.ask("PATCH", NAMED, media, vec![0xa0]).await;
    assert_eq!(refused.code, 415);
    assert_eq!(refused.json()["reason"], "UnsupportedMediaType");
    it.shut_down().await;
}

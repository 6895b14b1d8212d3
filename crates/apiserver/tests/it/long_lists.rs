//! Lists that are streamed have the same content in every format.

use crate::client::{Client, silent_server};
use http::Version;
use kubist_api::meta::v1::PartialObjectMetadata;
use kubist_apimachinery::wire::{DecodeContext, merge_protobuf, to_json_value, varint};
use kubist_codec::{envelope::Envelope, yaml};
use serde_json::{Value, json};

const PATH: &str = "/api/v1/namespaces/default/configmaps";
/// Of 20 kB each: far more than a chunk in any format.
const OBJECTS: usize = 40;

struct Asked(Client);

impl Asked {
    async fn bytes(&mut self, accept: &'static str, query: &str) -> Vec<u8> {
        let request = http::Request::get(format!("https://localhost{PATH}{query}"))
            .header("accept", accept)
            .body(http_body_util::Full::default());
        let answer = self.0.send_request(request.expect("it is valid")).await;
        let answer = answer.expect("it answers");
        assert_eq!(answer.status(), 200, "{accept}");
        let is_whole = answer.headers().contains_key("content-length");
        assert!(!is_whole, "{accept}");
        let body = http_body_util::BodyExt::collect(answer.into_body()).await;
        body.expect("it comes to its end").to_bytes().to_vec()
    }

    async fn json(&mut self, accept: &'static str, query: &str) -> Value {
        let bytes = self.bytes(accept, query).await;
        serde_json::from_slice(&bytes).expect("it is JSON")
    }

    async fn yaml(&mut self, accept: &'static str) -> Value {
        let bytes = self.bytes(accept, "").await;
        let value = yaml::parse(&bytes).expect("it is YAML").value;
        assert_eq!(yaml::to_yaml(&value).into_bytes(), bytes);
        value
    }
}

/// Returns the items of a protobuf list.
fn items_of(list: &[u8]) -> impl Iterator<Item = PartialObjectMetadata> {
    let mut rest = list;
    let fields = std::iter::from_fn(move || {
        let (&tag, after) = rest.split_first()?;
        let (length, after) = varint(after).expect("it has a length");
        let (field, after) = after.split_at(usize::try_from(length).expect("it is short"));
        rest = after;
        Some((tag, field))
    });
    fields.filter(|(tag, _)| *tag == 0x12).map(|(_, field)| {
        let mut item = PartialObjectMetadata::default();
        merge_protobuf(&mut item, field, &mut DecodeContext::new()).expect("it is one");
        item
    })
}

#[tokio::test]
async fn every_form_of_a_long_list_says_the_same() {
    let server = silent_server().await;
    let mut asked = Asked(Client::in_memory(&server, Version::HTTP_2).await);
    for index in 0..OBJECTS {
        let text = format!("line {index}\n \"quoted\" {{[\n").repeat(800);
        let body = json!({
            "metadata": {"name": format!("c{index:02}"), "annotations": {"n": index.to_string()}},
            "data": {"text": text, "empty": ""},
        });
        assert_eq!(asked.0.post(PATH, &body).await.code, 201);
    }
    let plain = asked.json("application/json", "").await;
    let items = plain["items"].as_array().expect("it is a list").clone();
    assert_eq!(items.len(), OBJECTS);
    assert_eq!(asked.json("application/json", "?pretty=true").await, plain);
    let pretty = asked.bytes("application/json", "?pretty=true").await;
    let expected = serde_json::to_string_pretty(&items[3]["metadata"]["annotations"]);
    let expected = expected
        .expect("it can be written")
        .replace('\n', "\n        ");
    let pretty = String::from_utf8(pretty).expect("it is text");
    assert!(pretty.contains(&expected), "{expected}");
    assert_eq!(asked.yaml("application/yaml").await, plain);

    let partial = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let partial = asked.json(partial, "").await;
    let metadata = |list: &Value| -> Vec<Value> {
        let items = list["items"].as_array().expect("it is a list");
        items.iter().map(|item| item["metadata"].clone()).collect()
    };
    assert_eq!(metadata(&partial), metadata(&plain));
    let binary =
        "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let binary = asked.bytes(binary, "").await;
    let opened = Envelope::open(&binary).expect("it is an envelope");
    assert_eq!(opened.kind, "PartialObjectMetadataList");
    let binary: Vec<Value> = items_of(opened.raw).map(|it| to_json_value(&it)).collect();
    assert_eq!(metadata(&json!({"items": binary})), metadata(&plain));

    let table = "application/json;as=Table;g=meta.k8s.io;v=v1";
    let rows = asked.json(table, "?includeObject=Object").await;
    let rows = rows["rows"].as_array().expect("there are some").clone();
    for (row, item) in rows.iter().zip(&items) {
        assert_eq!(row["cells"][0], item["metadata"]["name"]);
        assert_eq!(row["object"]["metadata"], item["metadata"]);
    }
    assert_eq!(rows.len(), OBJECTS);
    let table = "application/yaml;as=Table;g=meta.k8s.io;v=v1";
    let table = asked.yaml(table).await;
    assert_eq!(table["rows"].as_array().map(Vec::len), Some(OBJECTS));
    assert_eq!(table["columnDefinitions"][0]["name"], "Name");
    server.shutdown().await;
}

//! The pitfalls that users of derived kinds know: each definition is applied, and an object with
//! each form of value is created, read and updated without a change by the server.

use super::serving;
use kubist::client::Api;
use kubist_custom_resource::{CustomResource, ListType, MapType, Rule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Writes an object for each spec, reads it, and writes it again.
async fn keeps<K: CustomResource>(specs: Vec<K::Spec>) {
    let server = serving::<K>().await;
    let api: Api<K> = Api::all(server.client());
    let spec_of = |object: &K| serde_json::to_value(object).unwrap()["spec"].take();
    for (index, spec) in specs.into_iter().enumerate() {
        let mut object = K::from_parts(Default::default(), spec, None);
        object.metadata_mut().name = format!("o{index}").as_str().into();
        let created = api.create(&object).await.unwrap();
        assert_eq!(spec_of(&created), spec_of(&object));
        let mut read = api.get(created.name()).await.unwrap();
        assert_eq!(read, created);
        let labels = &mut read.metadata_mut().labels;
        labels.insert("updated".into(), "yes".into());
        let replaced = api.replace(&read).await.unwrap();
        assert_eq!(spec_of(&replaced), spec_of(&object));
        let generation = replaced.metadata().generation;
        assert_eq!(generation, 1, "the spec did not change");
    }
    server.shutdown().await;
}

/// Reports how the server refuses a spec.
async fn refuses<K: CustomResource>(specs: &[(Value, &str)]) {
    use kubist::apimachinery::{ApiResource, Unstructured};
    let server = serving::<K>().await;
    let resource = ApiResource::of::<K>();
    let api: Api<Unstructured> = Api::dynamic(server.client(), &resource);
    for (index, (spec, reason)) in specs.iter().enumerate() {
        let mut object = Unstructured::new(&resource, &format!("o{index}"));
        object.object.insert("spec".to_owned(), spec.clone());
        let error = api.create(&object).await.unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    server.shutdown().await;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Source {
    File { path: String },
    Url(String),
    Inline(BTreeMap<String, String>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Shape {
    Circle { radius: i32 },
    Square { side: i32, radius: Option<i32> },
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Text(String),
    Number(i32),
    Parts { a: i32 },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Port {
    Number(i32),
    Name(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Loose {
    Flag(bool),
    Text(String),
    Part { a: i32 },
}

/// Some variants have data, others do not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Mixed {
    Nothing,
    Something { a: i32 },
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Level {
    /// Little.
    Low,
    /// Much.
    High,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(group = "example.com", version = "v1", kind = "Choice")]
struct ChoiceSpec {
    source: Source,
    maybe: Option<Source>,
    shape: Shape,
    adjacent: Adjacent,
    ports: Vec<Port>,
    loose: Vec<Loose>,
    mixed: Vec<Mixed>,
    level: Level,
    optional_level: Option<Level>,
}

#[tokio::test]
async fn enums_of_every_representation_are_kept() {
    let inline = [("a".to_owned(), "b".to_owned())].into();
    let one = ChoiceSpec {
        source: Source::File {
            path: "/".to_owned(),
        },
        maybe: None,
        shape: Shape::Circle { radius: 1 },
        adjacent: Adjacent::Text("x".to_owned()),
        ports: vec![Port::Number(80), Port::Name("http".to_owned())],
        loose: vec![
            Loose::Flag(true),
            Loose::Text("x".to_owned()),
            Loose::Part { a: 1 },
        ],
        mixed: vec![Mixed::Nothing, Mixed::Something { a: 1 }],
        level: Level::Low,
        optional_level: None,
    };
    let other = ChoiceSpec {
        source: Source::Url("u".to_owned()),
        maybe: Some(Source::Inline(inline)),
        shape: Shape::Square {
            side: 1,
            radius: None,
        },
        adjacent: Adjacent::Parts { a: 1 },
        level: Level::High,
        optional_level: Some(Level::High),
        ..one.clone()
    };
    let third = ChoiceSpec {
        shape: Shape::Nothing,
        adjacent: Adjacent::Number(1),
        ..one.clone()
    };
    keeps::<Choice>(vec![one, other, third]).await;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(group = "example.com", version = "v1", kind = "Strict")]
struct StrictSpec {
    source: Source,
    shape: Shape,
    level: Level,
    #[schemars(length(min = 2, max = 3), regex(pattern = "^[a-z]+$"))]
    text: String,
    #[schemars(range(min = 1, max = 3))]
    number: i32,
    count: u8,
}

#[tokio::test]
async fn what_no_variant_and_no_bound_allows_is_refused() {
    let with = |name: &str, value: Value| {
        let mut spec = json!({
            "source": {"url": "u"}, "shape": {"kind": "Circle", "radius": 1}, "level": "Low",
            "text": "ab", "number": 1, "count": 1,
        });
        spec[name] = value;
        spec
    };
    refuses::<Strict>(&[
        (with("source", json!({})), "spec.source"),
        (
            with("source", json!({"url": "u", "file": {"path": "/"}})),
            "spec.source",
        ),
        (with("shape", json!({"kind": "Circle"})), "spec.shape"),
        (
            with("shape", json!({"kind": "Star", "radius": 1})),
            "spec.shape.kind",
        ),
        (
            with("level", "Middle".into()),
            "supported values: \"Low\", \"High\"",
        ),
        (with("level", Value::Null), "spec.level"),
        (with("text", "a".into()), "spec.text"),
        (with("text", "abcd".into()), "spec.text"),
        (with("text", "A1".into()), "spec.text"),
        (with("number", 4.into()), "spec.number"),
        (with("count", 256.into()), "spec.count"),
        (with("count", (-1).into()), "spec.count"),
    ])
    .await;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Part {
    name: String,
    #[serde(default = "one")]
    size: i32,
}

fn one() -> i32 {
    1
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Free {
    known: String,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(group = "example.com", version = "v1", kind = "Holder")]
struct HolderSpec {
    any: Value,
    list: Vec<Value>,
    open: BTreeMap<String, Value>,
    map: BTreeMap<String, Part>,
    numbered: BTreeMap<u32, String>,
    nullable: Vec<Option<String>>,
    set: BTreeSet<String>,
    pair: (i32, String, bool),
    same: [i32; 2],
    empty: Nothing,
    free: Free,
    #[serde(flatten)]
    choice: Source,
    #[serde(flatten)]
    part: Part,
    wide: u64,
    float: f64,
    #[schemars(transform = ListType::map("name"))]
    parts: Vec<Part>,
    #[schemars(transform = MapType::Atomic)]
    atomic: BTreeMap<String, String>,
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    extended: Nothing,
    boxed: Box<Part>,
    text: std::borrow::Cow<'static, str>,
    address: std::net::Ipv4Addr,
}

#[tokio::test]
async fn collections_flattened_parts_and_free_values_are_kept() {
    let part = Part {
        name: "p".to_owned(),
        size: 2,
    };
    let any = json!({"a": [1, "b", {"c": 1.5}], "d": {}});
    let spec = HolderSpec {
        any: any.clone(),
        list: vec![any.clone(), json!("text"), json!(1)],
        open: [("x".to_owned(), any.clone())].into(),
        map: [("x".to_owned(), part.clone())].into(),
        numbered: [(1, "one".to_owned())].into(),
        nullable: vec![None, Some("x".to_owned())],
        set: ["a".to_owned(), "b".to_owned()].into(),
        pair: (1, "a".to_owned(), true),
        same: [1, 2],
        empty: Nothing {},
        free: Free {
            known: "k".to_owned(),
            rest: [("other".to_owned(), any)].into(),
        },
        choice: Source::Url("u".to_owned()),
        part: part.clone(),
        wide: 1 << 40,
        float: 1.5,
        parts: vec![part.clone()],
        atomic: [("a".to_owned(), "b".to_owned())].into(),
        extended: Nothing {},
        boxed: Box::new(part),
        text: "text".into(),
        address: [10, 0, 0, 1].into(),
    };
    keeps::<Holder>(vec![spec]).await;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(group = "example.com", version = "v1", kind = "Defaulted")]
struct DefaultedSpec {
    #[serde(default = "one")]
    number: i32,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    settings: Settings,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Settings {
    level: Level,
    note: Option<String>,
    tags: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            level: Level::High,
            note: None,
            tags: vec!["a".to_owned()],
        }
    }
}

#[tokio::test]
async fn the_server_fills_in_the_defaults_of_serde() {
    use kubist::apimachinery::{ApiResource, Unstructured};
    let server = serving::<Defaulted>().await;
    let resource = ApiResource::of::<Defaulted>();
    let api: Api<Unstructured> = Api::dynamic(server.client(), &resource);
    let mut object = Unstructured::new(&resource, "first");
    let sent = json!({"parts": [{"name": "a"}], "text": null, "unknown": 1});
    object.object.insert("spec".to_owned(), sent);
    let stored = api.create(&object).await.unwrap();
    let expected = json!({
        "number": 1,
        "text": null,
        "settings": {"level": "High", "tags": ["a"]},
        "parts": [{"name": "a", "size": 1}],
    });
    assert_eq!(stored.object["spec"], expected);
    let typed: Api<Defaulted> = Api::all(server.client());
    let read = typed.get("first").await.unwrap();
    assert_eq!(read.spec.settings, Settings::default());
    server.shutdown().await;
}

/// A spec may be an enum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(group = "example.com", version = "v1", kind = "Either")]
#[serde(rename_all = "camelCase")]
enum EitherSpec {
    Left { a: i32 },
    Right(String),
}

#[tokio::test]
async fn a_spec_may_be_an_enum() {
    keeps::<Either>(vec![
        EitherSpec::Left { a: 1 },
        EitherSpec::Right("r".to_owned()),
    ])
    .await;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(group = "example.com", version = "v1", kind = "Ruled")]
#[schemars(transform = Rule::new("self.min <= self.max").message("min is above max"))]
struct RuledSpec {
    min: i32,
    #[schemars(transform = Rule::new("self % 2 == 0").message_expression("'odd'"))]
    max: i32,
    inner: Vec<Bounded>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = Rule::new("self.a != self.b").field_path(".b"))]
struct Bounded {
    a: i32,
    b: i32,
}

#[tokio::test]
async fn rules_of_types_and_fields_hold_at_any_depth() {
    let spec =
        |min: i32, max: i32, b: i32| json!({"min": min, "max": max, "inner": [{"a": 1, "b": b}]});
    refuses::<Ruled>(&[
        (spec(3, 2, 2), "min is above max"),
        (spec(1, 3, 2), "odd"),
        (spec(1, 2, 1), "spec.inner[0].b"),
    ])
    .await;
    keeps::<Ruled>(vec![RuledSpec {
        min: 1,
        max: 2,
        inner: Vec::new(),
    }])
    .await;
}

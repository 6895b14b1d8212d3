//! Derived apply configurations: every form of field, owners by the keys of lists, extraction.

use super::serving;
use kubist::apimachinery::{Condition, IntOrString, PatchOptions, Quantity};
use kubist::client::Api;
use kubist_custom_resource::{
    ApplyConfiguration, CustomResource, ListType, MapType, message_schema,
};
use kubist_field_manager::Extractor;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(
    group = "example.com",
    version = "v1",
    kind = "Shop",
    namespaced,
    apply
)]
#[custom_resource(status = "ShopStatus")]
#[serde(rename_all = "camelCase", default)]
struct ShopSpec {
    open: bool,
    floor_area: u16,
    note: Option<String>,
    mode: Option<Mode>,
    #[serde(rename = "tags")]
    #[schemars(transform = ListType::set())]
    labels: Vec<String>,
    #[schemars(transform = ListType::map("name").and_key("kind"))]
    shelves: Vec<Shelf>,
    prices: BTreeMap<String, u32>,
    #[schemars(transform = MapType::Atomic)]
    limits: BTreeMap<String, String>,
    #[apply(json)]
    extra: BTreeMap<String, String>,
    boss: Option<Box<Person>>,
    #[serde(skip)]
    cached: u8,
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ApplyConfiguration,
)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    SelfService,
    Served,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, ApplyConfiguration)]
struct Shelf {
    name: String,
    kind: String,
    #[serde(default)]
    goods: Vec<String>,
    #[serde(default)]
    full: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, ApplyConfiguration)]
struct Person {
    r#type: String,
}

#[derive(
    Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, ApplyConfiguration,
)]
#[serde(rename_all = "camelCase", default)]
struct ShopStatus {
    #[schemars(transform = ListType::map("type"))]
    #[schemars(schema_with = "message_schema::<Vec<Condition>>")]
    conditions: Vec<Condition>,
    visitors: i64,
}

fn by(manager: &str) -> PatchOptions {
    PatchOptions::managed_by(manager)
}

fn shelf(name: &str) -> ShelfApply {
    ShelfApply::new().name(name).kind("wood")
}

#[tokio::test]
async fn each_form_of_field_is_applied_owned_and_extracted() {
    let server = serving::<Shop>().await;
    let shops: Api<Shop> = Api::namespaced(server.client(), "default");
    let spec = ShopSpecApply::new()
        .open(false)
        .floor_area(120)
        .note("")
        .mode(Mode::SelfService)
        .labels(["corner", "old"])
        .shelves([shelf("a").full(false), shelf("b").goods(["tea"])])
        .prices([("tea", 3)])
        .limits([("people", "9")])
        .extra(json!({"colour": "red"}))
        .boss(PersonApply::new().r#type("owner"));
    let mine = ShopApply::new("corner")
        .labels([("town", "Bern")])
        .spec(spec);
    let live = shops.apply(&mine, &by("builder")).await.unwrap();
    assert_eq!(live.spec.mode, Some(Mode::SelfService));
    assert_eq!(live.spec.boss.as_ref().unwrap().r#type, "owner");

    let theirs = ShopSpecApply::new()
        .labels(["busy"])
        .shelves([shelf("a").goods(["salt"])]);
    let theirs = ShopApply::new("corner").spec(theirs.prices([("salt", 1)]));
    let live = shops.apply(&theirs, &by("trader")).await.unwrap();
    assert_eq!(live.spec.labels, ["corner", "old", "busy"]);
    assert_eq!(live.spec.shelves.len(), 2);
    assert_eq!(live.spec.shelves[0].goods, ["salt"]);
    assert_eq!(
        live.spec.prices,
        [("salt".into(), 1), ("tea".into(), 3)].into()
    );

    let extractor = Extractor::<ShopApply>::new();
    let found = extractor.extract(&live, "trader").unwrap().unwrap();
    assert_eq!(found, theirs.namespace("default"));
    let found = extractor.extract(&live, "builder").unwrap().unwrap();
    assert_eq!(found, mine.clone().namespace("default"));

    // An atomic map has one owner.
    let grab = ShopApply::new("corner").spec(ShopSpecApply::new().limits([("dogs", "0")]));
    let refused = shops.apply(&grab, &by("trader")).await.unwrap_err();
    assert_eq!(refused.field_conflicts()[0].field, ".spec.limits");
    server.shutdown().await;
}

#[tokio::test]
async fn a_derived_status_is_applied_by_the_keys_of_its_conditions() {
    let server = serving::<Shop>().await;
    let shops: Api<Shop> = Api::namespaced(server.client(), "default");
    let mine = ShopApply::new("corner").spec(ShopSpecApply::new().open(true));
    shops.apply(&mine, &by("builder")).await.unwrap();
    for (manager, condition) in [("till", "Ready"), ("door", "Locked")] {
        let condition = Condition {
            type_: condition.into(),
            status: "True".into(),
            reason: "Seen".into(),
            last_transition_time: "2026-01-02T03:04:05Z".parse().ok(),
            ..Condition::default()
        };
        let status = ShopStatusApply::new().conditions([condition]);
        let status = ShopApply::new("corner").status(status);
        shops.apply_status(&status, &by(manager)).await.unwrap();
    }
    let live = shops.get("corner").await.unwrap();
    let conditions = live.status.clone().unwrap().conditions;
    assert_eq!(conditions.len(), 2);
    let extractor = Extractor::<ShopApply>::new();
    let found = extractor
        .extract_subresource(&live, "door", "status")
        .unwrap()
        .unwrap();
    let fields = json!(found.fields());
    assert_eq!(fields["status"]["conditions"][0]["type"], "Locked");
    assert_eq!(fields["status"]["conditions"].as_array().unwrap().len(), 1);
    server.shutdown().await;
}

#[test]
fn values_of_other_types_have_their_json() {
    #[derive(ApplyConfiguration)]
    #[expect(dead_code, reason = "only its configuration is made")]
    struct Sizes {
        cpu: Quantity,
        port: IntOrString,
        nested: Vec<Vec<i32>>,
        any: serde_json::Value,
    }
    let sizes = SizesApply::new()
        .cpu("500m".parse().unwrap())
        .port(8080.into())
        .nested([vec![1], vec![]])
        .any(json!([null]));
    let expected = json!({"cpu": "500m", "port": 8080, "nested": [[1], []], "any": [null]});
    assert_eq!(json!(sizes.fields()), expected);
}

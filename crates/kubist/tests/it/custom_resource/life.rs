//! The life of a derived kind: client, apply, status, cache, index, projection, finalizer.

use super::{establish, serving};
use kubist::apimachinery::{LeanMeta, ListOptions, PatchOptions, PostOptions, Str};
use kubist::cache::{Encoded, Index, Metadata};
use kubist::client::{Api, Patch};
use kubist::controller::{Finalizer, Predicate};
use kubist::derive::Projection;
use kubist::informers::SharedInformerFactory;
use kubist_custom_resource::{CustomResource, ListType, Rule, merge_definitions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A fruit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(group = "example.com", version = "v1", kind = "Fig", namespaced)]
#[custom_resource(status = "FigStatus", shortname = "fg", category = "fruit")]
#[custom_resource(printcolumn(name = "Colour", type = "string", json_path = ".spec.colour"))]
#[custom_resource(scale(
    spec_replicas_path = ".spec.replicas",
    status_replicas_path = ".status.replicas"
))]
#[custom_resource(selectable = ".spec.colour")]
#[custom_resource(validation(
    rule = "self.metadata.name != 'forbidden'",
    message = "this name is forbidden"
))]
struct FigSpec {
    /// The colour of the skin.
    colour: String,
    #[serde(default = "one")]
    #[schemars(range(max = 9))]
    replicas: i32,
    #[schemars(transform = Rule::new("self == oldSelf").message("it cannot change"))]
    tree: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = ListType::map("name"))]
    seeds: Vec<Seed>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Seed {
    name: String,
    size: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
struct FigStatus {
    replicas: i32,
}

#[derive(Clone, Debug, Default, Projection)]
#[projection(of = Fig, crate = kubist::apimachinery)]
struct Colours {
    #[projection(metadata)]
    meta: LeanMeta,
    #[projection("spec.colour")]
    colour: Str,
    #[projection("spec.seeds[].name")]
    seeds: Vec<Str>,
    #[projection("status.replicas")]
    replicas: Option<i32>,
}

fn one() -> i32 {
    1
}

fn fig(name: &str, colour: &str) -> Fig {
    let seeds = vec![Seed {
        name: "a".to_owned(),
        size: None,
    }];
    let spec = FigSpec {
        colour: colour.to_owned(),
        replicas: 1,
        tree: None,
        seeds,
    };
    Fig::new(name, spec)
}

#[tokio::test]
async fn it_is_created_read_replaced_and_refused_like_a_built_in_kind() {
    let server = serving::<Fig>().await;
    let figs: Api<Fig> = Api::namespaced(server.client(), "default");
    let mut created = figs.create(&fig("first", "green")).await.unwrap();
    assert_eq!(
        (created.spec.colour.as_str(), created.metadata.generation),
        ("green", 1)
    );
    created.spec.colour = "purple".to_owned();
    created.spec.tree = Some("old".to_owned());
    let mut replaced = figs.replace(&created).await.unwrap();
    assert_eq!(replaced.metadata.generation, 2);

    replaced.spec.tree = Some("new".to_owned());
    let refused = figs.replace(&replaced).await.unwrap_err();
    assert!(
        refused.to_string().contains("it cannot change"),
        "{refused}"
    );
    let refused = figs.create(&fig("forbidden", "red")).await.unwrap_err();
    assert!(
        refused.to_string().contains("this name is forbidden"),
        "{refused}"
    );
    let mut many = fig("many", "red");
    many.spec.replicas = 10;
    let refused = figs.create(&many).await.unwrap_err();
    assert!(refused.to_string().contains("spec.replicas"), "{refused}");

    let mut ripe = figs.get("first").await.unwrap();
    ripe.status = Some(FigStatus { replicas: 3 });
    let written = figs.replace_status(&ripe).await.unwrap();
    assert_eq!(written.status, Some(FigStatus { replicas: 3 }));
    let selected = ListOptions {
        field_selector: "spec.colour=purple".parse().unwrap(),
        ..Default::default()
    };
    assert_eq!(figs.list(&selected).await.unwrap().items, [written]);
    server.shutdown().await;
}

#[tokio::test]
async fn an_apply_owns_what_is_set_and_nothing_else() {
    let server = serving::<Fig>().await;
    let figs: Api<Fig> = Api::namespaced(server.client(), "default");
    let options = PatchOptions {
        post: PostOptions {
            field_manager: "gardener".into(),
            ..Default::default()
        },
        ..Default::default()
    };
    let applied = figs.apply(&fig("first", "green"), &options).await.unwrap();
    let fields = applied.metadata.managed_fields[0]
        .fields_v1
        .clone()
        .unwrap();
    let fields: serde_json::Value = serde_json::from_str(&fields.raw).unwrap();
    let seed = json!({".": {}, "f:name": {}});
    let expected = json!({
        "f:spec": {"f:colour": {}, "f:replicas": {}, "f:seeds": {"k:{\"name\":\"a\"}": seed}},
    });
    assert_eq!(fields, expected);
    server.shutdown().await;
}

#[tokio::test]
async fn it_is_cached_decoded_encoded_as_metadata_and_as_a_projection() {
    let server = serving::<Fig>().await;
    let figs: Api<Fig> = Api::namespaced(server.client(), "default");
    figs.create(&fig("first", "green")).await.unwrap();
    figs.create(&fig("second", "purple")).await.unwrap();

    let factory = SharedInformerFactory::new(server.client());
    let (decoded, encoded) = (
        factory.informer::<Fig>(),
        factory.informer::<Encoded<Fig>>(),
    );
    let (metadata, projected) = (
        factory.informer::<Metadata<Fig>>(),
        factory.informer::<Colours>(),
    );
    let in_decoded = decoded.add_index(Index::field("spec.colour"));
    let in_encoded = encoded.add_index(Index::field("spec.colour"));
    factory.start();
    let decoded = decoded.synced().await.unwrap();
    let encoded = encoded.synced().await.unwrap();
    let purple = decoded.by_index(&in_decoded, "purple");
    assert_eq!(
        purple
            .iter()
            .map(|it| &*it.metadata.name)
            .collect::<Vec<_>>(),
        ["second"]
    );
    let green = encoded.by_index(&in_encoded, "green");
    assert_eq!(green.len(), 1);
    assert_eq!(green[0].decode().unwrap().spec.colour, "green");
    assert_eq!(metadata.synced().await.unwrap().len(), 2);
    let mut colours: Vec<_> = projected.synced().await.unwrap().list();
    colours.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
    let colours: Vec<_> = colours
        .iter()
        .map(|it| (&*it.colour, it.seeds.len()))
        .collect();
    assert_eq!(colours, [("green", 1), ("purple", 1)]);
    factory.shutdown().await;
    server.shutdown().await;
}

#[tokio::test]
async fn finalizers_predicates_and_patches_take_it() {
    let server = serving::<Fig>().await;
    let figs: Api<Fig> = Api::namespaced(server.client(), "default");
    let finalizer = Finalizer::new("example.com/basket");
    let mut first = fig("first", "green");
    assert!(finalizer.add(&mut first.metadata));
    figs.create(&first).await.unwrap();
    figs.delete("first").await.unwrap();
    let mut first = figs.get("first").await.unwrap();
    assert!(finalizer.needs_cleanup(&first.metadata));
    finalizer.remove(&mut first.metadata);
    figs.replace(&first).await.unwrap();
    assert_eq!(figs.get_opt("first").await.unwrap(), None);
    let _predicate: Predicate<Fig> = Predicate::generation_changed();

    figs.create(&fig("second", "green")).await.unwrap();
    let patch = Patch::Merge(json!({"spec": {"colour": "red"}}));
    assert_eq!(
        figs.patch("second", &patch).await.unwrap().spec.colour,
        "red"
    );
    let wrong = Patch::Merge(json!({"spec": {"colour": 1}}));
    let refused = figs.patch("second", &wrong).await.unwrap_err();
    assert!(refused.to_string().contains("spec.colour"), "{refused}");
    server.shutdown().await;
}

mod v2 {
    use super::{CustomResource, Deserialize, FigStatus, JsonSchema, Serialize};

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
    #[custom_resource(group = "example.com", version = "v2", kind = "Fig", namespaced)]
    #[custom_resource(status = FigStatus, shortname = "f2", storage = false)]
    pub(super) struct FigSpec {
        pub(super) colour: String,
    }
}

#[tokio::test]
async fn merged_versions_are_served_under_each_of_their_names() {
    let server = serving::<Fig>().await;
    server.shutdown().await;
    let merged = merge_definitions([Fig::definition(), v2::Fig::definition()], "v2").unwrap();
    let server = kubist::Server::start(Default::default()).await.unwrap();
    establish(&server.client(), &merged).await;
    let old: Api<Fig> = Api::namespaced(server.client(), "default");
    let new: Api<v2::Fig> = Api::namespaced(server.client(), "default");
    old.create(&fig("first", "green")).await.unwrap();
    assert_eq!(new.get("first").await.unwrap().spec.colour, "green");
    server.shutdown().await;
}

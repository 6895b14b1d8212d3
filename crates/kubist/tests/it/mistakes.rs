//! What goes wrong at the first try, and the message that names the cause and the way out. The
//! guide's page about mistakes has the same list. Those of connections are in
//! `connection_problems`, those of derives in the crate of the derives.

use crate::connection_problems::Recording;
use kubist::api::apps::v1::{Deployment, ReplicaSet};
use kubist::api::apps::v1beta1;
use kubist::api::core::v1::{ConfigMap, Namespace};
use kubist::apimachinery::{ApiResource, Object as _, ObjectName, PatchOptions, Unstructured};
use kubist::client::{Api, ApiError, Patch, RequestError};
use kubist::controller::{
    Action, Controller, Error, Finalizer, Manager, RunError, set_controller_reference,
};
use kubist::informers::SharedInformerFactory;
use kubist::kubeconfig::Options;
use kubist::{Server, ServerConfig};
use kubist_custom_resource::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(group = "example.com", version = "v1", kind = "Lamp", namespaced)]
struct LampSpec {
    watts: u32,
}

/// The same kind, as a program has it that is newer than the definition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(group = "example.com", version = "v1", kind = "Lamp", namespaced)]
#[custom_resource(root = "NewLamp")]
struct NewLampSpec {
    watts: String,
}

async fn server() -> Server {
    let config = ServerConfig {
        controllers: [].into(),
        ..ServerConfig::default()
    };
    Server::start(config).await.unwrap()
}

fn map(name: &str) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = name.into();
    map
}

/// The text of an error with the advice, as logs have it.
fn told(error: &ApiError) -> String {
    format!("{error}{}", error.advice())
}

#[track_caller]
fn says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "no {word:?} in {text:?}");
    }
    assert!(!text.contains('\n'), "{text}");
}

#[tokio::test]
async fn a_definition_that_is_not_installed_is_missed_by_name() {
    let server = server().await;
    let lamps: Api<Lamp> = Api::namespaced(server.client(), "default");
    let error = lamps.get("desk").await.unwrap_err();
    says(
        &told(&error),
        &[
            "could not find the requested resource",
            "install the definition",
        ],
    );

    let recording = Recording::begin();
    let factory = SharedInformerFactory::new(server.client());
    let informer = factory.informer::<Lamp>();
    factory.start();
    let failed = async {
        while informer.last_problem().is_none() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, failed).await.unwrap();
    let problem = informer.last_problem().unwrap();
    says(
        &problem,
        &["check group and version, or install the definition"],
    );
    assert!(!recording.warnings_of("Lamp").is_empty());
    factory.shutdown().await;
    server.shutdown().await;
}

#[tokio::test]
async fn a_version_that_is_not_served_is_told_from_a_missing_object() {
    let server = server().await;
    let old: Api<v1beta1::Deployment> = Api::namespaced(server.client(), "default");
    says(
        &told(&old.get("web").await.unwrap_err()),
        &["check group, version and plural"],
    );
    let new: Api<Deployment> = Api::namespaced(server.client(), "default");
    let missing = told(&new.get("web").await.unwrap_err());
    assert_eq!(missing, "deployments.apps \"web\" not found");
    server.shutdown().await;
}

#[test]
fn a_kubeconfig_that_is_not_there_is_named() {
    let file = Some(PathBuf::from("/nowhere/kubeconfig"));
    let options = Options {
        file,
        ..Options::default()
    };
    let error = kubist::infer_with(&options).unwrap_err();
    says(
        &kubist::apimachinery::with_causes(&error),
        &["/nowhere/kubeconfig"],
    );
}

#[tokio::test]
async fn a_missing_namespace_or_name_is_told_before_anything_is_sent() {
    let server = server().await;
    let everywhere: Api<ConfigMap> = Api::all(server.client());
    says(
        &told(&everywhere.get("x").await.unwrap_err()),
        &["no namespace for the ConfigMap"],
    );
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    says(
        &told(&maps.get("").await.unwrap_err()),
        &["the name of the ConfigMap is empty"],
    );
    let error = told(&maps.get("a/b").await.unwrap_err());
    says(&error, &["\"a/b\" cannot be a part of a path"]);
    server.shutdown().await;
}

#[tokio::test]
async fn a_namespace_that_does_not_exist_is_named() {
    let server = server().await;
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "shop");
    let error = maps.create(&map("x")).await.unwrap_err();
    says(&told(&error), &["namespaces \"shop\" not found"]);
    server.shutdown().await;
}

#[tokio::test]
async fn an_apply_without_a_manager_is_told_what_a_manager_is() {
    let server = server().await;
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    let error = maps
        .apply(&map("x"), &PatchOptions::default())
        .await
        .unwrap_err();
    assert!(matches!(
        error,
        ApiError::Request(RequestError::NoFieldManager)
    ));
    says(
        &told(&error),
        &["needs a field manager", "PatchOptions::managed_by"],
    );
    server.shutdown().await;
}

#[tokio::test]
async fn every_conflict_says_how_it_is_solved() {
    let server = server().await;
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    let old = maps.create(&map("x")).await.unwrap();
    says(
        &told(&maps.create(&map("x")).await.unwrap_err()),
        &["already exists", "Api::apply"],
    );

    let mut new = old.clone();
    new.data.insert("a".into(), "1".into());
    maps.replace(&new).await.unwrap();
    let error = maps.replace(&new).await.unwrap_err();
    says(
        &told(&error),
        &["the object has been modified", "retry_on_conflict"],
    );

    let mut mine = map("x");
    mine.data.insert("a".into(), "2".into());
    let error = maps
        .apply(&mine, &PatchOptions::managed_by("me"))
        .await
        .unwrap_err();
    says(
        &told(&error),
        &["conflict", ".data.a", "take them with force"],
    );
    server.shutdown().await;
}

#[tokio::test]
async fn what_a_schema_refuses_is_named_by_its_path() {
    let server = server().await;
    crate::custom_resource::establish(&server.client(), &Lamp::definition()).await;
    let lamps: Api<Unstructured> =
        Api::dynamic(server.client(), &ApiResource::of::<Lamp>()).in_namespace("default");
    let mut lamp = Unstructured::new(&ApiResource::of::<Lamp>(), "desk");
    lamp.object
        .insert("spec".into(), json!({"watts": "bright"}));
    let error = lamps.create(&lamp).await.unwrap_err();
    says(&told(&error), &["spec.watts", "integer"]);

    // A stored object that does not fit the type.
    let typed: Api<Lamp> = Api::namespaced(server.client(), "default");
    typed
        .create(&Lamp::new("desk", LampSpec { watts: 9 }))
        .await
        .unwrap();
    let newer: Api<NewLamp> = Api::namespaced(server.client(), "default");
    says(
        &told(&newer.get("desk").await.unwrap_err()),
        &["spec.watts", "expected a string"],
    );

    // A finalizer that servers do not take.
    let mut lamp = typed.get("desk").await.unwrap();
    Finalizer::new("example.com/not a name").add(&mut lamp.metadata);
    let error = typed.replace(&lamp).await.unwrap_err();
    says(
        &told(&error),
        &["metadata.finalizers", "name part must consist of"],
    );

    // A field that the definition does not have, which servers drop.
    let recording = Recording::begin();
    let patch = Patch::Merge(json!({"spec": {"wats": 9}}));
    typed.patch("desk", &patch).await.unwrap();
    let warnings = recording.warnings_of("spec.wats");
    says(warnings.first().unwrap(), &["unknown field \"spec.wats\""]);
    server.shutdown().await;
}

#[tokio::test]
async fn an_owner_that_cannot_own_is_told_why() {
    let mut owner = map("owner");
    let mut child = map("child");
    child.metadata.namespace = "shop".into();
    owner.metadata.namespace = "shop".into();
    let error = set_controller_reference(&owner, &mut child).unwrap_err();
    says(
        &error.to_string(),
        &["has no uid", "must be read from a server"],
    );
    owner.metadata.uid = "1".into();
    child.metadata.namespace = "other".into();
    let error = set_controller_reference(&owner, &mut child).unwrap_err();
    says(
        &error.to_string(),
        &["other", "create it in the owner's namespace"],
    );
    let mut child = Namespace::default();
    child.metadata.name = "child".into();
    let error = set_controller_reference(&owner, &mut child).unwrap_err();
    says(
        &error.to_string(),
        &["is cluster-scoped", "with a finalizer"],
    );
}

#[tokio::test(start_paused = true)]
async fn a_controller_whose_informers_do_not_run_says_how_to_start_them() {
    let server = server().await;
    let factory = SharedInformerFactory::new(server.client());
    let controller = Controller::new("maps", &factory.informer::<ConfigMap>());
    let reconcile = |_: ObjectName| async { Ok::<_, Error>(Action::done()) };
    let error = controller
        .run(reconcile, CancellationToken::new())
        .await
        .unwrap_err();
    assert!(matches!(
        error,
        RunError::InformerNotStarted { .. } | RunError::SyncTimeout { .. }
    ));
    says(
        &error.to_string(),
        &["SharedInformerFactory::start", "or use a Manager"],
    );
    server.shutdown().await;
}

/// Runs a controller of `ConfigMap`s until the log has a warning with a word.
async fn until_told<F, Fut>(server: &Server, word: &str, reconcile: F) -> String
where
    F: Fn(ObjectName) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Action, Error>> + Send,
{
    let recording = Recording::begin();
    let factory = SharedInformerFactory::new(server.client());
    let maps = factory.informer::<ConfigMap>();
    let controller = Controller::new("maps", &maps).owns(&factory.informer::<ReplicaSet>());
    let token = CancellationToken::new();
    let manager = Manager::new(factory)
        .with(controller, reconcile)
        .run(token.clone());
    let told = async {
        loop {
            if let Some(line) = recording.warnings_of(word).first() {
                return line.clone();
            }
            sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::pin!(manager);
    tokio::select! {
        ended = &mut manager => panic!("it ended: {ended:?}"),
        line = timeout(PATIENCE, told) => {
            token.cancel();
            manager.await.unwrap();
            line.expect("nothing was told")
        }
    }
}

#[tokio::test]
async fn a_reconciler_that_always_writes_is_told_that_it_wakes_itself() {
    let server = server().await;
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    maps.create(&map("busy")).await.unwrap();
    let api = maps.clone();
    let reconcile = move |key: ObjectName| {
        let maps = api.clone();
        async move {
            let set_time = |map: &mut ConfigMap| {
                let before = map.metadata.resource_version.clone();
                map.data.insert("written".into(), before);
            };
            if key.name == "busy" {
                maps.edit(&key.name, set_time).await?;
            }
            Ok(Action::done())
        }
    };
    let line = until_told(&server, "wakes itself", reconcile).await;
    says(
        &line,
        &["default/busy", "500 times", "write only what differs"],
    );
    server.shutdown().await;
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "it is to block")]
async fn a_reconciler_that_blocks_is_told_to_spawn_blocking() {
    let server = server().await;
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    maps.create(&map("slow")).await.unwrap();
    let reconcile = |key: ObjectName| async move {
        if key.name == "slow" {
            std::thread::sleep(Duration::from_millis(1_050));
        }
        Ok(Action::done())
    };
    let line = until_told(&server, "did not give way", reconcile).await;
    says(&line, &["default/slow", "spawn_blocking"]);
    server.shutdown().await;
}

#[tokio::test]
async fn a_failed_reconcile_is_logged_with_what_to_do() {
    let server = server().await;
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    maps.create(&map("x")).await.unwrap();
    let lamps: Api<Lamp> = Api::namespaced(server.client(), "default");
    let reconcile = move |_: ObjectName| {
        let lamps = lamps.clone();
        async move {
            let lamp = lamps.get("desk").await?;
            drop(lamp.name().to_owned());
            Ok(Action::done())
        }
    };
    let line = until_told(&server, "reconcile failed", reconcile).await;
    says(
        &line,
        &[
            "could not find the requested resource",
            "install the definition",
        ],
    );
    server.shutdown().await;
}

//! Controllers that are good, on prepared content, alone and with the server's own controllers.

use kubist::api::core::v1::{ConfigMap, Secret};
use kubist::apimachinery::{ObjectName, StrOption as _};
use kubist::client::{Api, ApiError, Client, Patch};
use kubist::controller::{Action, Controller, Error, Manager, set_controller_reference};
use kubist::informers::SharedInformerFactory;
use kubist_test::explore::{Scenario, explore};
use kubist_test::faults::{Failure, Requests};
use kubist_test::{ServerController, Snapshot, TestServer};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// Copies config maps with a label into secrets.
async fn copy(
    client: Client,
    stop: CancellationToken,
) -> Result<(), kubist::controller::ManagerError> {
    let factory = SharedInformerFactory::new(client.clone());
    let maps = factory.informer::<ConfigMap>();
    let secrets = factory.informer::<Secret>();
    let lister = maps.lister_unsynced();
    let controller = Controller::new("copy", &maps).owns(&secrets);
    let reconcile = move |key: ObjectName| {
        let map = lister
            .get(&key)
            .filter(|it| it.metadata.labels.get("copy").is("yes"));
        let api: Api<Secret> = Api::namespaced(client.clone(), key.namespace.clone());
        async move {
            let Some(map) = map else {
                return Ok(Action::done());
            };
            let mut secret = Secret::default();
            secret.metadata.name = key.name.clone();
            secret.string_data = map.data.clone();
            set_controller_reference(&*map, &mut secret).map_err(Error::terminal)?;
            match api.create(&secret).await {
                Err(error) if error.is_already_exists() => {
                    let patch = Patch::Merge(json!({"stringData": map.data}));
                    api.patch(&key.name, &patch).await?;
                }
                created => drop(created?),
            }
            Ok::<_, Error>(Action::done())
        }
    };
    let manager = Manager::new(factory).with(controller, reconcile);
    manager.run(stop).await.map(drop)
}

fn map(name: &str) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = name.into();
    map.metadata.namespace = "default".into();
    map.metadata.labels.insert("copy".into(), "yes".into());
    map.data.insert("value".into(), "1".into());
    map
}

fn scenario() -> Scenario {
    Scenario::new("copies")
        .prepare("one exists", |client| async move {
            Api::namespaced(client, "default")
                .create(&map("first"))
                .await
        })
        .controller("copy", copy)
        .step("another is created", |client| async move {
            Api::namespaced(client, "default")
                .create(&map("second"))
                .await
        })
        .step("the first is changed", |client| async move {
            let maps: Api<ConfigMap> = Api::namespaced(client, "default");
            let patch = Patch::Merge(json!({"data": {"value": "2"}}));
            maps.patch("first", &patch).await
        })
        .step("the second is deleted", |client| async move {
            let maps: Api<ConfigMap> = Api::namespaced(client, "default");
            maps.delete("second").await.map(drop)
        })
}

#[test]
fn a_good_controller_passes() {
    explore(0..60, &scenario()).assert_good();
}

#[test]
fn a_good_controller_passes_with_the_garbage_collector() {
    let scenario = scenario().server_controllers([ServerController::GarbageCollector]);
    explore(0..20, &scenario).assert_good();
}

#[test]
fn rules_can_be_added_to_every_world() {
    let scenario = scenario().with_faults(|faults| {
        let writes = Requests::writes().by("copy");
        drop(faults.on(writes).times(3).fail(Failure::InternalError));
    });
    explore(0..20, &scenario).assert_good();
}

#[test]
fn worlds_begin_with_a_snapshot() {
    let snapshot = Snapshot::prepare(TestServer::builder(), async |server: &TestServer| {
        let maps: Api<ConfigMap> = Api::namespaced(server.client(), "default");
        maps.create(&map("third")).await?;
        Ok(())
    });
    let snapshot = snapshot.expect("it can be prepared");
    let scenario = scenario()
        .on(&snapshot)
        .invariant("the third stays", |state| {
            let third = state.get::<ConfigMap>("default", "third");
            third.map(drop).ok_or_else(|| "it is gone".to_owned())
        });
    explore(0..20, &scenario).assert_good();
}

#[tokio::test]
async fn an_exploration_may_run_within_a_runtime() -> Result<(), ApiError> {
    explore(0..3, &scenario()).assert_good();
    Ok(())
}

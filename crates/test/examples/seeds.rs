//! How long exploration takes: 1,000 seeds of a controller that reconciles ten objects, and what a
//! world costs in which nothing happens.
//!
//! `cargo run --release -p kubist-test --example seeds`

use kubist::api::core::v1::ConfigMap;
use kubist::apimachinery::{ObjectName, StrOption as _};
use kubist::client::{Api, ApiError, Client, Patch};
use kubist::controller::{Action, Controller, Manager, ManagerError};
use kubist::informers::SharedInformerFactory;
use kubist_test::explore::{Exploration, Scenario, explore};
use serde_json::json;
use tokio_util::sync::CancellationToken;

const SEEDS: u64 = 1_000;

/// Labels every config map.
async fn label(client: Client, stop: CancellationToken) -> Result<(), ManagerError> {
    let factory = SharedInformerFactory::new(client.clone());
    let maps = factory.informer::<ConfigMap>();
    let lister = maps.lister_unsynced();
    let reconcile = move |key: ObjectName| {
        let (map, client) = (lister.get(&key), client.clone());
        async move {
            if map.is_some_and(|it| !it.metadata.labels.get("seen").is("yes")) {
                let patch = Patch::Merge(json!({"metadata": {"labels": {"seen": "yes"}}}));
                let maps: Api<ConfigMap> = Api::namespaced(client, key.namespace.clone());
                maps.patch(&key.name, &patch).await?;
            }
            Ok::<_, ApiError>(Action::done())
        }
    };
    let controller = Controller::new("labels", &maps);
    let manager = Manager::new(factory).with(controller, reconcile);
    manager.run(stop).await.map(drop)
}

async fn create(client: Client, count: usize) -> Result<(), ApiError> {
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    for index in 0..count {
        let mut map = ConfigMap::default();
        map.metadata.name = format!("map-{index}").into();
        maps.create(&map).await?;
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "it is the output of a program")]
fn print(what: &str, explored: &Exploration) {
    let seeds = u32::try_from(explored.seeds()).unwrap_or(u32::MAX).max(1);
    let (all, each) = (explored.elapsed(), explored.elapsed() / seeds);
    println!("{what}: {seeds} seeds in {all:.2?}, {each:.2?} each");
    if let Some(failure) = explored.failure() {
        println!("{failure}");
    }
}

fn main() {
    let empty = Scenario::new("nothing");
    print(
        "a world in which nothing happens",
        &explore(0..SEEDS, &empty),
    );
    let idle = Scenario::new("idle").controller("labels", label);
    print("a controller without objects", &explore(0..SEEDS, &idle));
    let ten = idle.step("ten objects are created", |client| create(client, 10));
    print("ten reconciles", &explore(0..SEEDS, &ten));
    let alone = ten.threads(1);
    print(
        "ten reconciles, one world at a time",
        &explore(0..SEEDS, &alone),
    );
}

//! A run that is repeated does the same: requests, uids, names, versions and dates.

use crate::fixtures::{Website, WebsiteSpec};
use crate::objects::map;
use kubist::api::apps::v1::Deployment;
use kubist::api::core::v1::{ConfigMap, Namespace, ObjectReference, Pod};
use kubist::apimachinery::wire::{Encode, Encoding, Ingest};
use kubist::apimachinery::{Object as _, ObjectName, OwnerReference};
use kubist::client::{Api, ApiError, Client};
use kubist::controller::{Action, Controller, Error, Manager};
use kubist::custom_resource::CustomResource as _;
use kubist::events::{EventBroadcaster, EventType};
use kubist::informers::SharedInformerFactory;
use kubist::leader_election::{LeaderElectionConfig, LeaseLock};
use kubist_test::{ServerController, TestError, TestServer};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// An operator as they are written: it has informers, an owned object, events, a lease and a retry.
async fn operate(client: Client, token: CancellationToken) -> Result<(), TestError> {
    let factory = SharedInformerFactory::new(client.clone());
    let sites = factory.informer::<Website>();
    let lister = sites.lister_unsynced();
    let events = EventBroadcaster::new(client.clone());
    let recorder = events.recorder_of("example.com/websites", "websites-0");
    let maps = client.clone();
    let reconcile = move |key: ObjectName| {
        let (site, client, recorder) = (lister.get(&key), maps.clone(), recorder.clone());
        async move {
            let Some(site) = site else {
                return Ok(Action::done());
            };
            let maps: Api<ConfigMap> = Api::namespaced(client, key.namespace.clone());
            let mut child = map(&key.name, &site.spec.image);
            child.metadata.owner_references = vec![OwnerReference {
                api_version: "example.com/v1".into(),
                kind: "Website".into(),
                name: key.name.clone(),
                uid: site.uid().into(),
                controller: Some(true),
                ..OwnerReference::default()
            }];
            match maps.create(&child).await {
                Err(error) if error.is_already_exists() => return Ok(Action::done()),
                created => drop(created?),
            }
            let about = ObjectReference {
                kind: "Website".into(),
                namespace: key.namespace.clone(),
                name: key.name.clone(),
                ..ObjectReference::default()
            };
            recorder.event(&about, EventType::Normal, "Created", "Create", "a map");
            Ok::<_, Error>(Action::requeue_after(Duration::from_secs(600)))
        }
    };
    let lock = LeaseLock::new(client, "default", "websites");
    let manager = Manager::new(factory)
        .with(Controller::new("websites", &sites).workers(3), reconcile)
        .with_task("events", |token| async move {
            events.run(token).await;
            Ok(())
        })
        .with_leader_election(LeaderElectionConfig::new(lock));
    let manager = manager.map_err(|error| TestError::Other(Box::new(error)))?;
    manager
        .run(token)
        .await
        .map(drop)
        .map_err(|error| TestError::Other(Box::new(error)))
}

const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: web}]}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
";

/// What is left of a run: the journal, and some objects with all that is in them.
async fn story(seed: u64) -> kubist_test::Result<String> {
    let mut controllers = ServerController::USUAL.to_vec();
    controllers.push(ServerController::Workloads);
    let builder = TestServer::builder().seed(seed).controllers(controllers);
    let server = builder
        .definition(Website::definition())
        .yaml(WEB)
        .start()
        .await?;
    server.run("websites", operate)?;
    let sites: Api<Website> = Api::namespaced(server.client(), "default");
    for number in 0..5 {
        let spec = WebsiteSpec {
            image: format!("web:{number}"),
        };
        sites
            .create(&Website::new(format!("site-{number}"), spec))
            .await?;
    }
    let web = server.object::<Deployment>("shop", "web");
    web.eventually(|it| it.status.ready_replicas == 4).await?;
    server
        .objects::<ConfigMap>("default")
        .eventually(|all| all.len() >= 5)
        .await?;
    sites.delete("site-3").await?;
    server
        .object::<ConfigMap>("default", "site-3")
        .eventually_gone()
        .await?;
    let mut text = objects::<Pod>(&server, "shop").await?;
    Api::<Namespace>::all(server.client())
        .delete("shop")
        .await?;
    server
        .object::<Namespace>("", "shop")
        .eventually_gone()
        .await?;
    server.advance(Duration::from_secs(1200)).await?;
    text += &objects::<ConfigMap>(&server, "").await?;
    text += &objects::<Website>(&server, "").await?;
    text += &objects::<kubist::api::events::v1::Event>(&server, "").await?;
    text += &objects::<kubist::api::coordination::v1::Lease>(&server, "").await?;
    let journal = server.journal();
    assert_eq!(journal.dropped(), 0, "all of it is compared");
    Ok(text + &journal.text())
}

async fn objects<K: Ingest + Encode>(
    server: &TestServer,
    namespace: &str,
) -> Result<String, TestError> {
    let found = server.objects::<K>(namespace).eventually(|_| true).await?;
    let mut text = String::new();
    for object in found {
        let encoded = object
            .encode(Encoding::Json)
            .map_err(|error| TestError::Other(Box::new(error)))?;
        text += &String::from_utf8_lossy(&encoded);
        text.push('\n');
    }
    Ok(text)
}

/// Runs a story on a runtime and a thread of its own.
fn begin(seed: u64) -> JoinHandle<String> {
    let run = std::thread::Builder::new()
        .name(format!("seed {seed}"))
        .spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .start_paused(true)
                .build()
                .expect("there are resources");
            runtime.block_on(story(seed)).expect("nothing fails")
        });
    run.expect("there are threads")
}

fn told(story: JoinHandle<String>) -> String {
    story.join().expect("it does not panic")
}

#[test]
fn a_run_that_is_repeated_is_the_same_to_the_byte() {
    let (one, two) = (begin(7), begin(7));
    let (one, two) = (told(one), told(two));
    let differs = one
        .lines()
        .zip(two.lines())
        .position(|(one, two)| one != two);
    if let Some(line) = differs {
        let of = |text: &str| text.lines().nth(line).unwrap_or_default().to_owned();
        panic!("line {line}:\n{}\n{}", of(&one), of(&two));
    }
    assert_eq!(one.len(), two.len());
    assert!(one.lines().count() > 300, "{} lines", one.lines().count());
    assert_ne!(one, told(begin(8)), "another seed has other uids");
}

#[test]
fn an_api_error_is_the_error_of_a_test() {
    fn check<E: Into<TestError>>() {}
    check::<ApiError>();
}

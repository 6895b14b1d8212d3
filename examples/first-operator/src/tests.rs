//! The operator and its manifests against an API server in this process.

use crate::kind::{Website, WebsiteSpec};
use crate::{manifests, operator};
use kubist::api::apiextensions::v1::CustomResourceDefinition;
use kubist::api::apps::v1::Deployment;
use kubist::api::events::v1::Event;
use kubist::apimachinery::{
    GroupVersion, ListOptions, PatchOptions, Unstructured, is_condition_true,
};
use kubist::client::{Api, ApiError, Client, RestMapper, UsedPermissions};
use kubist::custom_resource::{CustomResource as _, is_established};
use kubist::events::EventBroadcaster;
use kubist::{Server, ServerConfig};
use std::error::Error;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(30);

/// Creates the kind, and waits until it is served.
async fn install(client: &Client) -> Result<(), Box<dyn Error>> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let definition = Website::definition();
    definitions.create(&definition).await?;
    let name = &definition.metadata.name;
    definitions
        .wait_until_within(name, PATIENCE, is_established)
        .await?;
    Ok(())
}

#[tokio::test]
async fn a_deployment_is_made_and_follows_the_spec() -> Result<(), Box<dyn Error>> {
    let server = Server::start(ServerConfig::default()).await?;
    let client = server.client();
    install(&client).await?;
    let used = UsedPermissions::default();
    let broadcaster = EventBroadcaster::new(client.recording(&used));
    let manager = operator::manager(client.recording(&used), broadcaster.recorder("test"));
    let manager = manager.with_task("events", |token| async move {
        broadcaster.run(token).await;
        Ok(())
    });
    let stop = CancellationToken::new();
    let test = async {
        let _stop = stop.clone().drop_guard(); // also when the test fails
        follow_the_spec(&client).await
    };
    let (ran, tested) = tokio::join!(manager.run(stop.clone()), test);
    tested?;
    ran?;
    let (role, _) = manifests::cluster_role();
    assert_eq!(used.lacking(&role.rules), [], "the role lacks a right");
    server.shutdown().await;
    Ok(())
}

async fn follow_the_spec(client: &Client) -> Result<(), Box<dyn Error>> {
    let objects: Api<Website> = Api::namespaced(client.clone(), "default");
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), "default");
    let spec = WebsiteSpec {
        image: "web:1".to_owned(),
        replicas: 2,
    };
    objects.create(&Website::new("shop", spec)).await?;
    let has = |replicas: i32| {
        move |it: Option<&Deployment>| it.is_some_and(|it| it.spec.replicas == Some(replicas))
    };
    let made = deployments
        .wait_until_within("shop", PATIENCE, has(2))
        .await?;
    let made = made.ok_or("it is there")?;
    assert_eq!(&*made.metadata.owner_references[0].kind, "Website");
    let event = timeout(PATIENCE, first_event(client)).await??;
    assert_eq!(
        (&*event.reason, &*event.regarding.name),
        ("Created", "shop")
    );

    objects.edit("shop", |it| it.spec.replicas = 3).await?;
    deployments
        .wait_until_within("shop", PATIENCE, has(3))
        .await?;

    // What a kubelet and the Deployment's controller would bring about.
    let ready = deployments.edit_status("shop", |it| {
        it.status.replicas = 3;
        it.status.ready_replicas = 3;
    });
    ready.await?;
    let is_ready = |it: Option<&Website>| {
        let status = it.and_then(|it| it.status.as_ref());
        status.is_some_and(|it| it.ready == 3 && is_condition_true(&it.conditions, "Ready"))
    };
    objects
        .wait_until_within("shop", PATIENCE, is_ready)
        .await?;
    Ok(())
}

/// Events are written in the background.
async fn first_event(client: &Client) -> Result<Event, ApiError> {
    let events: Api<Event> = Api::namespaced(client.clone(), "default");
    loop {
        if let Some(event) = events.list(&ListOptions::default()).await?.items.pop() {
            return Ok(event);
        }
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_server_accepts_the_manifests() -> Result<(), Box<dyn Error>> {
    let server = Server::start(ServerConfig::default()).await?;
    let mapper = RestMapper::new(server.client());
    for document in manifests::documents("example.com/operator:1") {
        let text = |path: &str| document.pointer(path).and_then(|it| it.as_str());
        let (Some(version), Some(kind)) = (text("/apiVersion"), text("/kind")) else {
            return Err(format!("no kind: {document}").into());
        };
        let version: GroupVersion = version.parse()?;
        let resource = mapper.of_kind(&version.with_kind(kind)).await?;
        let api: Api<Unstructured> = match text("/metadata/namespace") {
            Some(namespace) => {
                Api::dynamic_namespaced(server.client(), &resource, namespace.to_owned())
            }
            None => Api::dynamic(server.client(), &resource),
        };
        let object: Unstructured = serde_json::from_value(document)?;
        api.apply(&object, &PatchOptions::managed_by("test"))
            .await?;
    }
    server.shutdown().await;
    Ok(())
}

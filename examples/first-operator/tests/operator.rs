//! The operator against an API server in this process.

use first_operator::operator;
use first_operator::website::{Website, WebsiteSpec};
use kubist::api::apiextensions::v1::CustomResourceDefinition;
use kubist::api::apps::v1::Deployment;
use kubist::client::{Api, Client};
use kubist::custom_resource::CustomResource as _;
use kubist::events::EventBroadcaster;
use kubist::{Server, ServerConfig};
use std::error::Error;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(30);

/// Creates the kind, and waits until it is served.
async fn install(client: &Client) -> Result<(), Box<dyn Error>> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let definition = Website::definition();
    definitions.create(&definition).await?;
    let is_served = |it: Option<&CustomResourceDefinition>| {
        it.is_some_and(|it| {
            let mut conditions = it.status.conditions.iter();
            conditions.any(|it| &*it.type_ == "Established" && &*it.status == "True")
        })
    };
    let name = &definition.metadata.name;
    definitions
        .wait_until_within(name, PATIENCE, is_served)
        .await?;
    Ok(())
}

#[tokio::test]
async fn a_website_becomes_a_deployment_and_follows_its_spec() -> Result<(), Box<dyn Error>> {
    let server = Server::start(ServerConfig::default()).await?;
    let client = server.client();
    install(&client).await?;
    let recorder = EventBroadcaster::new(client.clone()).recorder("test");
    let stop = CancellationToken::new();
    let manager = operator::manager(client.clone(), recorder);

    let test = async {
        let websites: Api<Website> = Api::namespaced(client.clone(), "default");
        let deployments: Api<Deployment> = Api::namespaced(client.clone(), "default");
        let spec = WebsiteSpec {
            image: "web:1".to_owned(),
            replicas: 2,
        };
        websites.create(&Website::new("shop", spec)).await?;
        let has = |replicas: i32| {
            move |it: Option<&Deployment>| it.is_some_and(|it| it.spec.replicas == Some(replicas))
        };
        let made = deployments
            .wait_until_within("shop", PATIENCE, has(2))
            .await?;
        let made = made.ok_or("it is there")?;
        assert_eq!(&*made.metadata.owner_references[0].kind, "Website");

        websites.edit("shop", |it| it.spec.replicas = 3).await?;
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
            status.is_some_and(|it| it.ready == 3)
        };
        websites
            .wait_until_within("shop", PATIENCE, is_ready)
            .await?;
        Ok::<_, Box<dyn Error>>(())
    };
    let tested = async {
        let result = test.await;
        stop.cancel();
        result
    };
    let (ran, tested) = tokio::join!(manager.run(stop.clone()), tested);
    tested?;
    ran?;
    server.shutdown().await;
    Ok(())
}

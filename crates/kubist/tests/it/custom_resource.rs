//! Derived and generated kinds on a server in this process: their definitions are accepted, and their objects are
//! written, read, cached and reconciled.

#[path = "../../../codegen/tests/it/crds/mod.rs"]
mod crds;
mod foreign;
mod life;
mod pitfalls;

use kubist::api::apiextensions::v1::CustomResourceDefinition;
use kubist::client::{Api, Client};
use kubist::{Server, ServerConfig};
use kubist_custom_resource::CustomResource;
use std::time::Duration;

/// Starts a server that serves a kind.
async fn serving<K: CustomResource>() -> Server {
    let server = Server::start(ServerConfig {
        controllers: [].into(),
        ..Default::default()
    })
    .await
    .unwrap();
    establish(&server.client(), &K::definition()).await;
    server
}

/// Creates a definition, and waits until it is served.
async fn establish(client: &Client, definition: &CustomResourceDefinition) {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    definitions.create(definition).await.unwrap();
    let is_established = |it: Option<&CustomResourceDefinition>| {
        let conditions = it.iter().flat_map(|it| &it.status.conditions);
        let mut conditions = conditions.filter(|it| it.type_ == "Established");
        conditions.any(|it| it.status == "True")
    };
    definitions
        .wait_until_within(
            &definition.metadata.name,
            Duration::from_secs(30),
            is_established,
        )
        .await
        .unwrap();
}

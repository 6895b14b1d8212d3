//! Derived and generated kinds on a server in this process: their definitions are accepted, and
//! their objects are written, read, cached and reconciled.

mod applied;
#[path = "../../../codegen/tests/it/crds/fruit_example_com/v1/fig.rs"]
#[allow(clippy::pedantic, dead_code, unreachable_pub, reason = "generated")]
mod fig;
mod foreign;
mod life;
#[path = "../../../codegen/tests/it/crds/fruit_example_com/v1alpha1/fig.rs"]
#[allow(clippy::pedantic, dead_code, unreachable_pub, reason = "generated")]
mod old_fig;
mod pitfalls;
#[path = "../../../codegen/tests/it/crds/fruit_example_com/v1/string.rs"]
#[allow(clippy::pedantic, dead_code, unreachable_pub, reason = "generated")]
mod string;

use kubist::api::apiextensions::v1::CustomResourceDefinition;
use kubist::client::{Api, Client};
use kubist::{Server, ServerConfig};
use kubist_custom_resource::CustomResource;
use std::time::Duration;

/// Starts a server that serves a kind.
async fn serving<K: CustomResource>() -> Server {
    let server = Box::pin(Server::start(ServerConfig {
        controllers: [].into(),
        ..Default::default()
    }))
    .await
    .unwrap();
    establish(&server.client(), &K::definition()).await;
    server
}

/// Creates a definition, and waits until it is served.
pub(crate) async fn establish(client: &Client, definition: &CustomResourceDefinition) {
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

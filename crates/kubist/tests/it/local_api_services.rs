//! The `APIService`s of what a server itself serves.

use kubist::client::{Api, Client};
use kubist::{Controller, Server, ServerConfig};
use kubist_api::apiextensions::v1::CustomResourceDefinition;
use kubist_api::apiregistration::v1::APIService;
use serde_json::json;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const PATIENCE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(2);

async fn is_there(services: &Api<APIService>, name: &str, expected: bool) -> Option<APIService> {
    let until = Instant::now() + PATIENCE;
    loop {
        let found = services.get(name).await.ok();
        if found.is_some() == expected {
            return found;
        }
        assert!(Instant::now() < until, "{name}: {expected} was expected");
        sleep(POLL).await;
    }
}

async fn define(client: &Client, group: &str) {
    let definition = json!({
        "metadata": {"name": format!("lions.{group}")},
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": {"plural": "lions", "kind": "Lion"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    });
    let definition: CustomResourceDefinition = serde_json::from_value(definition).unwrap();
    let definitions = Api::all(client.clone());
    definitions.create(&definition).await.unwrap();
}

#[tokio::test]
async fn every_version_has_its_api_service_and_those_of_definitions_follow_them() {
    let config = ServerConfig {
        listen: None,
        controllers: [Controller::LocalApiServices].into(),
        ..ServerConfig::default()
    };
    let server = Server::start(config).await.unwrap();
    let client = server.client();
    let services: Api<APIService> = Api::all(client.clone());
    let apps = is_there(&services, "v1.apps", true).await.unwrap();
    assert_eq!(apps.spec.group_priority_minimum, 17_800);
    assert_eq!(&*apps.status.conditions[0].reason, "Local");

    // One that somebody made for a version of their own stays as it is.
    let mut own = APIService::default();
    own.metadata.name = "v1.mine.example.com".into();
    own.spec.group = "mine.example.com".into();
    own.spec.version = "v1".into();
    own.spec.group_priority_minimum = 7;
    own.spec.version_priority = 7;
    services.create(&own).await.unwrap();
    define(&client, "mine.example.com").await;
    define(&client, "zoo.example.com").await;
    let zoo = is_there(&services, "v1.zoo.example.com", true).await;
    assert_eq!(zoo.unwrap().spec.group_priority_minimum, 1_000);
    let definitions: Api<CustomResourceDefinition> = Api::all(client);
    definitions.delete("lions.zoo.example.com").await.unwrap();
    is_there(&services, "v1.zoo.example.com", false).await;
    let own = services.get("v1.mine.example.com").await.unwrap();
    assert_eq!(own.spec.group_priority_minimum, 7);
    server.shutdown().await;
}

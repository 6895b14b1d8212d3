//! Webhooks that are services of the cluster.

use super::*;

const SERVICES: &str = "/api/v1/namespaces/default/services";

fn by_service(webhook: &Webhook) -> Value {
    json!({
        "service": {"namespace": "default", "name": "hook", "path": "/c", "port": 9443},
        "caBundle": STANDARD.encode(&webhook.ca_pem),
    })
}

#[tokio::test]
async fn a_service_is_called_under_its_own_name() {
    // The certificate names the service, not the address.
    let webhook = Webhook::start("hook.default.svc").await;
    let mut world = World::new().await;
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "hook"},
        "spec": {"type": "ExternalName", "externalName": "localhost"},
    });
    assert_eq!(world.client.post(SERVICES, &service).await.code, 201);
    let mut config = by_service(&webhook);
    config["service"]["port"] = webhook.port.into();
    world.define(&config).await;
    world.create(V1, "a", &json!({"size": 1})).await;
    assert_eq!(
        world.get(&format!("{BETA}/a")).await["spec"],
        json!({"dimension": 1})
    );
    assert!(webhook.paths().iter().all(|it| it == "/c?timeout=30s"));
    world.end(webhook).await;
}

#[tokio::test]
async fn a_service_without_the_port_is_an_error() {
    let webhook = Webhook::start("hook.default.svc").await;
    let mut world = World::new().await;
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "hook"},
        "spec": {"ports": [{"name": "https", "port": 443}]},
    });
    assert_eq!(world.client.post(SERVICES, &service).await.code, 201);
    world.define(&by_service(&webhook)).await;
    world.create(V1, "a", &json!({"size": 1})).await;
    let status = world.client.get(&format!("{BETA}/a")).await.json();
    assert_eq!(
        status["message"],
        "conversion webhook for example.com/v1, Kind=Widget failed: Post \
         \"https://hook.default.svc:9443/c?timeout=30s\": no service port 9443 found for service \
         \"hook\""
    );
    world.end(webhook).await;
}

//! Webhooks on servers: admission and conversion, on this one and on a kube-apiserver, with
//! certificates that are rotated.
//!
//! The test of a kube-apiserver is skipped as that of `etcd_upstream` is.
#![expect(clippy::disallowed_methods, reason = "what a test spawns, it awaits")]

use crate::etcd::{Etcd, Release};
use crate::etcd_upstream::{KubeApiserver, binary};
use kubist::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use kubist::api::apiextensions::v1::CustomResourceDefinition;
use kubist::api::core::v1::ConfigMap;
use kubist::apimachinery::{ApiResource, Unstructured};
use kubist::client::{Api, ApiError, Client};
use kubist::{Server, ServerConfig};
use kubist_webhook::{
    AdmissionRequest, Admitted, CertificateConfig, CertificateManager, Denied, InjectInto, Mutated,
    ServerConfig as WebhookConfig, WebhookServer, Webhooks,
};
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::{Duration, SystemTime};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 3_600);
const DEFINITION: &str = "figs.example.com";

fn convert(mut object: Value, version: &str) -> Result<Value, String> {
    let spec = &mut object["spec"];
    match version {
        "example.com/v2" => spec["length"] = spec["size"].take(),
        "example.com/v1" => spec["size"] = spec["length"].take(),
        other => return Err(format!("the version {other} is unknown")),
    }
    if let Some(spec) = spec.as_object_mut() {
        spec.retain(|_, value| !value.is_null());
    }
    object["apiVersion"] = version.into();
    Ok(object)
}

fn webhooks() -> Webhooks {
    Webhooks::new()
        .convert("/convert", convert)
        .validate(
            "/validate",
            |request: AdmissionRequest<ConfigMap>| async move {
                let map = request.object()?;
                match map.data.get("colour").map(|it| &**it) {
                    Some("red") => {
                        Err(Denied::new("red is not allowed").field(".data.colour", "red"))
                    }
                    Some("orange") => Ok(Admitted::new().warn("orange is nearly red")),
                    _ => Ok(Admitted::new()),
                }
            },
        )
        .mutate(
            "/mutate",
            |request: AdmissionRequest<ConfigMap>| async move {
                let mut map = request.into_object()?;
                map.data
                    .entry("colour".into())
                    .or_insert_with(|| "green".into());
                Ok(Mutated::new(map))
            },
        )
}

/// A running webhook server, and the manager of its certificate.
struct Hooks {
    address: SocketAddr,
    manager: CertificateManager,
}

async fn start(client: &Client, inject_into: Vec<InjectInto>) -> Hooks {
    let mut config = CertificateConfig::new("default", "webhook-cert", "webhook");
    config.names = vec!["127.0.0.1".to_owned()];
    config.inject_into = inject_into;
    let manager = CertificateManager::start(client.clone(), config).await;
    let manager = manager.expect("there is a certificate");
    let config = WebhookConfig {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        ..WebhookConfig::default()
    };
    let server = WebhookServer::bind(webhooks(), manager.certificate(), config).await;
    let server = server.expect("a port");
    let address = server.address();
    tokio::spawn(server.serve(CancellationToken::new()));
    Hooks { address, manager }
}

fn definition(address: SocketAddr) -> CustomResourceDefinition {
    let version = |name: &str, field: &str| {
        json!({
            "name": name, "served": true, "storage": name == "v1",
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "properties": {field: {"type": "integer"}}},
            }}},
        })
    };
    let definition = json!({
        "metadata": {"name": DEFINITION},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "figs", "kind": "Fig"},
            "versions": [version("v1", "size"), version("v2", "length")],
            "conversion": {"strategy": "Webhook", "webhook": {
                "conversionReviewVersions": ["v1"],
                "clientConfig": {"url": format!("https://{address}/convert")},
            }},
        },
    });
    serde_json::from_value(definition).expect("it is valid")
}

fn figs(client: &Client, version: &str) -> Api<Unstructured> {
    let resource = ApiResource {
        group: "example.com".into(),
        version: version.into(),
        kind: "Fig".into(),
        plural: "figs".into(),
        singular: "fig".into(),
        namespaced: true,
    };
    Api::dynamic_namespaced(client.clone(), &resource, "default")
}

fn fig(name: &str) -> Unstructured {
    let fig = json!({
        "apiVersion": "example.com/v1", "kind": "Fig",
        "metadata": {"name": name}, "spec": {"size": 7},
    });
    serde_json::from_value(fig).expect("it is an object")
}

async fn eventually<T>(what: &str, mut ask: impl AsyncFnMut() -> Result<T, ApiError>) -> T {
    let begun = Instant::now();
    loop {
        match ask().await {
            Ok(answer) => return answer,
            Err(error) => assert!(begun.elapsed() < PATIENCE, "in vain: {what}: {error}"),
        }
        sleep(Duration::from_millis(50)).await;
    }
}

/// Objects are converted, and go on being converted while certificates are rotated.
async fn converts(client: &Client) {
    let mut hooks = start(client, vec![InjectInto::Conversion(DEFINITION.into())]).await;
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let created = definitions.create(&definition(hooks.address)).await;
    created.expect("it is created");
    let now = SystemTime::UNIX_EPOCH.elapsed().expect("a time");
    hooks.manager.check(now).await.expect("it is checked");
    let (first, second) = (figs(client, "v1"), figs(client, "v2"));
    eventually("it is served", async || first.create(&fig("a")).await).await;
    let length = async || {
        let found = second.get("a").await?;
        assert_eq!(found.pointer("/spec/length"), Some(&json!(7)));
        Ok(())
    };
    eventually("it is converted", length).await;

    let mut bundles = vec![hooks.manager.bundle().to_owned()];
    let mut shown = vec![hooks.manager.certificate().pem()];
    // The certificate's life is a year, and the authority's ten. Certificates begin an hour before
    // they are made, so those of another day are not valid yet: only trust is tested with them.
    hooks
        .manager
        .check(now + 100 * DAY)
        .await
        .expect("it is checked");
    assert_eq!(hooks.manager.certificate().pem(), shown[0], "it is kept");
    length().await.expect("it is converted");
    hooks
        .manager
        .check(now + 300 * DAY)
        .await
        .expect("it is checked");
    bundles.push(hooks.manager.bundle().to_owned());
    shown.push(hooks.manager.certificate().pem());
    assert_eq!(bundles[1], bundles[0]);
    assert_ne!(shown[1], shown[0]);
    let definition = definitions.get(DEFINITION).await.expect("it is there");
    let webhook = definition.spec.conversion.and_then(|it| it.webhook);
    let config = webhook.and_then(|it| it.client_config).expect("it has one");
    assert_eq!(String::from_utf8_lossy(&config.ca_bundle), bundles[1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn custom_objects_are_converted_by_a_webhook_whose_certificate_is_rotated() {
    let server = Server::start(ServerConfig::default()).await;
    let server = server.expect("it starts");
    converts(&server.client()).await;
    server.shutdown().await;
}

fn configuration(kind: &str, url: &str) -> Value {
    json!({
        "metadata": {"name": "colours"},
        "webhooks": [{
            "name": format!("{kind}.example.com"), "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "failurePolicy": "Fail",
            "clientConfig": {"url": url},
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}},
            "rules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"],
                "resources": ["configmaps"],
            }],
        }],
    })
}

async fn admits(client: &Client) {
    let validating: Api<ValidatingWebhookConfiguration> = Api::all(client.clone());
    let mutating: Api<MutatingWebhookConfiguration> = Api::all(client.clone());
    let into = vec![
        InjectInto::Validating("colours".into()),
        InjectInto::Mutating("colours".into()),
    ];
    let mut hooks = start(client, into).await;
    let url = |path: &str| format!("https://{}/{path}", hooks.address);
    let configured: ValidatingWebhookConfiguration =
        serde_json::from_value(configuration("validate", &url("validate"))).expect("it is valid");
    validating.create(&configured).await.expect("it is created");
    let configured: MutatingWebhookConfiguration =
        serde_json::from_value(configuration("mutate", &url("mutate"))).expect("it is valid");
    mutating.create(&configured).await.expect("it is created");
    let now = SystemTime::UNIX_EPOCH.elapsed().expect("a time");
    hooks.manager.check(now).await.expect("it is checked");

    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let map = |name: &str, colour: Option<&str>| {
        let mut map = ConfigMap::default();
        map.metadata.name = name.into();
        map.data
            .extend(colour.map(|it| ("colour".into(), it.into())));
        map
    };
    // It takes a moment until a configuration is obeyed.
    let mut number = 0;
    eventually("it is changed", async || {
        number += 1;
        let created = maps.create(&map(&format!("m-{number}"), None)).await?;
        match created.data.get("colour") {
            Some(_) => Ok(created),
            None => maps.get("not yet").await,
        }
    })
    .await;
    let error = maps
        .create(&map("red", Some("red")))
        .await
        .expect_err("it is refused");
    let text = error.to_string();
    let wanted =
        "admission webhook \"validate.example.com\" denied the request: red is not allowed";
    assert!(text.contains(wanted), "{text}");
    assert!(error.is_forbidden());
    let orange = maps
        .create(&map("orange", Some("orange")))
        .await
        .expect("it is admitted");
    assert_eq!(&*orange.data["colour"], "orange");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_asks_webhooks_about_objects() {
    let server = Server::start(ServerConfig::default()).await;
    let server = server.expect("it starts");
    admits(&server.client()).await;
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kube_apiserver_on_etcd_asks_about_objects_and_has_them_converted() {
    let Some(binary) = binary() else { return };
    let Some(etcd) = Etcd::start(Release::Current).await else {
        return;
    };
    let upstream = KubeApiserver::start(Path::new(&binary), &etcd).await;
    converts(&upstream.client).await;
    admits(&upstream.client).await;
}

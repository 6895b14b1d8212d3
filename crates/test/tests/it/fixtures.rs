//! Fixtures from text, files, folders and definitions.

use kubist::api::core::v1::{ConfigMap, Namespace, Pod};
use kubist::client::Api;
use kubist::custom_resource::CustomResource;
use kubist_test::{Fixtures, TestError, TestServer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fs;

/// What is wanted of a website.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(group = "example.com", version = "v1", namespaced, kind = "Website")]
#[custom_resource(crate = kubist::custom_resource)]
pub(crate) struct WebsiteSpec {
    /// The image.
    pub(crate) image: String,
}

const SHOP: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data: {open: \"yes\"}
---
apiVersion: example.com/v1
kind: Website
metadata: {name: front, namespace: shop}
spec: {image: web}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
";

fn quiet() -> kubist_test::TestServerBuilder {
    TestServer::builder().controllers([])
}

#[tokio::test(start_paused = true)]
async fn definitions_and_namespaces_are_there_before_what_needs_them() -> kubist_test::Result {
    let server = quiet()
        .yaml(SHOP)
        .definition(Website::definition())
        .start()
        .await?;
    let sites: Api<Website> = Api::namespaced(server.client(), "shop");
    assert_eq!(sites.get("front").await?.spec.image, "web");
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "shop");
    assert_eq!(maps.get("settings").await?.data.len(), 1);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_files_of_a_folder_are_one_set() -> kubist_test::Result {
    let folder = tempfile::tempdir().expect("there is a place for it");
    let inner = folder.path().join("b");
    fs::create_dir(&inner).expect("it is new");
    let (shop, definition) = SHOP
        .split_once("---\napiVersion: v1\nkind: Namespace")
        .expect("it is");
    fs::write(folder.path().join("a.yaml"), shop).expect("it can be written");
    let definition = format!("apiVersion: v1\nkind: Namespace{definition}");
    fs::write(inner.join("z.yml"), definition).expect("it can be written");
    fs::write(inner.join("notes.txt"), "not: [a manifest").expect("it can be written");
    let server = quiet()
        .definition(Website::definition())
        .path(folder.path())
        .start()
        .await?;
    let namespaces: Api<Namespace> = Api::all(server.client());
    namespaces.get("shop").await?;
    let sites: Api<Website> = Api::namespaced(server.client(), "shop");
    sites.get("front").await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_status_is_written_after_its_object() -> kubist_test::Result {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, \
               image: i}]}, status: {phase: Running, podIP: 10.0.0.7}}";
    let server = quiet().yaml(pod).start().await?;
    let pods: Api<Pod> = Api::namespaced(server.client(), "default");
    let pod = pods.get("p").await?;
    assert_eq!(
        (&*pod.status.phase, &*pod.status.pod_ip),
        ("Running", "10.0.0.7")
    );
    assert_eq!(
        &*pod.status.qos_class, "BestEffort",
        "what the server has set is kept"
    );
    Ok(())
}

async fn refusal(text: &str) -> String {
    let error = quiet().yaml(text).start().await.expect_err(text);
    assert!(matches!(error, TestError::Fixture(_)), "{error:?}");
    format!("{error:?}")
}

#[tokio::test(start_paused = true)]
async fn errors_name_the_document_its_line_and_what_to_do() {
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n";
    let text = refusal(&format!(
        "{map}\n{{apiVersion: v1, kind: Fig, metadata: {{name: f}}}}"
    ))
    .await;
    let expected =
        "text 1, document 2 in line 2, Fig f: its kind is not served: add its definition";
    assert!(text.contains(expected), "{text}");

    let text = refusal(&format!(
        "{map}{{apiVersion: v1, kind: ConfigMap, metadata: {{name: b}}, dta: {{}}}}"
    ))
    .await;
    assert!(
        text.contains("document 2 in line 2, ConfigMap b: the server refuses it"),
        "{text}"
    );
    assert!(text.contains("unknown field \"dta\""), "{text}");

    let text =
        refusal("{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: none}}").await;
    assert!(
        text.contains("ConfigMap none/b: the server refuses it"),
        "{text}"
    );
    assert!(text.contains("namespaces \"none\" not found"), "{text}");

    let error = quiet()
        .path("/no/such/file.yaml")
        .start()
        .await
        .expect_err("it is not there");
    let text = format!("{error:?}");
    assert!(
        text.starts_with("/no/such/file.yaml: it cannot be read\n  because: "),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_definition_that_cannot_be_served_is_an_error_within_a_bound() {
    let mut rival = Website::definition();
    rival.metadata.name = "sites.example.com".into();
    rival.spec.names.plural = "sites".into();
    let error = quiet()
        .definition(Website::definition())
        .definition(rival)
        .start()
        .await;
    let text = format!("{:?}", error.expect_err("the kind is taken"));
    assert!(
        text.contains("CustomResourceDefinition sites.example.com: the definition is not est"),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn fixtures_can_be_added_to_a_server_that_runs() -> kubist_test::Result {
    let server = quiet().start().await?;
    server
        .apply(&Fixtures::new().definition(Website::definition()).yaml(SHOP))
        .await?;
    let sites: Api<Website> = Api::namespaced(server.client(), "shop");
    sites.get("front").await?;
    let error = server.apply_yaml(SHOP).await.expect_err("they are there");
    assert!(format!("{error:?}").contains("already exists"), "{error:?}");
    Ok(())
}

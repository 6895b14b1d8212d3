//! Reviews as an API server sends them, without a port; and the manifests on a server.

use crate::webhooks::{CREATED_BY, webhooks};
use crate::{manifests, v1, v2};
use kubist::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use kubist::api::apiextensions::v1::CustomResourceDefinition;
use kubist::client::Api;
use kubist::{Server, ServerConfig};
use serde_json::{Value, json};
use std::error::Error;

fn website(image: &str, min: i32, max: i32) -> Value {
    let (image, scale) = (image.to_owned(), v2::Scale { min, max });
    let website = v2::Website::new("shop", v2::WebsiteSpec { image, scale });
    serde_json::to_value(website).expect("it is JSON")
}

async fn review(path: &str, operation: &str, object: Value, old: Value) -> Value {
    let review = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "1", "operation": operation, "object": object, "oldObject": old,
            "userInfo": {"username": "system:serviceaccount:shop:deployer"},
        },
    });
    webhooks().review(path, &review).await["response"].take()
}

#[tokio::test]
async fn images_need_a_tag_and_one_that_moves_is_warned_about() {
    let create =
        async |image| review("/validate", "CREATE", website(image, 1, 2), Value::Null).await;
    assert_eq!(create("web:1").await["allowed"], true);
    let answer = create("web").await;
    assert_eq!(answer["allowed"], false);
    assert_eq!(
        answer["status"]["details"]["causes"][0]["field"],
        "spec.image"
    );
    let answer = create("web:latest").await;
    assert_eq!(answer["allowed"], true);
    assert_eq!(answer["warnings"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn a_website_is_not_switched_off() {
    let (on, off) = (website("web:1", 1, 2), website("web:1", 0, 0));
    let answer = review("/validate", "UPDATE", off.clone(), on.clone()).await;
    assert_eq!(answer["allowed"], false, "{answer}");
    assert_eq!(
        review("/validate", "UPDATE", on, off).await["allowed"],
        true
    );
}

#[tokio::test]
async fn who_creates_a_website_is_its_label() {
    let answer = review("/mutate", "CREATE", website("web:1", 1, 2), Value::Null).await;
    assert_eq!(answer["patchType"], "JSONPatch");
    let mut labelled = website("web:1", 1, 2);
    labelled["metadata"]["labels"] = json!({CREATED_BY: "system_serviceaccount_shop_deployer"});
    let again = review("/mutate", "CREATE", labelled, Value::Null).await;
    assert_eq!(again["allowed"], true);
    assert_eq!(again["patch"], Value::Null, "nothing differs");
}

#[tokio::test]
async fn a_website_goes_to_the_first_version_and_back_without_loss() {
    let convert = async |object: &Value, version: &str| {
        let review = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
            "request": {"uid": "1", "desiredAPIVersion": version, "objects": [object]},
        });
        webhooks().review("/convert", &review).await["response"]["convertedObjects"][0].take()
    };
    let new = website("web:1", 2, 5);
    let old = convert(&new, "example.com/v1").await;
    let typed: v1::Website = serde_json::from_value(old.clone()).expect("it is of this version");
    assert_eq!(typed.spec.replicas, 2);
    assert_eq!(convert(&old, "example.com/v2").await, new);
}

#[tokio::test]
async fn a_server_accepts_the_manifests() -> Result<(), Box<dyn Error>> {
    let server = Server::start(ServerConfig::default()).await?;
    let client = server.client();
    let definition = Api::<CustomResourceDefinition>::all(client.clone())
        .create(&manifests::definition()?)
        .await?;
    assert_eq!(definition.spec.versions.len(), 2);
    Api::<ValidatingWebhookConfiguration>::all(client.clone())
        .create(&manifests::validating())
        .await?;
    Api::<MutatingWebhookConfiguration>::all(client.clone())
        .create(&manifests::mutating())
        .await?;
    server.shutdown().await;
    Ok(())
}

//! Conversion reviews.

use kubist_webhook::Webhooks;
use serde_json::{Value, json};

fn fig(version: &str, name: &str) -> Value {
    json!({
        "apiVersion": format!("example.com/{version}"), "kind": "Fig",
        "metadata": {"name": name, "uid": "u"}, "spec": {"size": 1},
    })
}

fn review(objects: &[Value]) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
        "request": {"uid": "c-1", "desiredAPIVersion": "example.com/v2", "objects": objects},
    })
}

fn convert(mut object: Value, version: &str) -> Result<Value, String> {
    if object["spec"]["size"] == 9 {
        return Err("too large".to_owned());
    }
    object["apiVersion"] = version.into();
    object["spec"]["length"] = object["spec"]["size"].take();
    if object["metadata"]["name"] == "renamed" {
        object["metadata"]["name"] = "other".into();
    }
    Ok(object)
}

fn webhooks() -> Webhooks {
    Webhooks::new().convert("/convert", convert)
}

#[tokio::test]
async fn objects_are_converted_in_order_and_those_that_need_not_stay_as_they_are() {
    let mut objects: Vec<Value> = (0..40).map(|it| fig("v1", &format!("f-{it}"))).collect();
    objects.push(fig("v2", "there"));
    let answer = webhooks().review("/convert", &review(&objects)).await;
    let response = &answer["response"];
    assert_eq!(
        (&response["uid"], &response["result"]["status"]),
        (&json!("c-1"), &json!("Success"))
    );
    let converted = response["convertedObjects"].as_array().expect("a list");
    assert_eq!(converted.len(), 41);
    assert_eq!(converted[7]["spec"]["length"], 1);
    assert_eq!(converted[7]["metadata"]["name"], "f-7");
    assert_eq!(converted[40], fig("v2", "there"));
}

#[tokio::test]
async fn a_failure_names_the_object_and_nothing_is_converted() {
    let mut large = fig("v1", "large");
    large["spec"]["size"] = 9.into();
    for (object, why) in [
        (
            large,
            "object 1: \"large\" cannot be converted from example.com/v1 to example.com/v2: \
            too large",
        ),
        (
            fig("v1", "renamed"),
            "object 1: \"renamed\" cannot be converted from example.com/v1 to \
            example.com/v2: the result has another metadata.name",
        ),
    ] {
        let answer = webhooks()
            .review("/convert", &review(&[fig("v1", "a"), object]))
            .await;
        let result = &answer["response"]["result"];
        assert_eq!(
            (&result["status"], &result["message"]),
            (&json!("Failure"), &json!(why))
        );
        assert_eq!(answer["response"]["convertedObjects"], Value::Null);
    }
}

#[tokio::test]
async fn a_converter_that_panics_is_a_failure() {
    let webhooks = Webhooks::new().convert("/convert", |_, _| -> Result<Value, String> {
        panic!("oh");
    });
    let answer = webhooks
        .review("/convert", &review(&[fig("v1", "a")]))
        .await;
    let message = &answer["response"]["result"]["message"];
    assert_eq!(*message, "the handler of the webhook panicked");
}

//! Admission: what handlers get, and what API servers get.

use crate::review::{of_pod, pod};
use base64::Engine as _;
use kubist_api::core::v1::{Container, Pod};
use kubist_apimachinery::{FieldError, FieldPath};
use kubist_codec::patch::Reading;
use kubist_codec::patch::json::JsonPatch;
use kubist_webhook::{AdmissionRequest, Admitted, Denied, Mutated, Operation, Webhooks};
use serde_json::{Value, json};

/// The operations of the patch in an answer.
fn patch_of(answer: &Value) -> Vec<u8> {
    assert_eq!(answer["response"]["patchType"], "JSONPatch");
    let text = answer["response"]["patch"].as_str().expect("a patch");
    base64::engine::general_purpose::STANDARD
        .decode(text)
        .expect("base64")
}

fn patched(answer: &Value, object: Value) -> Value {
    let patch = JsonPatch::parse(&patch_of(answer), Reading::Checked).expect("a patch");
    patch.apply(object).expect("it applies")
}

#[tokio::test]
async fn a_handler_gets_the_request_and_says_yes_with_warnings() {
    let webhooks = Webhooks::new().validate("/v", |request: AdmissionRequest<Pod>| async move {
        assert_eq!(request.operation, Operation::Update);
        assert_eq!((&*request.name, &*request.namespace), ("web", "shop"));
        assert_eq!((&*request.user.username, request.dry_run), ("jane", true));
        assert_eq!(request.options["fieldManager"], "kubectl");
        assert_eq!(&*request.resource.resource, "pods");
        assert_eq!(&*request.object()?.spec.containers[0].image, "web:1");
        assert_eq!(&*request.old_object()?.metadata.name, "web");
        Ok(Admitted::new().warn("old image").audit("image", "web:1"))
    });
    let answer = webhooks.review("/v", &of_pod("UPDATE", pod(), pod())).await;
    let expected = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "response": {
            "uid": "u-1", "allowed": true, "warnings": ["old image"],
            "auditAnnotations": {"image": "web:1"},
        },
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn a_refusal_has_a_message_a_code_and_fields() {
    let webhooks = Webhooks::new()
        .validate("/no", |_: AdmissionRequest<Pod>| async {
            Err(Denied::new("not today").warn("try tomorrow"))
        })
        .validate("/invalid", |_: AdmissionRequest<Pod>| async {
            let path = FieldPath::new("spec").child("nodeName");
            let errors = [FieldError::invalid(&path, "n", "no such node")];
            Err(Denied::invalid("", "Pod", "web", &errors))
        });
    let answer = webhooks
        .review("/no", &of_pod("CREATE", pod(), Value::Null))
        .await;
    let response = &answer["response"];
    assert_eq!(response["allowed"], false);
    assert_eq!(response["status"]["message"], "not today");
    assert_eq!(response["status"]["code"], 403);
    assert_eq!(response["warnings"], json!(["try tomorrow"]));
    let answer = webhooks
        .review("/invalid", &of_pod("CREATE", pod(), Value::Null))
        .await;
    let status = &answer["response"]["status"];
    assert_eq!(
        (&status["code"], &status["reason"]),
        (&json!(422), &json!("Invalid"))
    );
    assert_eq!(status["details"]["causes"][0]["field"], "spec.nodeName");
}

#[tokio::test]
async fn a_mutation_is_a_patch_of_what_changed_and_unknown_fields_survive() {
    let webhooks = Webhooks::new().mutate("/m", |request: AdmissionRequest<Pod>| async move {
        let mut pod = request.into_object()?;
        let sidecar = Container {
            name: "proxy".into(),
            ..Container::default()
        };
        pod.spec.containers.insert(0, sidecar);
        pod.spec.containers[1].image = "web:2".into();
        pod.metadata.labels.insert("a/b".into(), "c".into());
        Ok(Mutated::new(pod).warn("a sidecar was added"))
    });
    let answer = webhooks
        .review("/m", &of_pod("CREATE", pod(), Value::Null))
        .await;
    assert_eq!(answer["response"]["allowed"], true);
    assert_eq!(
        answer["response"]["warnings"],
        json!(["a sidecar was added"])
    );
    let found = patched(&answer, pod());
    let containers = &found["spec"]["containers"];
    assert_eq!(containers[0]["name"], "proxy");
    let web = json!({"name": "web", "image": "web:2", "laterLimit": 7});
    assert_eq!(containers[1], web);
    assert_eq!(found["spec"]["later"], json!({"x": 1}));
    assert_eq!(found["metadata"]["labels"], json!({"a/b": "c"}));
}

#[tokio::test]
async fn an_unchanged_object_has_no_patch() {
    let webhooks = Webhooks::new().mutate("/m", |request: AdmissionRequest<Pod>| async move {
        Ok(Mutated::new(request.into_object()?))
    });
    let answer = webhooks
        .review("/m", &of_pod("CREATE", pod(), Value::Null))
        .await;
    let response = json!({"uid": "u-1", "allowed": true});
    assert_eq!(answer["response"], response);
}

#[tokio::test]
async fn a_delete_has_no_object_and_a_handler_that_wants_one_is_told() {
    let webhooks = Webhooks::new()
        .validate("/old", |request: AdmissionRequest<Pod>| async move {
            assert!(request.object.is_none());
            request.old_object()?;
            Ok(Admitted::new())
        })
        .mutate("/new", |request: AdmissionRequest<Pod>| async move {
            Ok(Mutated::new(request.into_object()?))
        });
    let review = of_pod("DELETE", Value::Null, pod());
    let answer = webhooks.review("/old", &review).await;
    assert_eq!(answer["response"]["allowed"], true);
    let answer = webhooks.review("/new", &review).await;
    let status = &answer["response"]["status"];
    let message = "there is no object in a request to Delete";
    assert_eq!(
        (&status["code"], &status["message"]),
        (&json!(500), &json!(message))
    );
}

#[tokio::test]
async fn an_object_that_does_not_fit_its_type_is_refused_with_the_field() {
    let webhooks = Webhooks::new().validate("/v", |_: AdmissionRequest<Pod>| async {
        Ok(Admitted::new())
    });
    let mut object = pod();
    object["spec"]["containers"] = "none".into();
    let answer = webhooks
        .review("/v", &of_pod("CREATE", object, Value::Null))
        .await;
    let status = &answer["response"]["status"];
    assert_eq!(
        (&answer["response"]["allowed"], &status["code"]),
        (&json!(false), &json!(400))
    );
    let message = status["message"].as_str().expect("a message");
    assert!(
        message.starts_with("request.object: ") && message.contains("containers"),
        "{message}"
    );
}

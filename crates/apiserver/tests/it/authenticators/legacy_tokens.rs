//! The tokens of service accounts in Secrets, which upstream's controller issues.

use super::jwt::Signer;
use super::{refusal, whoami};
use crate::client::{Client, server};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Version;
use kubist_apiserver::{Authenticators, Config, RunningServer, ServiceAccounts, TokenKeys};
use serde_json::{Value, json};
use std::sync::Arc;

const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const SECRETS: &str = "/api/v1/namespaces/default/secrets";

async fn start(signer: &Signer, lookup: bool) -> RunningServer {
    let keys = TokenKeys::from_pem(&signer.pem(), &[]).expect("it is a key");
    let config = Config {
        listen: None,
        token_keys: Some(Arc::new(keys)),
        authenticators: Authenticators {
            service_accounts: ServiceAccounts {
                lookup,
                ..ServiceAccounts::default()
            },
            ..Authenticators::default()
        },
        ..Config::default()
    };
    server(config).await
}

fn claims(uid: &Value) -> Value {
    json!({
        "iss": "kubernetes/serviceaccount",
        "kubernetes.io/serviceaccount/namespace": "default",
        "kubernetes.io/serviceaccount/secret.name": "robot-token",
        "kubernetes.io/serviceaccount/service-account.name": "robot",
        "kubernetes.io/serviceaccount/service-account.uid": uid,
        "sub": "system:serviceaccount:default:robot",
    })
}

#[tokio::test]
async fn a_token_in_a_secret_is_good_as_long_as_the_secret_has_it() {
    let signer = Signer::new("");
    let server = start(&signer, true).await;
    let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
    let account = admin
        .post(ACCOUNTS, &json!({"metadata": {"name": "robot"}}))
        .await
        .json();
    let uid = &account["metadata"]["uid"];
    let token = signer.sign(&claims(uid));
    let error = async |token: &str| refusal(&server, token).await;
    assert_eq!(error(&token).await, "Token has been invalidated");
    let annotation = json!({"kubernetes.io/service-account.name": "robot"});
    let secret = json!({
        "metadata": {"name": "robot-token", "annotations": annotation},
        "type": "kubernetes.io/service-account-token",
        "data": {"token": STANDARD.encode(&token)},
    });
    let made = admin.post(SECRETS, &secret).await;
    assert_eq!(made.code, 201, "{}", made.json());
    let robot = whoami(&server, &token).await.expect("it is good");
    assert_eq!(
        robot,
        json!({
            "username": "system:serviceaccount:default:robot", "uid": uid,
            "groups": [
                "system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated",
            ],
        })
    );
    let path = format!("{SECRETS}/robot-token");
    let used = admin.get(&path).await.json();
    let used = &used["metadata"]["labels"]["kubernetes.io/legacy-token-last-used"];
    assert_eq!(
        used.as_str().map(str::len),
        Some("2024-02-29".len()),
        "{used}"
    );
    let again = signer.sign(&claims(uid));
    assert_eq!(error(&again).await, "Token does not match server's copy");
    let forged = Signer::new("").sign(&claims(uid));
    assert_eq!(
        error(&forged).await,
        "go-jose/go-jose: error in cryptographic primitive"
    );
    let mut other = claims(uid);
    other["sub"] = "system:serviceaccount:default:other".into();
    assert_eq!(error(&signer.sign(&other)).await, "sub claim is invalid");
    let label = json!({"metadata": {"labels": {"kubernetes.io/legacy-token-invalid-since": "x"}}});
    let merge = "application/merge-patch+json";
    assert_eq!(
        admin
            .ask("PATCH", &path, merge, label.to_string())
            .await
            .code,
        200
    );
    let marked = error(&token).await;
    assert!(marked.contains("has been marked invalid"), "{marked}");
    let label = json!({"metadata": {"labels": null}});
    assert_eq!(
        admin
            .ask("PATCH", &path, merge, label.to_string())
            .await
            .code,
        200
    );
    assert!(whoami(&server, &token).await.is_ok());
    assert_eq!(admin.delete(&format!("{ACCOUNTS}/robot")).await.code, 200);
    assert_eq!(error(&token).await, "serviceaccounts \"robot\" not found");
    server.shutdown().await;
}

#[tokio::test]
async fn without_lookup_the_signature_is_enough() {
    let signer = Signer::new("");
    let server = start(&signer, false).await;
    let robot = whoami(&server, &signer.sign(&claims(&json!("u")))).await;
    assert_eq!(robot.expect("it is signed")["uid"], "u");
    assert_eq!(
        whoami(&server, &Signer::new("").sign(&claims(&json!("u")))).await,
        Err(401)
    );
    server.shutdown().await;
}

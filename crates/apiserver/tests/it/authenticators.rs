//! Whom a server believes besides certificates and static tokens, and which requests may be
//! anonymous.

mod anonymous;
mod jwt;
mod legacy_tokens;
mod proxy;
mod remote;
mod tokens;
mod webhooks;

use crate::client::Client;
use http::Version;
use kubist_apiserver::RunningServer;
use serde_json::{Value, json};

const SELF: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const REVIEWS: &str = "/apis/authentication.k8s.io/v1/tokenreviews";
const PODS: &str = "/api/v1/namespaces/default/pods";

/// Returns the user that a token names, or the code of the refusal.
async fn whoami(server: &RunningServer, token: &str) -> Result<Value, u16> {
    let client = Client::in_memory(server, Version::HTTP_2).await;
    let mut client = client.header("authorization", &format!("Bearer {token}"));
    ask(&mut client).await
}

async fn ask(client: &mut Client) -> Result<Value, u16> {
    let answer = client
        .post(SELF, &json!({"kind": "SelfSubjectReview"}))
        .await;
    match answer.code {
        201 => Ok(answer.json()["status"]["userInfo"].clone()),
        code => Err(code),
    }
}

/// Returns what a token review says.
async fn review(server: &RunningServer, token: &str, audiences: &[&str]) -> Value {
    let mut admin = Client::in_memory(server, Version::HTTP_2).await;
    let spec = json!({"token": token, "audiences": audiences});
    let answer = admin
        .post(REVIEWS, &json!({"kind": "TokenReview", "spec": spec}))
        .await;
    assert_eq!(answer.code, 201, "{}", answer.json());
    answer.json()["status"].clone()
}

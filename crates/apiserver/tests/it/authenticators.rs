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

/// Returns why a token is not good, beside that it is none of those that are compared first.
async fn refusal(server: &RunningServer, token: &str) -> String {
    let error = review(server, token, &[]).await["error"].clone();
    let error = error.as_str().unwrap_or_default();
    let others = error.strip_prefix("[invalid bearer token, ");
    let others = others.and_then(|it| it.strip_suffix(']'));
    others.unwrap_or(error).to_owned()
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

//! Authenticators of one's own, bootstrap tokens, and the audiences of tokens.

use super::{ask, refusal, review, whoami};
use crate::client::{Client, TOKEN, server, server_with};
use http::{HeaderValue, Version};
use kubist_apiserver::{
    Authenticated, Authentication, Authenticators, Config, Credentials, RequestAuthenticator,
    RunningServer, ServiceAccounts,
};
use kubist_authorization::{BoxFuture, User};
use serde_json::json;
use std::sync::Arc;

async fn silent(authenticators: Authenticators) -> RunningServer {
    let config = Config {
        listen: None,
        authenticators,
        ..Config::default()
    };
    server(config).await
}

/// Knows a header, and tokens that begin with its name.
#[derive(Debug)]
struct ApiKeys;

impl RequestAuthenticator for ApiKeys {
    fn authenticate<'a>(
        &'a self,
        credentials: &'a Credentials<'a>,
    ) -> BoxFuture<'a, Authentication> {
        Box::pin(async move {
            // It may ask others meanwhile.
            tokio::task::yield_now().await;
            let key = credentials
                .headers
                .get("x-api-key")
                .map(HeaderValue::as_bytes);
            let token = credentials.token.and_then(|it| it.strip_prefix("key-"));
            let Some(key) = key.or_else(|| token.map(str::as_bytes)) else {
                return Authentication::NoOpinion;
            };
            if key != b"s3cret" {
                return Authentication::Refused("unknown API key".to_owned());
            }
            let extra = [("acme.com/scopes".into(), vec!["read".into()])];
            let user = User {
                name: "robot".into(),
                extra: extra.into(),
                ..User::default()
            };
            let mut found = Authenticated::for_this_server(user);
            if credentials.audiences.iter().any(|it| **it == *"vault") {
                found.audiences = vec!["vault".into()];
            }
            Authentication::User(found)
        })
    }
}

#[tokio::test]
async fn an_authenticator_of_ones_own_names_users_and_refuses_others() {
    let server = silent(Authenticators {
        others: vec![Arc::new(ApiKeys)],
        ..Authenticators::default()
    })
    .await;
    let with = async |key: &str| {
        let client = Client::in_memory(&server, Version::HTTP_2).await;
        // A token of nobody, so that the trust in the stream does not count.
        let client = client.header("authorization", "Basic x");
        let mut client = client.header("x-api-key", key);
        ask(&mut client).await
    };
    let robot = with("s3cret").await.expect("it is known");
    assert_eq!(
        robot,
        json!({
            "username": "robot", "groups": ["system:authenticated"],
            "extra": {"acme.com/scopes": ["read"]},
        })
    );
    assert_eq!(with("wrong").await, Err(401));
    let robot = whoami(&server, "key-s3cret").await.expect("it is known");
    assert_eq!(robot["username"], "robot");
    assert_eq!(whoami(&server, "other").await, Err(401));
    assert_eq!(
        review(&server, "key-x", &[]).await["error"],
        "[invalid bearer token, unknown API key]"
    );
    let status = review(&server, "key-s3cret", &["vault", "other"]).await;
    assert_eq!(
        (&status["authenticated"], &status["audiences"]),
        (&json!(true), &json!(["vault"]))
    );
    let status = review(&server, "key-s3cret", &["other"]).await;
    assert_eq!(
        status["authenticated"],
        json!(null),
        "it is meant for this server"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn bootstrap_tokens_are_believed_if_the_server_is_told_to() {
    let token = "abcdef.0123456789abcdef";
    let secret = json!({
        "metadata": {"name": "bootstrap-token-abcdef"}, "type": "bootstrap.kubernetes.io/token",
        "stringData": {
            "token-id": "abcdef", "token-secret": "0123456789abcdef",
            "usage-bootstrap-authentication": "true",
            "auth-extra-groups": "system:bootstrappers:workers",
        },
    });
    for bootstrap_tokens in [true, false] {
        let server = silent(Authenticators {
            bootstrap_tokens,
            ..Authenticators::default()
        })
        .await;
        let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
        let secrets = "/api/v1/namespaces/kube-system/secrets";
        assert_eq!(admin.post(secrets, &secret).await.code, 201);
        let found = whoami(&server, token).await;
        if !bootstrap_tokens {
            assert_eq!(found, Err(401));
            continue;
        }
        let found = found.expect("it is believed");
        assert_eq!(found["username"], "system:bootstrap:abcdef");
        assert_eq!(
            found["groups"],
            json!([
                "system:bootstrappers",
                "system:bootstrappers:workers",
                "system:authenticated"
            ])
        );
        assert_eq!(whoami(&server, "abcdef.0123456789abcdee").await, Err(401));
        let path = format!("{secrets}/bootstrap-token-abcdef");
        assert_eq!(admin.delete(&path).await.code, 200);
        assert_eq!(whoami(&server, token).await, Err(401));
        server.shutdown().await;
    }
}

#[tokio::test]
async fn audiences_say_for_whom_tokens_are() {
    let server = silent(Authenticators {
        service_accounts: ServiceAccounts {
            issuers: vec!["https://new".to_owned(), "https://old".to_owned()],
            api_audiences: Some(vec!["api".to_owned(), "other-api".to_owned()]),
            ..ServiceAccounts::default()
        },
        ..Authenticators::default()
    })
    .await;
    let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    admin
        .post(accounts, &json!({"metadata": {"name": "robot"}}))
        .await;
    let mut request = async |spec: serde_json::Value| {
        let body = json!({"kind": "TokenRequest", "spec": spec});
        admin
            .post(&format!("{accounts}/robot/token"), &body)
            .await
            .json()
    };
    let made = request(json!({})).await;
    assert_eq!(made["spec"]["audiences"], json!(["api", "other-api"]));
    let token = made["status"]["token"]
        .as_str()
        .expect("there is one")
        .to_owned();
    let name = "system:serviceaccount:default:robot";
    assert_eq!(
        whoami(&server, &token).await.expect("it is good")["username"],
        name
    );
    let made = request(json!({"audiences": ["vault"]})).await;
    let vault = made["status"]["token"]
        .as_str()
        .expect("there is one")
        .to_owned();
    assert_eq!(whoami(&server, &vault).await, Err(401));
    assert_eq!(
        review(&server, &vault, &["vault", "x"]).await["audiences"],
        json!(["vault"])
    );
    assert_eq!(
        refusal(&server, &vault).await,
        "token audiences [\"vault\"] is invalid for the target audiences [\"api\" \"other-api\"]"
    );
    assert_eq!(
        review(&server, TOKEN, &["other-api"]).await["audiences"],
        json!(["other-api"])
    );
    assert_eq!(
        review(&server, TOKEN, &["vault"]).await["error"],
        "invalid bearer token"
    );
    let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
    let discovery = admin.get("/.well-known/openid-configuration").await.json();
    assert_eq!(discovery["issuer"], "https://new");
    server.shutdown().await;
}

#[tokio::test]
async fn without_a_listener_nothing_needs_certificates() {
    let config = Config {
        listen: None,
        ..Config::default()
    };
    let server = server_with(config, |_| {}).await;
    assert!(whoami(&server, TOKEN).await.is_ok());
    server.shutdown().await;
}

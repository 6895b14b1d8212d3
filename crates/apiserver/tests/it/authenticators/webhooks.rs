//! Issuers elsewhere, and webhooks that know tokens or decide about requests.

use super::jwt::Signer;
use super::remote::Remote;
use super::{PODS, refusal, review, whoami};
use crate::client::{Client, TOKEN, server};
use http::Version;
use kubist_apiserver::{
    Authenticators, Authorization, AuthorizationMode, AuthorizationWebhook, Config, ReviewVersion,
    RunningServer, TokenWebhookConfig, WebhookAuthorizer,
};
use kubist_authentication::AuthenticationConfiguration;
use kubist_authorization::{FailurePolicy, MatchConditions};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// How long things may take that happen soon.
const PATIENCE: Duration = Duration::from_secs(20);

async fn silent(authenticators: Authenticators) -> RunningServer {
    let config = Config {
        listen: None,
        authenticators,
        ..Config::default()
    };
    server(config).await
}

fn configuration(remote: &Remote) -> AuthenticationConfiguration {
    let ca: Vec<String> = remote
        .ca_pem
        .lines()
        .map(|it| format!("      {it}"))
        .collect();
    let text = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt:\n\
         - issuer:\n    url: {}\n    audiences: [app]\n    certificateAuthority: |\n{}\n  \
         claimMappings:\n    username: {{expression: '\"oidc:\" + claims.sub'}}\n    groups: \
         {{expression: claims.roles}}\n  claimValidationRules:\n  - {{expression: \
         'claims.hd == \"acme\"', message: not acme}}\n",
        remote.url,
        ca.join("\n")
    );
    AuthenticationConfiguration::parse(text.as_bytes(), &[]).expect("it is valid")
}

fn of_issuer(remote: &Remote) -> Authenticators {
    let jwt = configuration(remote).jwt;
    Authenticators {
        jwt: jwt.into_iter().map(Arc::new).collect(),
        ..Authenticators::default()
    }
}

fn publish(remote: &Remote, keys: &[&Signer]) {
    let keys: Vec<Value> = keys.iter().map(|it| it.jwk()).collect();
    let url = remote.url.clone();
    remote.answer(move |it| match &*it.path {
        "/.well-known/openid-configuration" => (
            200,
            json!({"issuer": url, "jwks_uri": format!("{url}/keys")}),
        ),
        "/keys" => (200, json!({"keys": keys})),
        _ => (404, Value::Null),
    });
}

#[expect(clippy::disallowed_methods, reason = "tokens are of now")]
fn claims(remote: &Remote, more: &Value) -> Value {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .expect("it is later");
    let mut claims = json!({
        "iss": remote.url, "aud": ["app"], "exp": now.as_secs() + 600, "sub": "alice",
        "roles": ["devs"], "hd": "acme",
    });
    let fields = claims.as_object_mut().expect("it is one");
    fields.extend(more.as_object().cloned().unwrap_or_default());
    claims
}

async fn until_known(server: &RunningServer, token: &str) -> Value {
    let asking = async {
        loop {
            if let Ok(user) = whoami(server, token).await {
                return user;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let found = tokio::time::timeout(PATIENCE, asking).await;
    found.unwrap_or_else(|_| panic!("{token} names nobody"))
}

#[tokio::test]
async fn tokens_of_an_issuer_are_verified_with_the_keys_that_it_publishes() {
    let remote = Remote::start().await;
    let (first, second) = (Signer::new("1"), Signer::new("2"));
    publish(&remote, &[&first]);
    let server = silent(of_issuer(&remote)).await;
    let token = first.sign(&claims(&remote, &json!({"jti": "7"})));
    let alice = until_known(&server, &token).await;
    assert_eq!(
        alice,
        json!({
            "username": "oidc:alice", "groups": ["devs", "system:authenticated"],
            "extra": {"authentication.kubernetes.io/credential-id": ["JTI=7"]},
        })
    );
    let error = async |token: &str| refusal(&server, token).await;
    let refused = first.sign(&claims(&remote, &json!({"hd": "other"})));
    assert_eq!(
        error(&refused).await,
        "oidc: error evaluating claim validation expression: validation expression \
         'claims.hd == \"acme\"' failed: not acme"
    );
    let elsewhere = first.sign(&claims(&remote, &json!({"aud": "x"})));
    assert_eq!(
        error(&elsewhere).await,
        "oidc: verify token: oidc: expected audience \"app\" got [\"x\"]"
    );
    let status = review(&server, &token, &["vault"]).await;
    assert_eq!(status["error"], "invalid bearer token");
    // A key that is not published, and then is.
    let rotated = second.sign(&claims(&remote, &json!({})));
    assert_eq!(
        error(&rotated).await,
        "oidc: verify token: failed to verify signature: failed to verify id token signature"
    );
    publish(&remote, &[&second]);
    until_known(&server, &rotated).await;
    // Keys are asked for once a second at most, however many tokens are wrong.
    remote.asked();
    let forged = Signer::new("3").sign(&claims(&remote, &json!({})));
    for _ in 0..20 {
        assert_eq!(whoami(&server, &forged).await, Err(401));
    }
    let asked = remote.asked().len();
    assert!(asked <= 5, "{asked}");
    server.shutdown().await;
}

#[tokio::test]
async fn issuers_can_be_replaced_while_the_server_runs() {
    let (old, new) = (Remote::start().await, Remote::start().await);
    let signer = Signer::new("1");
    let server = silent(of_issuer(&old)).await;
    publish(&old, &[&signer]);
    publish(&new, &[&signer]);
    let of_old = signer.sign(&claims(&old, &json!({})));
    let of_new = signer.sign(&claims(&new, &json!({})));
    let issuers = server.jwt_issuers();
    let replaced = issuers.replace(configuration(&new).jwt).await;
    replaced.expect("it is found");
    assert!(whoami(&server, &of_new).await.is_ok());
    assert_eq!(whoami(&server, &of_old).await, Err(401));
    issuers.replace([]).await.expect("there is none to find");
    assert_eq!(whoami(&server, &of_new).await, Err(401));
    server.shutdown().await;
}

#[tokio::test]
async fn an_issuer_that_is_out_of_reach_hinders_nobody_else() {
    let remote = Remote::start().await;
    let server = silent(of_issuer(&remote)).await;
    assert!(whoami(&server, TOKEN).await.is_ok());
    let token = Signer::new("1").sign(&claims(&remote, &json!({})));
    assert_eq!(
        refusal(&server, &token).await,
        "oidc: authenticator not initialized"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_webhook_is_asked_about_tokens_that_nobody_knows_and_its_answers_are_kept() {
    let remote = Remote::start().await;
    remote.answer(|it| {
        let token = it.body["spec"]["token"].as_str().unwrap_or_default();
        let user = json!({"username": "carol", "groups": ["ops"], "extra": {"a": ["b"]}});
        let status = match token {
            "good" => json!({"authenticated": true, "user": user}),
            "vault" => json!({"authenticated": true, "user": user, "audiences": ["vault"]}),
            "revoked" => json!({"authenticated": false, "error": "it is revoked"}),
            "broken" => return (503, json!({"status": {}})),
            _ => json!({"authenticated": false}),
        };
        (200, json!({"kind": "TokenReview", "status": status}))
    });
    let server = silent(Authenticators {
        token_webhook: Some(TokenWebhookConfig {
            service: remote.service(),
            version: ReviewVersion::V1,
            cache_ttl: Duration::from_secs(60),
        }),
        ..Authenticators::default()
    })
    .await;
    assert!(whoami(&server, TOKEN).await.is_ok());
    assert!(remote.asked().is_empty(), "its own tokens are its own");
    let carol = whoami(&server, "good").await.expect("it is known");
    assert_eq!(
        carol,
        json!({
            "username": "carol", "groups": ["ops", "system:authenticated"], "extra": {"a": ["b"]},
        })
    );
    let asked = remote.asked();
    let [question] = &asked[..] else {
        panic!("{asked:?}");
    };
    assert_eq!(question.path, "/review?timeout=30s");
    assert_eq!(question.authorization, "Bearer me");
    let audience = "https://kubernetes.default.svc.cluster.local";
    assert_eq!(
        question.body,
        json!({
            "kind": "TokenReview", "apiVersion": "authentication.k8s.io/v1", "metadata": {},
            "spec": {"token": "good", "audiences": [audience]}, "status": {"user": {}},
        })
    );
    assert!(whoami(&server, "good").await.is_ok());
    assert!(remote.asked().is_empty(), "the answer is kept");
    assert_eq!(whoami(&server, "bad").await, Err(401));
    assert_eq!(whoami(&server, "bad").await, Err(401));
    assert_eq!(remote.asked().len(), 1, "so is the other answer");
    assert_eq!(refusal(&server, "revoked").await, "it is revoked");
    assert_eq!(whoami(&server, "vault").await, Err(401));
    assert_eq!(
        review(&server, "vault", &["vault"]).await["audiences"],
        json!(["vault"])
    );
    let broken = review(&server, "broken", &[]).await["error"].clone();
    assert_eq!(
        broken,
        "[invalid bearer token, the server is currently unable to handle the request]"
    );
    server.shutdown().await;
}

fn decides(remote: &Remote, failure_policy: FailurePolicy) -> Authorization {
    let webhook = WebhookAuthorizer::new(AuthorizationWebhook {
        service: remote.service(),
        version: ReviewVersion::V1Beta1,
        authorized_ttl: Duration::from_secs(60),
        unauthorized_ttl: Duration::ZERO,
        timeout: Duration::from_secs(3),
        failure_policy,
        match_conditions: Arc::new(MatchConditions::default()),
    });
    let webhook = webhook.expect("it can be called");
    Authorization::chain([
        AuthorizationMode::Other(Arc::new(webhook)),
        AuthorizationMode::Rbac,
    ])
}

async fn with_webhook(remote: &Remote, policy: FailurePolicy) -> (RunningServer, Client) {
    let config = Config {
        listen: None,
        authorization: decides(remote, policy),
        tokens: vec![kubist_apiserver::StaticToken {
            token: "bob".to_owned(),
            user: kubist_registry::User {
                name: "bob".into(),
                groups: vec!["devs".into()],
                ..Default::default()
            },
        }],
        ..Config::default()
    };
    let server = server(config).await;
    let client = Client::in_memory(&server, Version::HTTP_2).await;
    let bob = client.header("authorization", "Bearer bob");
    (server, bob)
}

#[tokio::test]
async fn a_webhook_allows_refuses_or_leaves_requests_to_roles() {
    let remote = Remote::start().await;
    remote.answer(|it| {
        let asked = &it.body["spec"]["resourceAttributes"]["resource"];
        let status = match asked.as_str() {
            Some("pods") => json!({"allowed": true, "reason": "it may"}),
            Some("secrets") => json!({"allowed": false, "denied": true, "reason": "never"}),
            _ => json!({"allowed": false, "reason": "unknown"}),
        };
        (
            200,
            json!({"kind": "SubjectAccessReview", "status": status}),
        )
    });
    let (server, mut bob) = with_webhook(&remote, FailurePolicy::NoOpinion).await;
    assert_eq!(bob.get(PODS).await.code, 200);
    let asked = remote.asked();
    assert_eq!(
        asked[0].body,
        json!({
            "kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1beta1",
            "metadata": {}, "status": {"allowed": false},
            "spec": {
                "user": "bob", "group": ["devs", "system:authenticated"],
                "resourceAttributes": {
                    "namespace": "default", "verb": "list", "version": "v1", "resource": "pods",
                },
            },
        })
    );
    assert_eq!(bob.get(PODS).await.code, 200);
    assert!(remote.asked().is_empty(), "the answer is kept");
    let refused = bob.get("/api/v1/namespaces/default/secrets").await;
    assert_eq!(refused.code, 403);
    let message = refused.json()["message"].to_string();
    assert!(
        message.ends_with(r#"in the namespace \"default\": never""#),
        "{message}"
    );
    let refused = bob.get("/api/v1/namespaces/default/services").await.json();
    assert!(
        refused["message"].to_string().contains(": unknown"),
        "{refused}"
    );
    let path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
    remote.answer(|_| (200, json!({"status": {"allowed": true}})));
    let rules = json!({"kind": "SelfSubjectRulesReview", "spec": {"namespace": "default"}});
    let rules = bob.post(path, &rules).await.json()["status"].clone();
    assert_eq!(rules["incomplete"], true);
    assert_eq!(
        rules["evaluationError"],
        "webhook authorizer does not support user rule resolution"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_webhook_that_fails_refuses_everything_or_leaves_it_to_roles() {
    for (policy, denied) in [
        (FailurePolicy::Deny, true),
        (FailurePolicy::NoOpinion, false),
    ] {
        let remote = Remote::start().await;
        remote.answer(|_| (503, Value::Null));
        let (server, mut bob) = with_webhook(&remote, policy).await;
        let answer = bob.get(PODS).await;
        assert_eq!(answer.code, 500);
        let why = "the server is currently unable to handle the request";
        let text = format!("Internal Server Error: \"{PODS}\": {why}\n");
        assert_eq!(answer.bytes, text);
        let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
        let review = json!({
            "kind": "SubjectAccessReview",
            "spec": {"user": "bob", "resourceAttributes": {"verb": "list", "resource": "pods"}},
        });
        let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
        let status = admin.post(path, &review).await.json()["status"].clone();
        assert_eq!(status["allowed"], false);
        assert_eq!(status["denied"].as_bool().unwrap_or_default(), denied);
        assert_eq!(status["evaluationError"], why);
        server.shutdown().await;
    }
}

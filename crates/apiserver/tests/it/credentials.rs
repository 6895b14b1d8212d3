//! Who gets in.

use crate::client::{Client, TOKEN, server, silent_server};
use http::Version;
use kubist_apiserver::{CertificateAuthority, Config, MASTERS_GROUP};
use serde_json::json;

const PATH: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test]
async fn nobody_gets_in_without_credentials_and_is_told_so_in_a_status() {
    let server = server(Config::default()).await;
    for protocols in [&["h2", "http/1.1"][..], &["http/1.1"], &[]] {
        let mut client = Client::over_tls(&server, None, protocols).await;
        let http_2 = protocols.contains(&"h2");
        assert_eq!(client.version() == Version::HTTP_2, http_2);
        for path in [PATH, "/api", "/metrics", "/nope"] {
            let answer = client.get(path).await;
            assert_eq!(answer.code, 401, "{path}");
            assert_eq!(answer.json()["message"], "Unauthorized");
        }
    }
    server.shutdown().await;
}

#[tokio::test]
async fn the_own_certificates_get_in_and_those_of_strangers_do_not() {
    let server = server(Config::default()).await;
    let mut admin = Client::over_tls(&server, Some(server.admin()), &["h2"]).await;
    let review = json!({"kind": "SelfSubjectReview"});
    let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let answer = admin.post(path, &review).await;
    let user = &answer.json()["status"]["userInfo"];
    assert_eq!(user["username"], "kubernetes-admin");
    assert_eq!(
        user["groups"],
        json!([MASTERS_GROUP, "system:authenticated"])
    );

    let authority = CertificateAuthority::new("kubist-ca").expect("keys can be made");
    let stranger = authority.client_identity("kubernetes-admin", Some(MASTERS_GROUP));
    let stranger = stranger.expect("keys can be made");
    let mut client = Client::over_tls(&server, Some(&stranger), &["h2"]).await;
    assert_eq!(client.get(PATH).await.code, 401);
    server.shutdown().await;
}

#[tokio::test]
async fn tokens_get_in_and_come_before_the_trust_in_a_stream() {
    let server = silent_server().await;
    let client = Client::in_memory(&server, Version::HTTP_11).await;
    let mut client = client.header("authorization", &format!("Bearer {TOKEN}"));
    assert_eq!(client.get(PATH).await.code, 200);
    let client = Client::in_memory(&server, Version::HTTP_11).await;
    let mut client = client.header("authorization", "Bearer wrong");
    assert_eq!(client.get(PATH).await.code, 401);
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    assert_eq!(client.get(PATH).await.code, 200);
    server.shutdown().await;
}

#[tokio::test]
async fn health_and_version_are_public_for_who_brings_no_credentials_unless_that_is_forbidden() {
    let paths = ["/healthz", "/livez", "/readyz", "/readyz/ping", "/version"];
    let open = server(Config::default()).await;
    let mut client = Client::over_tls(&open, None, &["http/1.1"]).await;
    for path in paths {
        assert_eq!(client.get(path).await.code, 200, "{path}");
    }
    assert_eq!(client.get("/healthz").await.bytes, "ok");
    assert_eq!(client.get("/version").await.json()["major"], "1");
    assert_eq!(client.get(PATH).await.code, 401);
    let mut other = client.header("authorization", "Basic YTpi");
    assert_eq!(other.get("/livez").await.code, 200);
    let client = Client::over_tls(&open, None, &["h2"]).await;
    let mut wrong = client.header("authorization", "Bearer wrong");
    for path in paths.into_iter().chain([PATH]) {
        assert_eq!(wrong.get(path).await.code, 401, "{path}");
    }
    open.shutdown().await;

    let config = Config {
        anonymous_health: false,
        ..Config::default()
    };
    let closed = server(config).await;
    let mut client = Client::over_tls(&closed, None, &["h2"]).await;
    for path in paths {
        assert_eq!(client.get(path).await.code, 401, "{path}");
    }
    closed.shutdown().await;
}

#[tokio::test]
async fn nobody_is_answered_as_somebody_else() {
    let server = silent_server().await;
    for (name, value, code) in [
        ("impersonate-user", "bob", 403),
        ("impersonate-user", "system:serviceaccount:shop:web", 403),
        ("impersonate-group", "developers", 400),
        ("impersonate-extra-scopes", "view", 400),
    ] {
        let client = Client::in_memory(&server, Version::HTTP_2).await;
        let mut client = client.header(name, value);
        for path in [PATH, "/version", "/apis"] {
            assert_eq!(client.get(path).await.code, code, "{name} {path}");
        }
        let body = json!({"metadata": {"name": "m"}});
        assert_eq!(client.post(PATH, &body).await.code, code, "{name}");
    }
    let mut admin = Client::in_memory(&server, Version::HTTP_2).await;
    let items = admin.get(PATH).await.json()["items"].clone();
    assert_eq!(items, json!([]), "nothing was done");
    server.shutdown().await;
}

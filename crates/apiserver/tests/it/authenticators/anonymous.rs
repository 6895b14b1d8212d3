//! Requests without credentials.

use super::PODS;
use crate::client::{Client, server_with};
use kubist_apiserver::{Anonymous, Authorization, Config, RunningServer};
use kubist_kinds::BuiltIn;
use std::sync::Arc;

async fn start(anonymous: Anonymous) -> RunningServer {
    let config = Config {
        authorization: Authorization::rbac(),
        anonymous,
        ..Config::default()
    };
    server_with(config, |registry| {
        let mut kinds = BuiltIn::default();
        kinds.default_roles = true;
        registry.kinds = Arc::new(kinds);
    })
    .await
}

#[tokio::test]
async fn where_roles_are_obeyed_they_decide_about_requests_without_credentials() {
    let server = start(Anonymous::default()).await;
    let mut client = Client::over_tls(&server, None, &["h2"]).await;
    for (path, message) in [
        (
            PODS,
            "pods is forbidden: User \"system:anonymous\" cannot list resource \"pods\" in API \
             group \"\" in the namespace \"default\"",
        ),
        (
            "/api",
            "forbidden: User \"system:anonymous\" cannot get path \"/api\"",
        ),
        (
            "/metrics",
            "forbidden: User \"system:anonymous\" cannot get path \"/metrics\"",
        ),
        (
            "/nope",
            "forbidden: User \"system:anonymous\" cannot get path \"/nope\"",
        ),
    ] {
        let answer = client.get(path).await;
        assert_eq!(answer.code, 403, "{path}");
        assert_eq!(answer.json()["message"], message);
    }
    for path in ["/healthz", "/livez", "/readyz", "/version"] {
        assert_eq!(client.get(path).await.code, 200, "{path}");
    }
    let mut basic = Client::over_tls(&server, None, &["h2"])
        .await
        .header("authorization", "Basic YTpi");
    assert_eq!(basic.get(PODS).await.code, 403);
    let mut wrong = Client::over_tls(&server, None, &["h2"])
        .await
        .header("authorization", "Bearer wrong");
    for path in [PODS, "/livez"] {
        assert_eq!(
            wrong.get(path).await.code,
            401,
            "a wrong token is not anonymous: {path}"
        );
    }
    server.shutdown().await;
}

#[tokio::test]
async fn requests_without_credentials_can_be_limited_to_paths_or_refused() {
    let server = start(Anonymous::Paths(vec!["/livez".to_owned()])).await;
    let mut client = Client::over_tls(&server, None, &["http/1.1"]).await;
    assert_eq!(client.get("/livez").await.code, 200);
    for path in ["/livez/ping", "/readyz", PODS] {
        assert_eq!(client.get(path).await.code, 401, "{path}");
    }
    server.shutdown().await;
    let server = start(Anonymous::Never).await;
    let mut client = Client::over_tls(&server, None, &["http/1.1"]).await;
    assert_eq!(client.get("/livez").await.code, 401);
    server.shutdown().await;
}

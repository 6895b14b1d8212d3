//! A proxy that names its users in headers.

use super::ask;
use crate::client::{Client, server};
use kubist_apiserver::{Authenticators, CertificateAuthority, Config, RequestHeader};
use kubist_authentication::RequestHeaders;
use serde_json::json;

#[tokio::test]
async fn only_a_proxy_with_its_certificate_names_users() {
    let proxies = CertificateAuthority::new("proxies").expect("keys can be made");
    let config = Config {
        authenticators: Authenticators {
            request_header: Some(RequestHeader {
                authorities: vec![proxies.certificate()],
                authorities_pem: proxies.certificate_pem(),
                allowed_names: vec!["front".to_owned()],
                headers: RequestHeaders::standard(),
            }),
            ..Authenticators::default()
        },
        ..Config::default()
    };
    let server = server(config).await;
    let users = server.authority().expect("it listens");
    let [front, other] = ["front", "other"].map(|name| {
        let identity = proxies.client_identity(name, None);
        identity.expect("keys can be made")
    });
    let user = users
        .client_identity("bob", None)
        .expect("keys can be made");
    let as_alice = async |identity| {
        let client = Client::over_tls(&server, Some(identity), &["h2"]).await;
        let client = client.header("x-remote-user", "alice");
        let client = client.header("x-remote-group", "devs");
        let mut client = client.header("x-remote-extra-acme.com%2fteam", "blue");
        ask(&mut client).await
    };
    assert_eq!(
        as_alice(&front).await,
        Ok(json!({
            "username": "alice", "groups": ["devs", "system:authenticated"],
            "extra": {"acme.com/team": ["blue"]},
        }))
    );
    assert_eq!(as_alice(&other).await, Err(401), "its name is not allowed");
    let bob = as_alice(&user).await.expect("its own certificate is good");
    assert_eq!(bob["username"], "bob", "headers of users do not count");
    let mut silent = Client::over_tls(&server, Some(&front), &["h2"]).await;
    assert_eq!(ask(&mut silent).await, Err(401), "a proxy is no user");
    server.shutdown().await;
}

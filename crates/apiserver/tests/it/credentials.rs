//! Authentication.

use crate::client::{Client, TOKEN, server, silent_server, tls};
use http::Version;
use kubist_apiserver::{Anonymous, CertificateAuthority, Config, MASTERS_GROUP};
use rustls_pki_types::CertificateDer;
use serde_json::json;
use std::sync::Arc;
use tokio_rustls::rustls::SupportedProtocolVersion;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::sign::{CertifiedKey, SingleCertAndKey};
use tokio_rustls::rustls::version;

const PATH: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test]
async fn nobody_gets_in_without_credentials_and_gets_a_status() {
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
    let mut admin = Client::over_tls(&server, server.admin(), &["h2"]).await;
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

/// Splits bytes after the first DER value, and returns its contents.
fn take_der(bytes: &[u8]) -> (&[u8], &[u8]) {
    let (header, length) = match bytes[1] {
        short @ ..=0x7f => (2, usize::from(short)),
        0x81 => (3, usize::from(bytes[2])),
        _ => (4, usize::from(u16::from_be_bytes([bytes[2], bytes[3]]))),
    };
    bytes[header..].split_at(length)
}

fn sequence(contents: &[u8]) -> Vec<u8> {
    let length = u16::try_from(contents.len()).expect("it is short");
    let mut all = vec![0x30, 0x82];
    all.extend_from_slice(&length.to_be_bytes());
    all.extend_from_slice(contents);
    all
}

/// Turns a certificate into version 1, with an invalid signature: without version and extensions.
fn version_1(certificate: &[u8]) -> Vec<u8> {
    let (contents, _) = take_der(certificate);
    let (mut fields, rest) = take_der(contents);
    let mut kept = Vec::new();
    while let Some(tag) = fields.first() {
        let (_, behind) = take_der(fields);
        // [0] is the version, [3] the extensions.
        if !matches!(tag, 0xa0 | 0xa3) {
            kept.extend_from_slice(&fields[..fields.len() - behind.len()]);
        }
        fields = behind;
    }
    let mut all = sequence(&kept);
    all.extend_from_slice(rest);
    sequence(&all)
}

#[tokio::test]
async fn a_certificate_that_is_no_good_is_401_and_no_hindrance_to_a_token() {
    let server = server(Config::default()).await;
    let authority = CertificateAuthority::new("stranger").expect("keys can be made");
    let stranger = authority.client_identity("x", Some(MASTERS_GROUP));
    let stranger = stranger.expect("keys can be made");
    let old = version_1(&stranger.certificate());
    for certificate in [stranger.certificate(), CertificateDer::from(old)] {
        for version in [&version::TLS12, &version::TLS13] as [&SupportedProtocolVersion; 2] {
            let key = ring::sign::any_supported_type(&stranger.key()).expect("it is a key");
            let key = CertifiedKey::new(vec![certificate.clone()], key);
            let mut config = tls(&server, None, &["h2"], &[version]);
            config.client_auth_cert_resolver = Arc::new(SingleCertAndKey::from(key));
            let mut client = Client::with_tls(&server, config).await;
            assert_eq!(client.get(PATH).await.code, 401, "{version:?}");
            let mut client = client.header("authorization", &format!("Bearer {TOKEN}"));
            assert_eq!(client.get(PATH).await.code, 200, "{version:?}");
        }
    }
    server.shutdown().await;
}

#[tokio::test]
async fn another_space_before_a_token_is_warned_of() {
    let server = server(Config::default()).await;
    let client = Client::over_tls(&server, None, &["h2"]).await;
    let mut client = client.header("authorization", &format!("Bearer  {TOKEN}"));
    let answer = client.get(PATH).await;
    assert_eq!(answer.code, 401);
    assert_eq!(
        answer.header("warning"),
        "299 - \"the provided Authorization header contains extra space before the bearer token, and \
         is ignored\""
    );
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
async fn health_and_version_are_public_without_credentials_unless_that_is_forbidden() {
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
        anonymous: Anonymous::Never,
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
async fn impersonation_is_not_served() {
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

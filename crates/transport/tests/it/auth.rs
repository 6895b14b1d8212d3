//! Tokens, token files, plugins, and what happens on a 401.

use crate::server::{Server, echo_header, fetch, get, post, status};
use crate::tls::{Pki, transport as tls_transport};
use http::Request;
use kubist_transport::{
    Auth, AuthError, Body, ExecApiVersion, ExecPlugin, InteractiveMode, Transport, TransportError,
};
use parking_lot::Mutex;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

fn server() -> Server {
    Server::http2(|request| echo_header(request, "authorization"))
}

fn transport(server: &Server, auth: Auth) -> Transport {
    let mut config = server.config();
    config.auth = auth;
    server.transport_with(config)
}

async fn authorization(transport: &Transport) -> String {
    fetch(transport, get("/")).await.unwrap().1
}

#[tokio::test(start_paused = true)]
async fn fixed_credentials_are_sent_unless_the_request_has_its_own() {
    let server = server();
    assert_eq!(authorization(&transport(&server, Auth::None)).await, "none");
    let basic = Auth::Basic {
        username: "user".into(),
        password: "pass".into(),
    };
    assert_eq!(
        authorization(&transport(&server, basic)).await,
        "Basic dXNlcjpwYXNz"
    );
    let bearer = transport(&server, Auth::Bearer("abc".into()));
    assert_eq!(authorization(&bearer).await, "Bearer abc");
    let own = Request::get("/")
        .header("authorization", "Mine")
        .body(Body::empty())
        .unwrap();
    assert_eq!(fetch(&bearer, own).await.unwrap().1, "Mine");
}

#[tokio::test(start_paused = true)]
async fn a_token_file_is_read_again_every_minute_and_outlives_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let server = server();
    let transport = transport(&server, Auth::TokenFile(path.clone()));
    let error = transport.send(get("/")).await.unwrap_err();
    let TransportError::Auth(AuthError::TokenFile { .. }) = error else {
        panic!("{error:?}")
    };

    std::fs::write(&path, "one\n").unwrap();
    assert_eq!(authorization(&transport).await, "Bearer one");
    std::fs::write(&path, "two\n").unwrap();
    assert_eq!(authorization(&transport).await, "Bearer one");
    tokio::time::advance(Duration::from_secs(60)).await;
    assert_eq!(authorization(&transport).await, "Bearer two");
    std::fs::remove_file(&path).unwrap();
    tokio::time::advance(Duration::from_secs(60)).await;
    assert_eq!(authorization(&transport).await, "Bearer two");
}

#[tokio::test(start_paused = true)]
async fn a_rotated_token_file_is_read_on_a_401_and_the_request_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, "old").unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let server = Server::http2(move |request| {
        let token = request.headers()["authorization"]
            .to_str()
            .unwrap()
            .to_owned();
        log.lock().push(token.clone());
        if token == "Bearer new" {
            status(201, "made")
        } else {
            status(401, "who?")
        }
    });
    let transport = transport(&server, Auth::TokenFile(path.clone()));
    assert_eq!(
        fetch(&transport, post("/")).await.unwrap(),
        (401, "who?".to_owned())
    );
    std::fs::write(&path, "new").unwrap();
    assert_eq!(
        fetch(&transport, post("/")).await.unwrap(),
        (201, "made".to_owned())
    );
    assert_eq!(*seen.lock(), ["Bearer old", "Bearer old", "Bearer new"]);
}

/// A plugin that counts its runs in a file and prints what `body` says; `$N` is the run.
fn plugin(folder: &Path, body: &str) -> ExecPlugin {
    let path = folder.join("plugin");
    let count = folder.join("count");
    let script = format!(
        "#!/bin/sh\necho run >> {0}\nN=$(($(wc -l < {0})))\n{body}\n",
        count.display()
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut plugin = ExecPlugin::new("/bin/sh", ExecApiVersion::V1);
    plugin.args = vec![path.display().to_string()];
    plugin.interactive_mode = InteractiveMode::Never;
    plugin
}

fn credential(version: &str, status: &str) -> String {
    format!(
        "echo '{{\"apiVersion\":\"client.authentication.k8s.io/{version}\",\
         \"kind\":\"ExecCredential\",\"status\":{{{status}}}}}'"
    )
}

#[tokio::test]
async fn a_plugin_runs_once_until_its_token_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let output = credential("v1", r#""token":"t'$N'""#);
    let plugin = plugin(folder.path(), &output);
    let server = Server::http2(|request| {
        if request.uri().path() == "/late" && request.headers()["authorization"] == "Bearer t1" {
            status(401, "expired")
        } else {
            echo_header(request, "authorization")
        }
    });
    let transport = transport(&server, Auth::Exec(Box::new(plugin)));
    let all = futures_util::future::join_all((0..10).map(|_| authorization(&transport))).await;
    assert!(all.iter().all(|seen| seen == "Bearer t1"), "{all:?}");
    assert_eq!(
        fetch(&transport, get("/late")).await.unwrap(),
        (200, "Bearer t2".to_owned())
    );
    assert_eq!(authorization(&transport).await, "Bearer t2");
}

#[tokio::test]
async fn a_plugin_outlives_the_requests_that_are_given_up_while_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let body = format!("sleep 1\n{}", credential("v1", r#""token":"t'$N'""#));
    let plugin = plugin(folder.path(), &body);
    let transport = transport(&server(), Auth::Exec(Box::new(plugin)));
    let mut given_up = 0;
    let seen = loop {
        let limit = Duration::from_millis(100);
        match tokio::time::timeout(limit, authorization(&transport)).await {
            Ok(seen) => break seen,
            Err(_) => given_up += 1,
        }
        assert!(given_up < 300, "no answer ever comes");
    };
    assert_eq!(seen, "Bearer t1", "one run for all");
    assert!(given_up > 0);
    let runs = std::fs::read_to_string(folder.path().join("count")).unwrap();
    assert_eq!(runs.lines().count(), 1);
}

#[tokio::test]
async fn a_plugin_runs_again_after_its_credentials_expire() {
    let folder = tempfile::tempdir().unwrap();
    let status = r#""token":"t'$N'","expirationTimestamp":"2020-01-01T00:00:00Z""#;
    let plugin = plugin(folder.path(), &credential("v1", status));
    let transport = transport(&server(), Auth::Exec(Box::new(plugin)));
    assert_eq!(authorization(&transport).await, "Bearer t1");
    assert_eq!(authorization(&transport).await, "Bearer t2");

    let folder = tempfile::tempdir().unwrap();
    let status = r#""token":"t'$N'","expirationTimestamp":"2999-01-01T00:00:00Z""#;
    let plugin = self::plugin(folder.path(), &credential("v1", status));
    let transport = self::transport(&server(), Auth::Exec(Box::new(plugin)));
    assert_eq!(authorization(&transport).await, "Bearer t1");
    assert_eq!(authorization(&transport).await, "Bearer t1");
}

#[tokio::test]
async fn a_plugin_gets_the_cluster_and_its_environment() {
    let folder = tempfile::tempdir().unwrap();
    let info = folder.path().join("info");
    let body = format!(
        "echo \"$KUBERNETES_EXEC_INFO\" > {}\n{}",
        info.display(),
        credential("v1beta1", r#""token":"'$WHO'""#)
    );
    let mut plugin = plugin(folder.path(), &body);
    plugin.api_version = ExecApiVersion::V1Beta1;
    plugin.env = vec![("WHO".into(), "jane".into())];
    plugin.cluster = Some(serde_json::json!({ "server": "https://h" }));
    let transport = transport(&server(), Auth::Exec(Box::new(plugin)));
    assert_eq!(authorization(&transport).await, "Bearer jane");
    let received: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&info).unwrap()).unwrap();
    let expected = serde_json::json!({
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "kind": "ExecCredential",
        "spec": { "cluster": { "server": "https://h" }, "interactive": false },
    });
    assert_eq!(received, expected);
}

#[tokio::test]
async fn plugin_failures_are_reported() {
    for (body, expected) in [
        (
            "echo no luck >&2; exit 3",
            "\"/bin/sh\" failed with exit status: 3: no luck",
        ),
        (&credential("v1beta1", r#""token":"x""#), "apiVersion is"),
        (
            &credential("v1", ""),
            "it has neither token nor certificate",
        ),
        (
            &credential("v1", r#""clientKeyData":"x""#),
            "certificate and key must come together",
        ),
        (
            &credential("v1", r#""token":"x","expirationTimestamp":"soon""#),
            "is not a time",
        ),
        (
            "echo hello",
            "output of \"/bin/sh\" cannot be used: expected value",
        ),
        (
            "yes '{' | head -c 3000000",
            "it is longer than 1048575 bytes",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let plugin = plugin(folder.path(), body);
        let transport = transport(&server(), Auth::Exec(Box::new(plugin)));
        let error = transport.send(get("/")).await.unwrap_err();
        let TransportError::Auth(error) = error else {
            panic!("{error:?}")
        };
        assert!(error.to_string().contains(expected), "{error}");
    }
    let mut missing = ExecPlugin::new("/does/not/exist", ExecApiVersion::V1);
    missing.install_hint = Some("get it at example.com".into());
    let transport = transport(&server(), Auth::Exec(Box::new(missing)));
    let TransportError::Auth(error) = transport.send(get("/")).await.unwrap_err() else {
        panic!("an auth error")
    };
    assert_eq!(
        error.to_string(),
        "cannot run \"/does/not/exist\" (get it at example.com)"
    );
}

#[tokio::test]
async fn a_plugin_may_bring_a_client_certificate() {
    let pki = Pki::new();
    let (certificate, key) = pki.client();
    let folder = tempfile::tempdir().unwrap();
    let answer = serde_json::json!({
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": { "clientCertificateData": certificate, "clientKeyData": key },
    });
    let file = folder.path().join("answer");
    std::fs::write(&file, answer.to_string()).unwrap();
    let plugin = plugin(folder.path(), &format!("cat {}", file.display()));

    let server = Server::http2(|request| echo_header(request, "authorization"));
    let mut config = kubist_transport::Config::new("https://api.example".parse().unwrap());
    config.tls.verify = pki.authority();
    config.auth = Auth::Exec(Box::new(plugin));
    let acceptor = pki.server("api.example", &[b"h2"], true);
    let transport = tls_transport(&server, acceptor, config);
    assert_eq!(authorization(&transport).await, "none");
}

//! The options for authentication and authorization of `kubist serve`, by upstream's names.

use crate::command::{Served, run};
use kubist::api::core::v1::Namespace;
use kubist::apiserver::CertificateAuthority;
use kubist::client::{Api, Client};
use kubist::registry::User;
use kubist::{Authorization, AuthorizationFile, Server, ServerConfig, authorization_modes};
use std::path::Path;
use std::time::Duration;

/// Returns the only line that a start with these options ends with.
fn refused(folder: &Path, options: &[&str]) -> String {
    let mut arguments = vec!["serve", "--listen", "127.0.0.1:0"];
    arguments.extend(options);
    let output = run(folder, &arguments, b"");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        matches!(output.status.code(), Some(1 | 2)),
        "{options:?}: {errors}"
    );
    errors.trim_end().to_owned()
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

const AUTHENTICATION: &str = "apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
";
const AUTHORIZATION: &str = "apiVersion: apiserver.config.k8s.io/v1
kind: AuthorizationConfiguration
authorizers:
";

#[test]
fn the_users_of_a_token_file_are_known_and_have_their_groups() {
    let folder = tempfile::tempdir().unwrap();
    let text = "s3cret,alice,1,\"system:masters,devs\"\nplain,bob,2\n";
    let file = write(folder.path(), "tokens.csv", text);
    let served = Served::start(folder.path(), &["--token-auth-file", &file]);
    for (token, code) in [("s3cret", 200), ("plain", 403), ("other", 401)] {
        assert_eq!(served.asked_with(token), code, "{token}");
    }
    drop(served);
    let file = write(folder.path(), "short.csv", "token,user\n");
    let error = refused(folder.path(), &["--token-auth-file", &file]);
    assert!(
        error.ends_with("must have at least 3 columns (token, user name, user uid), found 2"),
        "{error}"
    );
}

#[test]
fn odd_records_of_a_token_file_are_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(
        folder.path(),
        "tokens.csv",
        "a,u,1\n,x,2\na,v,3,system:masters\n",
    );
    let served = Served::start(folder.path(), &["--token-auth-file", &file]);
    assert_eq!(served.asked_with("a"), 200, "the last one counts");
    let (_, errors) = served.running.terminate();
    for odd in [
        "empty token has been found in token file, record number '2'",
        "duplicate token has been found in token file, record number '3'",
    ] {
        assert!(errors.contains(odd), "{errors}");
    }
}

#[test]
fn a_file_of_authorizers_decides() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = write(folder.path(), "tokens.csv", "plain,bob,2\n");
    let file = format!(
        "{AUTHORIZATION}- {{type: RBAC, name: rbac}}\n- {{type: AlwaysAllow, name: alwaysallow}}\n"
    );
    let file = write(folder.path(), "authorization.yaml", &file);
    let options = [
        "--authorization-config",
        &file,
        "--token-auth-file",
        &tokens,
    ];
    let served = Served::start(folder.path(), &options);
    assert!(
        served.ready.contains("authorization=RBAC,AlwaysAllow"),
        "{}",
        served.ready
    );
    assert_eq!(served.asked_with("plain"), 200);
}

#[tokio::test]
async fn a_file_of_authorizers_that_changes_decides_from_then_on() {
    let folder = tempfile::tempdir().unwrap();
    let modes = |modes: &[&str]| {
        let lines = modes.iter().map(|it| {
            let name = it.to_lowercase();
            format!("- {{type: {it}, name: {name}}}\n")
        });
        let text = format!("{AUTHORIZATION}{}", lines.collect::<String>());
        write(folder.path(), "authorization.yaml", &text)
    };
    let path = modes(&["RBAC"]);
    let (file, configuration) = AuthorizationFile::read(Path::new(&path)).unwrap();
    let authorization = authorization_modes(configuration.authorizers).unwrap();
    let config = ServerConfig {
        listen: None,
        controllers: [].into(),
        authorization: Authorization::replaceable(authorization),
        authorization_file: Some(file.look_every(Duration::from_millis(20))),
        ..ServerConfig::default()
    };
    let server = Server::start(config).await.unwrap();
    let bob = User {
        name: "bob".into(),
        ..User::default()
    };
    let transport = server.in_process_transport(bob, None).unwrap();
    let client = Client::new(transport, kubist::client::Config::default());
    let namespaces: Api<Namespace> = Api::all(client);
    let until = async |allowed: bool| {
        for _ in 0..1_000 {
            if namespaces.get("default").await.is_ok() == allowed {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("it never changes");
    };
    until(false).await;
    modes(&["RBAC", "AlwaysAllow"]);
    until(true).await;
    // Node was not among the first, and a file without authorizers is invalid.
    for unusable in [&["Node"][..], &[]] {
        modes(unusable);
        tokio::time::sleep(Duration::from_millis(100)).await;
        until(true).await;
    }
    modes(&["RBAC"]);
    until(false).await;
    server.shutdown().await;
}

#[test]
fn issuers_that_contradict_other_options_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let anonymous = format!("{AUTHENTICATION}anonymous: {{enabled: true}}\n");
    let anonymous = write(folder.path(), "anonymous.yaml", &anonymous);
    for (options, expected) in [
        (
            &[
                "--authentication-config",
                &*anonymous,
                "--anonymous-auth=false",
            ][..],
            "--anonymous-auth flag cannot be set when anonymous field is configured in \
             authentication configuration file",
        ),
        (
            &[
                "--authentication-config",
                &anonymous,
                "--oidc-client-id",
                "x",
            ],
            "authentication-config file and oidc-* flags are mutually exclusive",
        ),
        (
            &["--oidc-client-id", "x"],
            "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags \
             are set",
        ),
        (
            &["--oidc-client-id", "x", "--oidc-issuer-url", "http://a"],
            "jwt[0].issuer.url: Invalid value: \"http://a\": URL scheme must be https",
        ),
    ] {
        let error = refused(folder.path(), options);
        assert!(error.contains(expected), "{options:?}: {error}");
    }
}

#[test]
fn authorizers_and_webhooks_that_cannot_be_used_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let roles = write(
        folder.path(),
        "roles.yaml",
        &format!("{AUTHORIZATION}- {{type: RBAC, name: roles}}\n"),
    );
    let hook = write(
        folder.path(),
        "hook.yaml",
        "clusters: [{name: c, cluster: {server: 'https://localhost:1', proxy-url: 'http://p:1'}}]\n\
         contexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n",
    );
    for (options, expected) in [
        (
            &["--authorization-config", &*roles][..],
            "expected name rbac for authorizer RBAC instead of roles",
        ),
        (
            &[
                "--authorization-config",
                &roles,
                "--authorization-mode",
                "RBAC",
            ],
            "cannot be used with '--authorization-mode <MODES>'",
        ),
        (
            &["--authorization-mode", "Webhook"],
            "Webhook needs --authorization-webhook-config-file",
        ),
        (
            &["--authorization-webhook-config-file", &hook],
            "--authorization-webhook-* need the mode Webhook",
        ),
        (
            &[
                "--authorization-mode",
                "Webhook",
                "--authorization-webhook-config-file",
                &hook,
            ],
            "proxy-url is not supported for webhooks",
        ),
        (
            &["--authentication-token-webhook-config-file", &hook],
            "proxy-url is not supported for webhooks",
        ),
    ] {
        let error = refused(folder.path(), options);
        assert!(error.contains(expected), "{options:?}: {error}");
    }
}

#[test]
fn accounts_and_proxies_that_contradict_themselves_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let authority = CertificateAuthority::new("users").unwrap();
    let users = write(folder.path(), "users.pem", &authority.certificate_pem());
    for (options, expected) in [
        (
            &[
                "--service-account-issuer",
                "a",
                "--service-account-issuer",
                "a",
            ][..],
            "service-account-issuer \"a\" is already specified",
        ),
        (
            &["--service-account-issuer", "http://a b"],
            "service-account-issuer \"http://a b\" contained a ':' but was not a valid URL: parse \
             \"http://a b\": invalid character \" \" in host name",
        ),
        (
            &["--service-account-jwks-uri", "http://a"],
            "service-account-jwks-uri requires https scheme, parsed as: http://a",
        ),
        (
            &[
                "--requestheader-client-ca-file",
                &users,
                "--client-ca-file",
                &users,
            ],
            "--requestheader-allowed-names must be specified to ensure regular client certificates \
             cannot set authenticating proxy headers for arbitrary users",
        ),
        (
            &[
                "--requestheader-client-ca-file",
                &users,
                "--requestheader-uid-headers",
                " ",
            ],
            "empty value in \"requestheader-uid-headers\"",
        ),
    ] {
        let error = refused(folder.path(), options);
        assert!(error.contains(expected), "{options:?}: {error}");
    }
}

//! Encryption at rest from the operator's point of view: a key file and a data directory.

use crate::command::fail;
use kubist::api::core::v1::{ConfigMap, Secret};
use kubist::apimachinery::Status;
use kubist::client::Api;
use kubist::transport::Body;
use kubist::{EncryptionFile, Server, ServerConfig};
use kubist_registry::transformer::EncryptionConfiguration;
use std::path::Path;
use std::time::Duration;

const ONE: (&str, &str) = ("one", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=");
const TWO: (&str, &str) = ("two", "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=");
/// The name of the first key, and another secret.
const FALSE: (&str, &str) = ("one", TWO.1);

/// A configuration that encrypts Secrets with these keys, the first for writes, and nothing else.
fn keys(keys: &[(&str, &str)], plain: bool) -> EncryptionConfiguration {
    let mut text = "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n\
                    resources:\n- resources: [secrets]\n  providers:\n"
        .to_owned();
    for &(name, secret) in keys {
        let key = [
            "  - aesgcm: {keys: [{name: ",
            name,
            ", secret: ",
            secret,
            "}]}\n",
        ];
        text.extend(key);
    }
    if plain {
        text += "  - identity: {}\n";
    }
    text += "- resources: ['*.']\n  providers: [{identity: {}}]\n";
    EncryptionConfiguration::parse(text.as_bytes()).expect("it is valid")
}

async fn start(folder: &Path, encryption: Option<EncryptionConfiguration>) -> Server {
    let config = ServerConfig {
        data_dir: Some(folder.to_path_buf()),
        controllers: [].into(),
        encryption,
        ..ServerConfig::default()
    };
    Server::start(config).await.expect("it starts")
}

/// Reports whether a text occurs in any file of a directory.
fn has(folder: &Path, text: &str) -> bool {
    let files = std::fs::read_dir(folder).expect("it is a folder");
    files.into_iter().any(|file| {
        let path = file.expect("it can be listed").path();
        if path.is_dir() {
            return has(&path, text);
        }
        let bytes = std::fs::read(path).expect("it can be read");
        bytes.windows(text.len()).any(|it| it == text.as_bytes())
    })
}

async fn write(server: &Server, name: &str) {
    let secrets: Api<Secret> = Api::namespaced(server.client(), "default");
    let mut secret = Secret::default();
    secret.metadata.name = name.into();
    let value = format!("the-secret-{name}").into_bytes().into();
    secret.data.insert("password".into(), value);
    secrets.create(&secret).await.expect("it is valid");
}

async fn read(server: &Server, name: &str) -> Result<Secret, Status> {
    let secrets: Api<Secret> = Api::namespaced(server.client(), "default");
    let got = secrets.get(name).await;
    got.map_err(|error| error.status().expect("the server answers").clone())
}

#[tokio::test]
async fn secrets_are_no_plain_text_on_the_disk_and_other_objects_are() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let server = start(folder.path(), Some(keys(&[ONE], true))).await;
    write(&server, "a").await;
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    let mut map = ConfigMap::default();
    map.metadata.name = "m".into();
    map.data.insert("k".into(), "the-plain-text".into());
    maps.create(&map).await.expect("it is valid");
    server.shutdown().await;
    assert!(has(folder.path(), "the-plain-text"));
    assert!(!has(folder.path(), "the-secret-a"));
    assert!(has(folder.path(), "k8s:enc:aesgcm:v1:one:"));
    // Without the file, or with another key of the same name, it cannot be read; upstream has the
    // same errors.
    for (encryption, why) in [
        (None, "identity transformer tried to read encrypted data"),
        (
            Some(keys(&[FALSE], true)),
            "cipher: message authentication failed",
        ),
        (
            Some(keys(&[TWO], true)),
            "no matching key was found for the provided AES transformer",
        ),
    ] {
        let server = start(folder.path(), encryption).await;
        let status = read(&server, "a").await.expect_err("it has no key");
        let expected = format!(
            "Internal error occurred: unable to transform key \
             \"/registry/secrets/default/a\": {why}"
        );
        assert_eq!((status.code, &*status.message), (500, &*expected));
        server.shutdown().await;
    }
    let server = start(folder.path(), Some(keys(&[ONE], true))).await;
    let secret = read(&server, "a").await.expect("it has the key");
    assert_eq!(&secret.data["password"][..], b"the-secret-a");
    server.shutdown().await;
}

#[tokio::test]
async fn keys_are_changed_by_rewriting_what_the_old_one_wrote() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    // Written before encryption was enabled.
    let server = start(folder.path(), None).await;
    write(&server, "plain").await;
    server.shutdown().await;
    let server = start(folder.path(), Some(keys(&[ONE], true))).await;
    write(&server, "old").await;
    server.shutdown().await;
    // The new key writes, the old one still decrypts. An update without changes rewrites a value
    // once.
    let server = start(folder.path(), Some(keys(&[TWO, ONE], true))).await;
    let secrets: Api<Secret> = Api::namespaced(server.client(), "default");
    for name in ["plain", "old"] {
        let secret = read(&server, name).await.expect("it is readable");
        let rewritten = secrets.replace(&secret).await.expect("it may be written");
        assert_ne!(
            rewritten.metadata.resource_version,
            secret.metadata.resource_version
        );
        let again = secrets
            .replace(&rewritten)
            .await
            .expect("it may be written");
        assert_eq!(
            again.metadata.resource_version,
            rewritten.metadata.resource_version
        );
    }
    server.shutdown().await;
    let server = start(folder.path(), Some(keys(&[TWO], false))).await;
    for name in ["plain", "old"] {
        let secret = read(&server, name).await.expect("the new key reads it");
        let expected = format!("the-secret-{name}");
        assert_eq!(&secret.data["password"][..], expected.as_bytes());
    }
    server.shutdown().await;
}

/// Returns a configuration for Secrets with these keys.
fn secretboxes(keys: &[(&str, &str)]) -> String {
    let mut text = "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n\
                    resources:\n- resources: [secrets]\n  providers:\n"
        .to_owned();
    for (name, secret) in keys {
        let box_of = format!("  - secretbox: {{keys: [{{name: {name}, secret: {secret}}}]}}\n");
        text.push_str(&box_of);
    }
    text
}

/// Waits until a metric line begins like this.
async fn until_metric(server: &Server, line: &str) {
    let request = || http::Request::get("/metrics").body(Body::empty());
    for _ in 0..1_000 {
        let client = server.client();
        let answer = client.send(request().expect("it is valid")).await;
        let mut body = answer.expect("it answers").into_body();
        let mut metrics = Vec::new();
        while let Some(chunk) = body.chunk().await.expect("it is whole") {
            metrics.extend_from_slice(&chunk);
        }
        let metrics = String::from_utf8(metrics).expect("it is text");
        if metrics.lines().any(|it| it.starts_with(line)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{line} never comes");
}

#[tokio::test]
async fn a_file_of_keys_that_changes_is_read_again_and_a_bad_one_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let (data, path) = (folder.path().join("data"), folder.path().join("keys.yaml"));
    let write_file = |text: &str| std::fs::write(&path, text).expect("it can be written");
    write_file(&secretboxes(&[ONE]));
    let read_file = || std::fs::read(&path).expect("it was written");
    let config = ServerConfig {
        data_dir: Some(data.clone()),
        controllers: [].into(),
        encryption: Some(EncryptionConfiguration::parse(&read_file()).expect("it is valid")),
        encryption_file: Some(EncryptionFile {
            path: path.clone(),
            look_every: Duration::from_millis(20),
        }),
        ..ServerConfig::default()
    };
    let server = Server::start(config).await.expect("it starts");
    write(&server, "old").await;
    let reloads = |status: &str| {
        let name = "apiserver_encryption_config_controller_automatic_reloads_total";
        format!("{name}{{status=\"{status}\",apiserver_id_hash=\"\"}} ")
    };
    write_file("something else");
    until_metric(&server, &reloads("failure")).await;
    write(&server, "still-old").await;
    write_file(&secretboxes(&[TWO, ONE]));
    until_metric(&server, &reloads("success")).await;
    let hash = EncryptionConfiguration::hash_of(&read_file());
    let info = "apiserver_encryption_config_controller_last_config_info";
    let line = format!("{info}{{apiserver_id_hash=\"\",hash=\"{hash}\"}} 1");
    until_metric(&server, &line).await;
    write(&server, "new").await;
    for name in ["old", "still-old", "new"] {
        read(&server, name).await.expect("both keys are there");
    }
    server.shutdown().await;
    for (name, key) in [("old", "one"), ("still-old", "one"), ("new", "two")] {
        let begin = format!("secrets/default/{name}");
        assert!(has(&data, &begin), "{name}");
        assert!(!has(&data, &format!("the-secret-{name}")), "{name}");
        assert!(
            has(&data, &format!("k8s:enc:secretbox:v1:{key}:")),
            "{name}"
        );
    }
}

#[test]
fn a_file_of_keys_that_cannot_be_used_is_refused_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let serve = |file: &str| {
        let arguments = ["serve", "--encryption-provider-config", file];
        fail(folder.path(), &arguments, b"")
    };
    assert!(serve("nothing.yaml").contains("cannot read nothing.yaml: "));
    let text = "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n\
                resources:\n- resources: [secrets]\n  providers:\n  - kms: {name: k}\n";
    std::fs::write(folder.path().join("keys.yaml"), text).expect("it can be written");
    assert_eq!(
        serve("keys.yaml").trim_end(),
        "kubist: keys.yaml: resources[0].providers[0].kms: the provider kms is not supported; \
         identity, aesgcm, aescbc and secretbox are"
    );
    std::fs::write(folder.path().join("keys.yaml"), "{").expect("it can be written");
    assert!(serve("keys.yaml").contains("keys.yaml: it is not YAML: yaml: "));
}

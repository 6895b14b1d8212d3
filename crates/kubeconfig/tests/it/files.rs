//! The files that are read, how they merge, and the fallbacks.

use kubist_kubeconfig::{
    Environment, Kubeconfig, KubeconfigError, Options, Selection, in_cluster, infer, load,
};
use kubist_transport::{Auth, Identity, Pem, Verify};
use std::path::{Path, PathBuf};

fn context(name: &str, server: &str, current: &str) -> String {
    format!(
        "clusters: [{{name: {name}, cluster: {{server: '{server}'}}}}]\n\
         contexts: [{{name: {name}, context: {{cluster: {name}}}}}]\n\
         current-context: {current}\n"
    )
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

fn list(paths: &[&Path]) -> Environment {
    Environment::default().with("KUBECONFIG", std::env::join_paths(paths).unwrap())
}

#[test]
fn the_first_file_that_names_something_wins() {
    let folder = tempfile::tempdir().unwrap();
    let first = write(
        folder.path(),
        "1",
        &context("shared", "https://first", "''"),
    );
    let second = write(
        folder.path(),
        "2",
        &(context("shared", "https://second", "shared")
            + "users: [{name: u, user: {token: abc}}]\n"),
    );
    let third = write(folder.path(), "3", &context("own", "https://third", "own"));
    let missing = folder.path().join("missing");

    let environment = list(&[&missing, &first, &second, &third, &second]);
    let merged = load(None, &environment).unwrap();
    assert_eq!(merged.current_context, "shared");
    let servers: Vec<_> = merged
        .clusters
        .iter()
        .map(|named| &*named.cluster.server)
        .collect();
    assert_eq!(servers, ["https://first", "https://third"]);
    assert_eq!(merged.users.len(), 1);
    assert_eq!(merged.clusters[1].origin, third);

    let client = infer(&Options::default(), &environment).unwrap();
    assert_eq!(client.transport.server, "https://first/");
    assert_eq!(client.context.as_deref(), Some("shared"));
}

#[test]
fn the_file_in_the_home_folder_is_the_default() {
    let home = tempfile::tempdir().unwrap();
    write(
        home.path(),
        ".kube/config",
        &context("home", "https://home", "home"),
    );
    let environment = Environment::default()
        .with("HOME", home.path())
        .with("KUBECONFIG", "");
    let client = infer(&Options::default(), &environment).unwrap();
    assert_eq!(client.transport.server, "https://home/");

    let other = write(
        home.path(),
        "other",
        &context("other", "https://other", "other"),
    );
    let options = Options {
        file: Some(other),
        ..Options::default()
    };
    let client = infer(&options, &environment).unwrap();
    assert_eq!(client.transport.server, "https://other/");
}

#[test]
fn relative_paths_are_relative_to_the_folder_of_their_file() {
    let config = Kubeconfig::parse(
        include_str!("../../testdata/local.yaml"),
        Path::new("/k/config"),
    )
    .unwrap();
    let client = config
        .select(&Selection::default(), &Environment::default())
        .unwrap();
    let Verify::Authorities(Pem::File(authority)) = client.transport.tls.verify else {
        panic!("a file")
    };
    assert_eq!(authority, Path::new("/k/ca.crt"));
    let Some(Identity {
        certificate: Pem::File(certificate),
        key: Pem::File(key),
    }) = client.transport.tls.identity
    else {
        panic!("files")
    };
    assert_eq!(certificate, Path::new("/k/profiles/minikube/client.crt"));
    assert_eq!(key, Path::new("/home/me/client.key"));
}

#[test]
fn a_file_asked_for_by_name_must_exist_and_others_need_not() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let error = load(Some(&missing), &Environment::default()).unwrap_err();
    assert!(matches!(error, KubeconfigError::Read { path, .. } if path == missing));
    assert!(load(None, &list(&[&missing])).unwrap().is_empty());

    let error = infer(&Options::default(), &list(&[&missing])).unwrap_err();
    let KubeconfigError::NotFound {
        tried,
        not_in_cluster,
    } = error
    else {
        panic!("{error}")
    };
    assert_eq!(tried, [missing]);
    assert_eq!(
        not_in_cluster,
        "not in a cluster: KUBERNETES_SERVICE_HOST is not set"
    );
}

#[test]
fn a_folder_and_a_broken_file_are_errors_even_in_a_list() {
    let folder = tempfile::tempdir().unwrap();
    let error = load(None, &list(&[folder.path()])).unwrap_err();
    assert!(matches!(error, KubeconfigError::Read { .. }), "{error}");

    let broken = write(folder.path(), "broken", "clusters:\n- name: [\n");
    let error = load(None, &list(&[&broken])).unwrap_err();
    assert!(
        matches!(&error, KubeconfigError::Parse { path, .. } if *path == broken),
        "{error}"
    );
}

#[test]
fn a_parse_error_names_line_and_column() {
    for (text, line) in [
        (
            "clusters:\n- name: a\n  cluster:\n    insecure-skip-tls-verify: maybe\n",
            4,
        ),
        ("clusters:\n- name: a\n  cluster: 5\n", 3),
        ("contexts: {a: b}\n", 1),
        ("users: [\n\n}", 1),
    ] {
        let error = Kubeconfig::parse(text, Path::new("f")).unwrap_err();
        let KubeconfigError::Parse {
            line: found,
            column,
            source,
            ..
        } = &error
        else {
            panic!("{error}")
        };
        assert_eq!(*found, line, "{text}: {source}");
        assert!(*column > 0, "{text}: {source}");
        assert!(!source.to_string().is_empty());
    }
}

#[test]
fn what_kubectl_writes_for_nothing_is_nothing() {
    for text in [
        include_str!("../../testdata/kubectl-empty.yaml"),
        "",
        "\n",
        "{}",
        "null",
        "---\n",
    ] {
        assert!(
            Kubeconfig::parse(text, Path::new("f")).unwrap().is_empty(),
            "{text:?}"
        );
    }
}

#[test]
fn json_is_read_too() {
    let text = r#"{"clusters":[{"name":"j","cluster":{"server":"https://j"}}],"x":[1,{}]}"#;
    let config = Kubeconfig::parse(text, Path::new("f")).unwrap();
    assert_eq!(config.clusters[0].cluster.server, "https://j");
}

#[test]
fn a_pod_finds_its_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let environment = Environment::default()
        .with("KUBERNETES_SERVICE_HOST", "fd00::1")
        .with("KUBERNETES_SERVICE_PORT", "443")
        .with_service_account(folder.path());
    let error = in_cluster(&environment).unwrap_err();
    assert!(error.to_string().contains("there is no file"), "{error}");

    let token = write(folder.path(), "token", "abc");
    let authority = write(folder.path(), "ca.crt", "pem");
    let client = infer(&Options::default(), &environment).unwrap();
    assert_eq!(client.transport.server, "https://[fd00::1]:443/");
    assert_eq!(client.namespace, "default");
    assert!(matches!(client.transport.auth, Auth::TokenFile(path) if path == token));
    let Verify::Authorities(Pem::File(path)) = client.transport.tls.verify else {
        panic!("a file")
    };
    assert_eq!(path, authority);

    write(folder.path(), "namespace", "team\n");
    assert_eq!(in_cluster(&environment).unwrap().namespace, "team");
    let environment = environment.with("POD_NAMESPACE", "pod");
    assert_eq!(in_cluster(&environment).unwrap().namespace, "pod");
}

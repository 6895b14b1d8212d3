//! Written kubeconfigs can be read, here and by kubectl's rules.

use kubist_kubeconfig::{
    Environment, Kubeconfig, NewKubeconfig, NewUser, Options, Selection, infer,
};
use kubist_transport::{Auth, Identity, Pem, Verify};
use std::path::Path;

const CA: &str = "-----BEGIN CERTIFICATE-----\nca\n-----END CERTIFICATE-----\n";

fn certificate(name: &str) -> NewKubeconfig<'_> {
    NewKubeconfig {
        name,
        server: "https://127.0.0.1:6443",
        certificate_authority: CA,
        tls_server_name: "inner",
        user: NewUser::Certificate {
            certificate: "the certificate",
            key: "the key",
        },
        namespace: "",
    }
}

#[test]
fn a_written_file_is_read_back_and_private() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    std::fs::write(&path, "old").unwrap();
    certificate("kubist").write(&path).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let options = Options {
        file: Some(path),
        ..Options::default()
    };
    let client = infer(&options, &Environment::default()).unwrap();
    assert_eq!(client.context.as_deref(), Some("kubist"));
    assert_eq!(client.transport.server, "https://127.0.0.1:6443/");
    assert_eq!(client.transport.tls.server_name.as_deref(), Some("inner"));
    let Verify::Authorities(Pem::Data(ca)) = client.transport.tls.verify else {
        panic!("data")
    };
    assert_eq!(ca.reveal(), CA);
    let Some(Identity {
        certificate: Pem::Data(certificate),
        key: Pem::Data(key),
    }) = client.transport.tls.identity
    else {
        panic!("data")
    };
    assert_eq!(certificate.reveal(), "the certificate");
    assert_eq!(key.reveal(), "the key");
}

#[cfg(unix)]
#[test]
fn files_and_links_of_an_earlier_attempt_are_replaced() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    let temporary = folder
        .path()
        .join(format!("config.{}.new", std::process::id()));
    let other = folder.path().join("other");
    let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    std::fs::write(&other, "untouched").unwrap();

    std::fs::write(&temporary, "stale").unwrap();
    std::fs::set_permissions(&temporary, std::fs::Permissions::from_mode(0o644)).unwrap();
    certificate("kubist").write(&path).unwrap();
    assert_eq!(mode(), 0o600);

    symlink(&other, &temporary).unwrap();
    certificate("kubist").write(&path).unwrap();
    assert!(path.symlink_metadata().unwrap().is_file());
    assert_eq!(mode(), 0o600);
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "untouched");
    assert!(!temporary.exists());
}

#[test]
fn names_and_tokens_of_any_characters_survive() {
    for name in [
        "plain",
        "1e3",
        "null",
        "a: b",
        "quote\"d",
        "line\nbreak",
        "ünï",
        "#x",
        "{y",
    ] {
        let user = NewUser::Token(name);
        let text = NewKubeconfig {
            user,
            namespace: name,
            ..certificate(name)
        }
        .render();
        let config = Kubeconfig::parse(&text, Path::new("f")).unwrap();
        let client = config
            .select(&Selection::default(), &Environment::default())
            .unwrap();
        assert_eq!(client.context.as_deref(), Some(name));
        assert_eq!(client.namespace, name);
        assert!(matches!(client.transport.auth, Auth::Bearer(token) if token.reveal() == name));
    }
}

#[test]
fn a_folder_that_does_not_exist_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("no/config");
    let error = certificate("kubist").write(&path).unwrap_err();
    assert!(error.to_string().contains("no/config"), "{error}");
}

//! Certificates and tokens of a server after a restart.

use crate::command::fail;
use crate::etcd::{Etcd, Release};
use kubist::api::authentication::v1::{SelfSubjectReview, TokenRequest};
use kubist::api::core::v1::{Namespace, ServiceAccount};
use kubist::apimachinery::ListOptions;
use kubist::apiserver::{CertificateAuthority, TokenKeys};
use kubist::client::{Api, Client};
use kubist::kubeconfig::Options;
use kubist::transport::{Auth, Config, Identity, Pem, Secret, Transport, Verify};
use kubist::{EtcdServers, Server, ServerConfig, ServerKeys};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

const ROBOT: &str = "system:serviceaccount:default:robot";

async fn start(listen: Option<SocketAddr>, data: &Path) -> Server {
    let mut config = ServerConfig {
        data_dir: Some(data.to_path_buf()),
        controllers: [].into(),
        ..ServerConfig::default()
    };
    config.listen = listen.or(config.listen);
    Server::start(config).await.unwrap()
}

fn by_kubeconfig(path: &Path) -> Client {
    kubist::infer_with(&Options {
        file: Some(path.to_path_buf()),
        ..Options::default()
    })
    .unwrap()
}

/// A token of a new service account.
async fn token(client: &Client) -> String {
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), "default");
    let mut account = ServiceAccount::default();
    account.metadata.name = "robot".into();
    accounts.create(&account).await.unwrap();
    let tokens = accounts.subresource::<TokenRequest>("token");
    let asked = tokens.create("robot", &TokenRequest::default()).await;
    asked.unwrap().status.token.to_string()
}

fn by_token(server: &Server, token: &str) -> Client {
    let mut config = Config::new(server.url().parse().unwrap());
    config.tls.verify = Verify::Authorities(Pem::Data(server.api().ca_pem().into()));
    config.tls.server_name = server.api().tls_server_name().map(str::to_owned);
    config.auth = Auth::Bearer(Secret::from(token.to_owned()));
    Client::new(Transport::new(config).unwrap(), Default::default())
}

async fn who(client: &Client) -> Result<String, u16> {
    let reviews: Api<SelfSubjectReview> = Api::all(client.clone());
    let review = reviews.create(&SelfSubjectReview::default()).await;
    match review {
        Ok(review) => Ok(review.status.user_info.username.to_string()),
        Err(error) => Err(u16::try_from(error.status().unwrap().code).unwrap()),
    }
}

#[tokio::test]
async fn a_kubeconfig_and_a_token_from_before_a_restart_work_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let (data, file) = (folder.path().join("data"), folder.path().join("old"));
    let server = start(None, &data).await;
    server.write_kubeconfig(&file).unwrap();
    let (address, authority) = (server.address(), server.api().ca_pem());
    let token = token(&server.client()).await;
    server.shutdown().await;

    let server = start(Some(address), &data).await;
    assert_eq!(server.api().ca_pem(), authority);
    assert_eq!(
        who(&by_kubeconfig(&file)).await.as_deref(),
        Ok("kubernetes-admin")
    );
    assert_eq!(who(&by_token(&server, &token)).await.as_deref(), Ok(ROBOT));
    server.shutdown().await;
    #[cfg(unix)]
    for name in ["", "ca.pem", "service-account.pem"] {
        use std::os::unix::fs::PermissionsExt as _;
        let found = std::fs::metadata(data.join("pki").join(name)).unwrap();
        let expected = if name.is_empty() { 0o700 } else { 0o600 };
        assert_eq!(found.permissions().mode() & 0o777, expected, "{name}");
    }
    let kept = std::fs::read_dir(data.join("pki")).unwrap().count();
    assert_eq!(kept, 2, "nothing half-written stays");

    // Without the files it is a different server, which accepts neither.
    std::fs::remove_dir_all(data.join("pki")).unwrap();
    let server = start(Some(address), &data).await;
    let namespaces: Api<Namespace> = Api::all(by_kubeconfig(&file));
    let refused = namespaces.list(&ListOptions::default()).await;
    assert!(refused.is_err_and(|error| error.status().is_none()));
    assert_eq!(who(&by_token(&server, &token)).await, Err(401));
    server.shutdown().await;
}

/// Invalid key files of each kind.
fn write_unusable(folder: &Path) {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let day = |day: u64| Duration::from_secs(day * 24 * 3600);
    let ended = CertificateAuthority::until("kubist-ca", day(18_000), day(19_000)).unwrap();
    let authority = CertificateAuthority::new("a").unwrap();
    let other = CertificateAuthority::new("b").unwrap();
    let identity = authority.serving_identity(vec!["localhost".to_owned()]);
    let identity = identity.unwrap();
    let stranger = other.client_identity("b", None).unwrap();
    write("ended/ca.pem", &ended.to_pem());
    write("foreign/ca.pem", "something else");
    write("torn/ca.pem", &authority.certificate_pem());
    write(
        "person/ca.pem",
        &(identity.certificate_pem.clone() + &identity.key_pem),
    );
    write("token/ca.pem", &authority.to_pem());
    write("token/service-account.pem", "something else");
    std::fs::create_dir_all(folder.join("unreadable/ca.pem")).unwrap();
    write("tls.crt", &identity.certificate_pem);
    write("tls.key", &identity.key_pem);
    write("other.key", &stranger.key_pem);
}

#[test]
fn files_of_keys_that_cannot_be_used_are_named_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    write_unusable(folder.path());
    let serve = |options: &[&'static str]| {
        let first: &[&'static str] = &["serve", "--listen", "127.0.0.1:0"];
        fail(folder.path(), &[first, options].concat(), b"")
    };
    for (options, part) in [
        (
            &["--cert-dir", "ended"] as &[_],
            "the certificate in ended/ca.pem is valid from 2019-04-13T23:00:00Z to \
             2022-01-08T00:00:00Z, and it is 20",
        ),
        (
            &["--cert-dir", "foreign"],
            "cannot use foreign/ca.pem: it contains no valid certificate",
        ),
        (
            &["--cert-dir", "torn"],
            "cannot use torn/ca.pem: it contains no usable private key",
        ),
        (
            &["--cert-dir", "person"],
            "cannot use person/ca.pem: the certificate is not that of an authority",
        ),
        (
            &["--cert-dir", "token"],
            "cannot use token/service-account.pem: it contains no private key",
        ),
        (
            &["--cert-dir", "unreadable"],
            "cannot read unreadable/ca.pem: ",
        ),
        (
            &[
                "--tls-cert-file=tls.crt",
                "--tls-private-key-file=other.key",
            ],
            "cannot use other.key: the certificate and the key do not match",
        ),
        (
            &["--client-ca-file", "tls.key"],
            "cannot use tls.key: it contains no valid certificate",
        ),
        (
            &["--service-account-key-file", "absent"],
            "cannot read absent: ",
        ),
    ] {
        let said = serve(options);
        assert!(said.contains(part), "{said}");
    }
}

#[tokio::test]
async fn certificates_that_were_brought_are_shown_and_believed() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (
        CertificateAuthority::new("serving").unwrap(),
        CertificateAuthority::new("clients").unwrap(),
    );
    let serving = ours.serving_identity(vec!["127.0.0.1".to_owned()]).unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        Some(path)
    };
    let keys = ServerKeys {
        tls_cert_file: write("tls.crt", &serving.certificate_pem),
        tls_private_key_file: write("tls.key", &serving.key_pem),
        client_ca_file: write("clients.crt", &theirs.certificate_pem()),
        ..ServerKeys::default()
    };
    // The controllers are clients too.
    let config = ServerConfig {
        keys,
        ..ServerConfig::default()
    };
    let server = Server::start(config).await.unwrap();
    let alice = theirs.client_identity("alice", None).unwrap();
    let mut config = Config::new(server.url().parse().unwrap());
    config.tls.verify = Verify::Authorities(Pem::Data(ours.certificate_pem().into()));
    config.tls.identity = Some(Identity {
        certificate: Pem::Data(alice.certificate_pem.into()),
        key: Pem::Data(alice.key_pem.into()),
    });
    let client = Client::new(Transport::new(config).unwrap(), Default::default());
    assert_eq!(who(&client).await.as_deref(), Ok("alice"));
    // The administrator's kubeconfig still works: it requests the server's own certificate.
    let file = folder.path().join("admin");
    server.write_kubeconfig(&file).unwrap();
    assert_eq!(
        who(&by_kubeconfig(&file)).await.as_deref(),
        Ok("kubernetes-admin")
    );
    server.shutdown().await;
}

#[tokio::test]
async fn servers_on_one_etcd_with_the_same_keys_believe_each_others_tokens() {
    let Some(etcd) = Etcd::start(Release::Current).await else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let signing = folder.path().join("sa.key");
    std::fs::write(&signing, TokenKeys::generate_pem().unwrap()).unwrap();
    let start = async |keys: ServerKeys| {
        let config = ServerConfig {
            etcd: Some(EtcdServers {
                servers: vec![etcd.url()],
                ..EtcdServers::default()
            }),
            keys,
            controllers: [].into(),
            ..ServerConfig::default()
        };
        Server::start(config).await.unwrap()
    };
    let shared = ServerKeys {
        folder: Some(folder.path().join("pki")),
        ..ServerKeys::default()
    };
    let brought = ServerKeys {
        service_account_signing_key_file: Some(signing.clone()),
        ..ServerKeys::default()
    };
    let verifying = ServerKeys {
        service_account_key_files: vec![signing],
        ..ServerKeys::default()
    };
    for (one, other, knows) in [
        (&shared, &shared, true),
        (&brought, &brought, true),
        (&brought, &verifying, true),
        (&brought, &shared, false),
    ] {
        let (one, other) = (start(one.clone()).await, start(other.clone()).await);
        let token = token(&one.client()).await;
        let expected = if knows {
            Ok(ROBOT.to_owned())
        } else {
            Err(401)
        };
        assert_eq!(who(&by_token(&other, &token)).await, expected);
        let accounts: Api<ServiceAccount> = Api::namespaced(one.client(), "default");
        accounts.delete("robot").await.unwrap();
        one.shutdown().await;
        other.shutdown().await;
    }
}

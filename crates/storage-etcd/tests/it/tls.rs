//! TLS: trusted authorities, and client certificates.

use crate::etcd::{Etcd, Release};
use kubist_storage::{FaultKind, KvRead, ReadError};
use kubist_storage_etcd::{Config, EtcdKv, Identity};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use std::path::Path;
use std::time::Duration;

struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();
        let issuer = Issuer::new(params, key);
        Self { pem, issuer }
    }

    fn issue(&self) -> Identity {
        let key = KeyPair::generate().unwrap();
        let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
        let params = CertificateParams::new(names).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Identity {
            certificate: certificate.pem().into(),
            key: key.serialize_pem().into(),
        }
    }
}

/// An etcd that requires a client certificate of this authority.
async fn start(authority: &Authority, folder: &Path) -> Option<Etcd> {
    let identity = authority.issue();
    let file = |name: &str, content: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let certificate = file("server.crt", &identity.certificate);
    let key = file("server.key", &identity.key);
    let authority = file("ca.crt", authority.pem.as_bytes());
    let arguments = [
        "--listen-client-urls",
        "https://{client}",
        "--advertise-client-urls",
        "https://{client}",
        "--cert-file",
        &certificate,
        "--key-file",
        &key,
        "--trusted-ca-file",
        &authority,
        "--client-cert-auth",
    ];
    Etcd::start_with(Release::Current, &arguments).await
}

#[tokio::test]
async fn members_and_engine_show_each_other_certificates() {
    let authority = Authority::new();
    let folder = tempfile::tempdir().unwrap();
    let Some(etcd) = start(&authority, folder.path()).await else {
        return;
    };
    let server = format!("https://{}", etcd.address());
    let engine = |trusted: &Authority, identity: Option<Identity>| {
        let mut config = Config::new([server.clone()]);
        config.request_timeout = Duration::from_secs(5);
        config.tls.authorities = Some(trusted.pem.clone().into());
        config.tls.identity = identity;
        EtcdKv::new(config).unwrap()
    };
    let known = engine(&authority, Some(authority.issue()));
    known.revision().await.unwrap();

    let stranger = Authority::new();
    let refused = [
        (
            "a server of another authority",
            engine(&stranger, Some(authority.issue())),
        ),
        (
            "a client of another authority",
            engine(&authority, Some(stranger.issue())),
        ),
        ("a client without a certificate", engine(&authority, None)),
    ];
    for (what, kv) in refused {
        let Err(ReadError::Fault(fault)) = kv.revision().await else {
            panic!("{what} was let in");
        };
        let expected = [FaultKind::Unavailable, FaultKind::Timeout];
        assert!(expected.contains(&fault.kind()), "{what}: {fault:?}");
    }
}

//! TLS: ALPN, authorities, names, client certificates.

use crate::server::{Server, fetch, get, text};
use kubist_transport::{Config, Endpoint, HttpVersion, Identity, Pem, Transport, Verify};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::server::WebPkiClientVerifier;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::io;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// An authority and what it issues.
pub(crate) struct Pki {
    authority: CertifiedIssuer<'static, KeyPair>,
}

impl Pki {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self {
            authority: CertifiedIssuer::self_signed(params, key).unwrap(),
        }
    }

    pub(crate) fn authority(&self) -> Verify {
        Verify::Authorities(Pem::Data(self.authority.pem().into()))
    }

    fn issue(&self, name: &str) -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        (params.signed_by(&key, &self.authority).unwrap(), key)
    }

    pub(crate) fn client(&self) -> (String, String) {
        let (certificate, key) = self.issue("client");
        (certificate.pem(), key.serialize_pem())
    }

    /// A server certificate for `name`; with `clients`, certificates of clients are demanded.
    pub(crate) fn server(&self, name: &str, alpn: &[&[u8]], clients: bool) -> TlsAcceptor {
        let (certificate, key) = self.issue(name);
        self.serving((certificate.der().clone(), &key), alpn, clients)
    }

    /// A server that presents the certificate of the authority itself.
    fn as_server(&self) -> TlsAcceptor {
        let own = self.authority.der().clone();
        self.serving((own, self.authority.key()), &[], false)
    }

    fn serving(
        &self,
        (certificate, key): (CertificateDer<'static>, &KeyPair),
        alpn: &[&[u8]],
        clients: bool,
    ) -> TlsAcceptor {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = if clients {
            let mut roots = rustls::RootCertStore::empty();
            roots.add(self.authority.der().clone()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        } else {
            builder.with_no_client_auth()
        };
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut config = builder.with_single_cert(vec![certificate], key).unwrap();
        config.alpn_protocols = alpn.iter().map(|protocol| protocol.to_vec()).collect();
        TlsAcceptor::from(Arc::new(config))
    }
}

/// A transport to `server` behind `acceptor`.
pub(crate) fn transport(server: &Server, acceptor: TlsAcceptor, config: Config) -> Transport {
    let server = server.clone();
    let connect = move |_: Endpoint| {
        let (client, far) = tokio::io::duplex(1 << 16);
        let (acceptor, serving) = (acceptor.clone(), server.clone());
        server.spawn(async move {
            if let Ok(stream) = acceptor.accept(far).await {
                serving.accept(stream);
            }
        });
        async move { io::Result::Ok(client) }
    };
    Transport::with_connector(config, connect).unwrap()
}

fn config(verify: Verify) -> Config {
    let mut config = Config::new("https://api.example:6443".parse().unwrap());
    config.tls.verify = verify;
    config
}

#[tokio::test(start_paused = true)]
async fn alpn_picks_http2_and_falls_back_to_http1() {
    let pki = Pki::new();
    for (server, alpn) in [
        (
            Server::http2(|request| text(format!("{:?}", request.version()))),
            &[&b"h2"[..], b"http/1.1"][..],
        ),
        (
            Server::http1(|request| text(format!("{:?}", request.version()))),
            &[&b"http/1.1"[..]][..],
        ),
        (
            Server::http1(|request| text(format!("{:?}", request.version()))),
            &[],
        ),
    ] {
        let http2 = server.config().http_version == HttpVersion::Http2Only;
        let acceptor = pki.server("api.example", alpn, false);
        let transport = transport(&server, acceptor, config(pki.authority()));
        let answers =
            futures_util::future::join_all((0..5).map(|_| fetch(&transport, get("/")))).await;
        for answer in answers {
            assert_eq!(
                answer.unwrap().1,
                if http2 { "HTTP/2.0" } else { "HTTP/1.1" }
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn http2_only_is_refused_by_a_server_that_has_none() {
    let pki = Pki::new();
    let server = Server::http1(|_| text("answer"));
    let mut config = config(pki.authority());
    config.http_version = HttpVersion::Http2Only;
    let transport = transport(&server, pki.server("api.example", &[], false), config);
    assert!(transport.send(get("/")).await.unwrap_err().is_connect());
}

#[tokio::test(start_paused = true)]
async fn a_certificate_of_another_authority_or_name_is_refused() {
    let (pki, other) = (Pki::new(), Pki::new());
    let server = Server::http1(|_| text("answer"));
    for (acceptor, verify, accepted) in [
        (pki.server("api.example", &[], false), pki.authority(), true),
        (
            pki.server("api.example", &[], false),
            other.authority(),
            false,
        ),
        (pki.server("kubernetes", &[], false), pki.authority(), false),
        (pki.server("kubernetes", &[], false), Verify::Nothing, true),
    ] {
        let result = transport(&server, acceptor, config(verify))
            .send(get("/"))
            .await;
        match result {
            Ok(_) => assert!(accepted),
            Err(error) => {
                assert!(!accepted && error.is_certificate(), "{error:?}");
                assert_eq!(error.retry(), kubist_transport::Retry::Never);
            }
        }
    }
    let mut named = config(pki.authority());
    named.tls.server_name = Some("kubernetes".into());
    let transport = transport(&server, pki.server("kubernetes", &[], false), named);
    assert_eq!(fetch(&transport, get("/")).await.unwrap().1, "answer");
}

#[tokio::test(start_paused = true)]
async fn a_server_with_the_certificate_of_an_authority_is_refused_in_a_sentence() {
    let (pki, server) = (Pki::new(), Server::http1(|_| text("answer")));
    let transport = transport(&server, pki.as_server(), config(pki.authority()));
    let error = transport.send(get("/")).await.expect_err("it is refused");
    assert!(error.is_certificate(), "{error:?}");
    let mut texts = vec![error.to_string()];
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        texts.push(error.to_string());
        cause = error.source();
    }
    let said = "the server presents the certificate of an authority; it needs one of its own, \
                signed by it";
    assert_eq!(texts.last().map(String::as_str), Some(said));
}

#[tokio::test(start_paused = true)]
async fn a_client_certificate_is_presented_from_data_and_from_files() {
    let pki = Pki::new();
    let server = Server::http2(|_| text("known"));
    let (certificate, key) = pki.client();
    let folder = tempfile::tempdir().unwrap();
    let files = Identity {
        certificate: Pem::File(folder.path().join("client.crt")),
        key: Pem::File(folder.path().join("client.key")),
    };
    std::fs::write(folder.path().join("client.crt"), &certificate).unwrap();
    std::fs::write(folder.path().join("client.key"), &key).unwrap();
    let data = Identity {
        certificate: Pem::Data(certificate.into()),
        key: Pem::Data(key.into()),
    };
    for identity in [Some(data), Some(files), None] {
        let mut config = config(pki.authority());
        let known = identity.is_some();
        config.tls.identity = identity;
        let acceptor = pki.server("api.example", &[b"h2"], true);
        let result = fetch(&transport(&server, acceptor, config), get("/")).await;
        assert_eq!(result.is_ok(), known, "{result:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_certificate_authority_file_is_read_again_after_five_minutes() {
    let (old, new) = (Pki::new(), Pki::new());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.crt");
    let write = |pki: &Pki| std::fs::write(&file, pki.authority.pem()).unwrap();
    write(&old);
    let server = Server::http1(|_| text("answer"));
    let config = config(Verify::Authorities(Pem::File(file.clone())));
    let transport = transport(&server, new.server("api.example", &[], false), config);
    assert!(transport.send(get("/")).await.unwrap_err().is_certificate());
    write(&new);
    assert!(transport.send(get("/")).await.is_err());
    tokio::time::advance(std::time::Duration::from_secs(301)).await;
    assert_eq!(fetch(&transport, get("/")).await.unwrap().1, "answer");
}

#[test]
fn bad_certificates_and_keys_are_named() {
    let pki = Pki::new();
    let (certificate, _) = pki.client();
    let mut bad_authority = config(Verify::Authorities(Pem::Data("no pem".into())));
    let mut missing = config(pki.authority());
    missing.tls.identity = Some(Identity {
        certificate: Pem::Data(certificate.into()),
        key: Pem::File("/does/not/exist".into()),
    });
    bad_authority.tls.identity = None;
    for (config, expected) in [
        (bad_authority, "certificate authority holds no usable PEM"),
        (missing, "cannot read \"/does/not/exist\""),
    ] {
        let error = Transport::new(config).unwrap_err();
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert_eq!(cause, expected);
    }
}

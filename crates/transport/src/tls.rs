//! TLS: server verification and client certificates.
//!
//! [`TlsConfig`] is the configuration. [`TlsSource`] builds rustls configurations from it, reloads
//! files that may have changed, and takes client certificates from an exec plugin. The cryptography
//! provider is *ring*, passed explicitly: no process-wide default is installed or used.

mod insecure;

use self::insecure::AcceptAny;
use crate::secret::Secret;
use parking_lot::Mutex;
use rustls::crypto::CryptoProvider;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The interval of checking files for changes; the same as in client-go.
const RELOAD_INTERVAL: Duration = Duration::from_secs(5 * 60);

/// The TLS configuration for a server.
#[derive(Debug, Clone, Default)]
pub struct TlsConfig {
    /// The trusted authorities. Default: the system's.
    pub verify: Verify,
    /// The name to request and verify instead of the server's host. Default: none.
    pub server_name: Option<String>,
    /// The client certificate. Default: none.
    pub identity: Option<Identity>,
}

/// The accepted server certificates.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Verify {
    /// Those issued by an authority in the system's store.
    #[default]
    System,
    /// Those issued by one of these authorities (PEM, one or more certificates).
    Authorities(Pem),
    /// Any. A man in the middle can read and change everything.
    Nothing,
}

/// A client certificate chain and its private key, PEM.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The certificates, the client's own first.
    pub certificate: Pem,
    /// The private key: PKCS #8, PKCS #1 or SEC 1.
    pub key: Pem,
}

/// PEM text, or a file with it that is reloaded every five minutes.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "either here or in a file")]
pub enum Pem {
    /// The text itself.
    Data(Secret),
    /// A file.
    File(PathBuf),
}

impl Pem {
    fn read(&self) -> Result<Vec<u8>, TlsError> {
        match self {
            Self::Data(data) => Ok(data.reveal().as_bytes().to_vec()),
            Self::File(path) => std::fs::read(path).map_err(|error| TlsError::File {
                path: path.clone(),
                source: Arc::new(error),
            }),
        }
    }

    fn path(&self) -> Option<&Path> {
        match self {
            Self::Data(_) => None,
            Self::File(path) => Some(path),
        }
    }
}

/// Why TLS cannot be set up, or failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A certificate or key file cannot be read.
    #[error("cannot read {path:?}")]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: Arc<io::Error>,
    },
    /// The PEM text does not have the expected contents.
    #[error("{field} holds no usable PEM")]
    Pem {
        /// The configuration field.
        field: &'static str,
        /// The parser's error.
        source: Arc<rustls_pki_types::pem::Error>,
    },
    /// An authority certificate, or the pair of certificate and key, is invalid.
    #[error("{field} cannot be used")]
    Rejected {
        /// The configuration field.
        field: &'static str,
        /// The error of the TLS library.
        source: Arc<rustls::Error>,
    },
    /// The system has no certificate authorities.
    #[error("the system's store of certificate authorities is empty or cannot be read")]
    SystemStore,
    /// The server name is neither a host name nor an address.
    #[error("{name:?} is not a server name")]
    ServerName {
        /// The invalid value.
        name: String,
    },
    /// The handshake failed.
    #[error("the handshake failed")]
    Handshake(#[source] Arc<io::Error>),
    /// The certificate of the server is that of an authority.
    #[error(
        "the server presents the certificate of an authority; it needs one of its own, signed by it"
    )]
    AuthorityAsServer,
    /// The server selected none of the offered HTTP versions.
    #[error("the server does not speak HTTP/2")]
    Alpn,
}

impl TlsError {
    /// Returns the error of a handshake that failed.
    pub(crate) fn of_handshake(error: io::Error) -> Self {
        use rustls::{CertificateError, Error, OtherError};
        let cause = error.get_ref().and_then(|it| it.downcast_ref::<Error>());
        match cause {
            // The error of the verifier has no type here, and is its name.
            Some(Error::InvalidCertificate(CertificateError::Other(OtherError(why))))
                if why.to_string() == "CaUsedAsEndEntity" =>
            {
                Self::AuthorityAsServer
            }
            _ => Self::Handshake(Arc::new(error)),
        }
    }

    /// Reports whether a certificate was refused, by either side; retrying does not help.
    pub fn is_certificate(&self) -> bool {
        use rustls::{AlertDescription as Alert, Error};
        let Self::Handshake(error) = self else {
            return matches!(
                self,
                Self::Pem { .. } | Self::Rejected { .. } | Self::AuthorityAsServer
            );
        };
        let cause = error
            .get_ref()
            .and_then(|cause| cause.downcast_ref::<Error>());
        matches!(
            cause,
            Some(
                Error::InvalidCertificate(_)
                    | Error::AlertReceived(
                        Alert::BadCertificate
                            | Alert::UnsupportedCertificate
                            | Alert::CertificateExpired
                            | Alert::CertificateRevoked
                            | Alert::CertificateUnknown
                            | Alert::CertificateRequired
                            | Alert::UnknownCA
                    )
            )
        )
    }
}

/// Builds rustls configurations, and rebuilds them when files or the plugin's certificate change.
pub(crate) struct TlsSource {
    provider: Arc<CryptoProvider>,
    state: Mutex<State>,
}

/// The lock is held for reads of small local files, never across an await.
struct State {
    config: TlsConfig,
    material: Material,
    built: Arc<ClientConfig>,
    checked: Option<Instant>,
}

/// The loaded certificates and keys.
#[derive(PartialEq, Clone, Default)]
struct Material {
    authorities: Vec<u8>,
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl TlsSource {
    pub(crate) fn new(config: TlsConfig) -> Result<Self, TlsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let material = Material::read(&config)?;
        let built = build(&provider, &config, &material)?;
        let state = State {
            config,
            material,
            built,
            checked: None,
        };
        Ok(Self {
            provider,
            state: Mutex::new(state),
        })
    }

    /// Returns the current configuration, offering `alpn`.
    pub(crate) fn client_config(&self, alpn: &[&[u8]]) -> Arc<ClientConfig> {
        let mut config = ClientConfig::clone(&self.state.lock().built);
        config.alpn_protocols = alpn.iter().map(|protocol| protocol.to_vec()).collect();
        Arc::new(config)
    }

    /// Returns the name to verify instead of `host`.
    pub(crate) fn server_name(&self, host: &str) -> String {
        self.state
            .lock()
            .config
            .server_name
            .clone()
            .unwrap_or_else(|| host.to_owned())
    }

    /// Reloads files if that is due. Returns true if something changed, so that existing
    /// connections are outdated. A file that cannot be read or used leaves the previous contents.
    pub(crate) fn reload_if_due(&self, now: Instant) -> bool {
        let mut state = self.state.lock();
        if !state.config.has_files() {
            return false;
        }
        let checked = *state.checked.get_or_insert(now);
        if now.duration_since(checked) < RELOAD_INTERVAL {
            return false;
        }
        state.checked = Some(now);
        let Ok(material) = Material::read(&state.config) else {
            return false;
        };
        if material == state.material {
            return false;
        }
        match build(&self.provider, &state.config, &material) {
            Ok(built) => {
                state.built = built;
                state.material = material;
                true
            }
            Err(_) => false,
        }
    }

    /// Replaces the client certificate.
    pub(crate) fn set_identity(&self, identity: Identity) -> Result<(), TlsError> {
        let mut state = self.state.lock();
        let config = TlsConfig {
            identity: Some(identity),
            ..state.config.clone()
        };
        let material = Material::read(&config)?;
        state.built = build(&self.provider, &config, &material)?;
        state.material = material;
        state.config = config;
        Ok(())
    }
}

impl TlsConfig {
    fn has_files(&self) -> bool {
        let authorities = match &self.verify {
            Verify::Authorities(pem) => pem.path(),
            Verify::System | Verify::Nothing => None,
        };
        let identity = self
            .identity
            .as_ref()
            .and_then(|identity| identity.certificate.path().or_else(|| identity.key.path()));
        authorities.or(identity).is_some()
    }
}

impl Material {
    fn read(config: &TlsConfig) -> Result<Self, TlsError> {
        let mut material = Self::default();
        if let Verify::Authorities(pem) = &config.verify {
            material.authorities = pem.read()?;
        }
        if let Some(identity) = &config.identity {
            material.certificate = identity.certificate.read()?;
            material.key = identity.key.read()?;
        }
        Ok(material)
    }
}

fn build(
    provider: &Arc<CryptoProvider>,
    config: &TlsConfig,
    material: &Material,
) -> Result<Arc<ClientConfig>, TlsError> {
    let builder = ClientConfig::builder_with_provider(Arc::clone(provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| rejected("protocol versions", error))?;
    let builder = match &config.verify {
        Verify::System => builder.with_root_certificates(system_roots()?),
        Verify::Authorities(_) => {
            let mut roots = RootCertStore::empty();
            for certificate in certificates("certificate authority", &material.authorities)? {
                roots
                    .add(certificate)
                    .map_err(|error| rejected("certificate authority", error))?;
            }
            builder.with_root_certificates(roots)
        }
        Verify::Nothing => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AcceptAny::new(Arc::clone(provider)))),
    };
    let built = if config.identity.is_some() {
        let chain = certificates("client certificate", &material.certificate)?;
        let key = PrivateKeyDer::from_pem_slice(&material.key)
            .map_err(|error| pem_error("client key", error))?;
        builder
            .with_client_auth_cert(chain, key)
            .map_err(|error| rejected("client certificate", error))?
    } else {
        builder.with_no_client_auth()
    };
    Ok(Arc::new(built))
}

/// Returns a configuration for TLS to a proxy.
pub(crate) fn system_config() -> Result<Arc<ClientConfig>, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    build(&provider, &TlsConfig::default(), &Material::default())
}

fn system_roots() -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    let (added, _) =
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if added == 0 {
        Err(TlsError::SystemStore)
    } else {
        Ok(roots)
    }
}

fn certificates(field: &'static str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let chain: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|error| pem_error(field, error))?;
    if chain.is_empty() {
        return Err(pem_error(field, rustls_pki_types::pem::Error::NoItemsFound));
    }
    Ok(chain)
}

fn pem_error(field: &'static str, error: rustls_pki_types::pem::Error) -> TlsError {
    TlsError::Pem {
        field,
        source: Arc::new(error),
    }
}

fn rejected(field: &'static str, error: rustls::Error) -> TlsError {
    TlsError::Rejected {
        field,
        source: Arc::new(error),
    }
}

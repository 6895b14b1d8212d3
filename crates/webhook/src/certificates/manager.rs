//! `CertificateManager`: keeps a certificate in a Secret, which all replicas share, rotates it, and
//! puts the bundle into configurations.

use super::authority::{Bundle, Decision, decide, make};
use super::inject::InjectInto;
use super::{CertificateError, ServingCertificate};
use kubist_api::core::v1::Secret;
use kubist_apimachinery::{ByteString, Str};
use kubist_client::{Api, Client};
use std::time::{Duration, SystemTime};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// How often the Secret is read again when another replica writes it, too.
const ATTEMPTS_MAX: u32 = 5;
/// The pause after a failure.
const RETRY_PAUSE: Duration = Duration::from_secs(5);

const AUTHORITIES: &str = "ca.crt";
const AUTHORITY_KEY: &str = "ca.key";
const CERTIFICATE: &str = "tls.crt";
const KEY: &str = "tls.key";

/// What a [`CertificateManager`] manages.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct CertificateConfig {
    /// The namespace of the Secret, and of the Service.
    pub namespace: Str,
    /// The name of the Secret, of the type `kubernetes.io/tls`. It is made if it does not exist.
    pub secret: Str,
    /// The name of the Service through which API servers reach the webhooks:
    /// `SERVICE.NAMESPACE.svc` is a name of the certificate.
    pub service: Str,
    /// Further names or addresses of the certificate.
    pub names: Vec<String>,
    /// How long a serving certificate is valid; it is rotated after two thirds. Default: a year.
    pub lifetime: Duration,
    /// How often the Secret and the configurations are looked at. Default: a minute.
    pub check_period: Duration,
    /// Where the bundle is put.
    pub inject_into: Vec<InjectInto>,
}

impl CertificateConfig {
    /// Returns the defaults for a Secret and a Service.
    pub fn new(namespace: impl Into<Str>, secret: impl Into<Str>, service: impl Into<Str>) -> Self {
        Self {
            namespace: namespace.into(),
            secret: secret.into(),
            service: service.into(),
            names: Vec::new(),
            lifetime: Duration::from_secs(365 * 24 * 3_600),
            check_period: Duration::from_secs(60),
            inject_into: Vec::new(),
        }
    }

    fn names(&self) -> Vec<String> {
        let Self {
            service, namespace, ..
        } = self;
        let mut names = vec![
            format!("{service}.{namespace}.svc"),
            format!("{service}.{namespace}"),
            service.to_string(),
        ];
        names.extend(self.names.iter().cloned());
        names
    }
}

/// Makes a certificate, keeps it in a Secret, rotates it, and tells API servers whom to trust.
///
/// Replicas share the Secret; whoever comes first makes the certificate. An authority that was
/// replaced stays in the bundle while it is valid, and the bundle is put into the configurations
/// before the new certificate is served, so no review fails during a rotation.
///
/// ```no_run
/// # use kubist_client::Client;
/// # use kubist_webhook::{
/// #     CertificateConfig, CertificateManager, InjectInto, ServerConfig, WebhookServer, Webhooks,
/// # };
/// # use tokio_util::sync::CancellationToken;
/// # async fn example(
/// #     client: Client, webhooks: Webhooks, token: CancellationToken,
/// # ) -> Result<(), Box<dyn std::error::Error>> {
/// let mut config = CertificateConfig::new("fig-system", "fig-webhook-cert", "fig-webhook");
/// config.inject_into = vec![InjectInto::Validating("fig".into())];
/// let manager = CertificateManager::start(client, config).await?;
/// let certificate = manager.certificate();
/// let server = WebhookServer::bind(webhooks, certificate, ServerConfig::default()).await?;
/// tokio::join!(manager.run(token.clone()), server.serve(token));
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct CertificateManager {
    client: Client,
    config: CertificateConfig,
    served: Bundle,
    certificate: ServingCertificate,
}

impl CertificateManager {
    /// Reads or makes the certificate, and puts the bundle into the configurations that exist.
    ///
    /// # Errors
    /// The Secret could not be read or written, or a name is not valid.
    pub async fn start(
        client: Client,
        config: CertificateConfig,
    ) -> Result<Self, CertificateError> {
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let served = current(&client, &config, now).await?;
        let certificate = ServingCertificate::new(&served.certificate, &served.key)?;
        let this = Self {
            client,
            config,
            served,
            certificate,
        };
        this.inject(&this.served).await?;
        Ok(this)
    }

    /// Returns the certificate to serve; it follows rotations.
    pub fn certificate(&self) -> ServingCertificate {
        self.certificate.clone()
    }

    /// Returns the authorities to trust, as PEM, as they are put into configurations.
    pub fn bundle(&self) -> &str {
        &self.served.authorities
    }

    /// Looks after the certificate until the token is cancelled. A failure is logged and tried
    /// again after 5 s; the certificate is served on meanwhile.
    ///
    /// Cancel safety: may be dropped at any point.
    pub async fn run(mut self, token: CancellationToken) {
        let mut pause = self.config.check_period;
        loop {
            tokio::select! {
                () = token.cancelled() => return,
                () = sleep(pause) => {}
            }
            let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
            pause = match self.check(now).await {
                Ok(()) => self.config.check_period,
                Err(error) => {
                    let error = kubist_apimachinery::with_causes(&error);
                    tracing::warn!(%error, "the certificate of the webhooks could not be checked");
                    RETRY_PAUSE.min(self.config.check_period)
                }
            };
        }
    }

    /// Looks at the Secret and the configurations once: rotates the certificate if that is due,
    /// takes over what another replica made, and repairs the bundle in the configurations.
    ///
    /// # Errors
    /// As of [`Self::start`]; the certificate is served on.
    pub async fn check(&mut self, now: Duration) -> Result<(), CertificateError> {
        let bundle = current(&self.client, &self.config, now).await?;
        self.inject(&bundle).await?;
        if bundle != self.served {
            self.certificate.replace(&bundle.certificate, &bundle.key)?;
            tracing::info!("the certificate of the webhooks was replaced");
            self.served = bundle;
        }
        Ok(())
    }

    async fn inject(&self, bundle: &Bundle) -> Result<(), CertificateError> {
        for into in &self.config.inject_into {
            into.inject(&self.client, &bundle.authorities).await?;
        }
        Ok(())
    }
}

/// Returns the stored bundle, made or rotated if need be.
async fn current(
    client: &Client,
    config: &CertificateConfig,
    now: Duration,
) -> Result<Bundle, CertificateError> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), config.namespace.clone());
    let names = config.names();
    for _ in 0..ATTEMPTS_MAX {
        let found = secrets.get_opt(&config.secret).await?;
        let stored = found.as_ref().map(bundle_of).unwrap_or_default();
        let decision = decide(&stored, &names, now);
        if decision == Decision::Keep {
            return Ok(stored);
        }
        let made = make(&stored, decision, &names, config.lifetime, now)?;
        let written = if let Some(mut secret) = found {
            fill(&mut secret, &made);
            secrets.replace(&secret).await
        } else {
            let mut secret = Secret {
                type_: "kubernetes.io/tls".into(),
                ..Secret::default()
            };
            secret.metadata.name = config.secret.clone();
            secret.metadata.namespace = config.namespace.clone();
            fill(&mut secret, &made);
            secrets.create(&secret).await
        };
        match written {
            Ok(_) => return Ok(made),
            // Another replica was faster: what it made is read.
            Err(error) if error.is_conflict() || error.is_already_exists() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(CertificateError::Contended {
        name: config.secret.to_string(),
    })
}

fn bundle_of(secret: &Secret) -> Bundle {
    let text = |key: &str| {
        let bytes = secret.data.get(key).map(|it| it.0.as_slice());
        String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
    };
    Bundle {
        authorities: text(AUTHORITIES),
        authority_key: text(AUTHORITY_KEY),
        certificate: text(CERTIFICATE),
        key: text(KEY),
    }
}

fn fill(secret: &mut Secret, bundle: &Bundle) {
    for (key, text) in [
        (AUTHORITIES, &bundle.authorities),
        (AUTHORITY_KEY, &bundle.authority_key),
        (CERTIFICATE, &bundle.certificate),
        (KEY, &bundle.key),
    ] {
        let bytes = ByteString(text.as_bytes().to_vec());
        secret.data.insert(key.into(), bytes);
    }
}

//! `AuthorizationFile`: upstream's file of authorizers, followed while the server runs.
//!
//! It is polled, as upstream does in addition to its notifications. A file that cannot be used has
//! no effect, and is logged once. Webhooks may come, go and change; the modes Node and RBAC can
//! only be used if they were among those of the start.

use crate::followed_file::FollowedFile;
use crate::remote_kubeconfig::{RemoteKubeconfigError, read_remote_kubeconfig};
use kubist_apimachinery::with_causes;
use kubist_apiserver::{
    Authorization, AuthorizationMode, AuthorizationWebhook, ReviewVersion, WebhookAuthorizer,
    WebhookAuthorizerError,
};
use kubist_authorization::{
    AlwaysAllow, AlwaysDeny, AuthorizationConfiguration, AuthorizationConfigurationError,
    AuthorizerConfiguration, WebhookConfiguration,
};
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A followed file of authorizers.
#[derive(Clone, Debug)]
pub struct AuthorizationFile {
    file: FollowedFile,
    look_every: Duration,
}

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorizationFileError {
    /// It cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Its contents cannot be used.
    #[error("cannot use {}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: AuthorizationConfigurationError,
    },
}

/// Why the webhook of an authorizer cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorizationModeError {
    /// Its kubeconfig does not describe one.
    #[error("the kubeconfig {file} of the authorization webhook {webhook}")]
    Kubeconfig {
        /// The name of the webhook.
        webhook: String,
        /// The kubeconfig.
        file: String,
        /// The cause.
        source: RemoteKubeconfigError,
    },
    /// It cannot be called as it is described.
    #[error("the authorization webhook {webhook}")]
    Webhook {
        /// The name of the webhook.
        webhook: String,
        /// The cause.
        source: WebhookAuthorizerError,
    },
}

impl AuthorizationFile {
    /// Upstream's polling interval.
    pub const LOOK_EVERY: Duration = Duration::from_secs(60);

    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read or used.
    pub fn read(path: &Path) -> Result<(Self, AuthorizationConfiguration), AuthorizationFileError> {
        let file = FollowedFile::read(path).map_err(|source| AuthorizationFileError::Read {
            path: path.to_owned(),
            source,
        })?;
        let configuration = AuthorizationConfiguration::parse(file.text());
        let configuration = configuration.map_err(|source| AuthorizationFileError::Invalid {
            path: path.to_owned(),
            source,
        })?;
        let followed = Self {
            file,
            look_every: Self::LOOK_EVERY,
        };
        Ok((followed, configuration))
    }

    /// Polls it at another interval.
    #[must_use]
    pub fn look_every(self, look_every: Duration) -> Self {
        Self { look_every, ..self }
    }

    /// Polls the file; never returns.
    pub(crate) async fn follow(mut self, authorization: Authorization) {
        loop {
            tokio::time::sleep(self.look_every).await;
            let looked = self.look(&authorization).await;
            let file = self.file.path().display();
            match looked {
                Ok(false) => {}
                Ok(true) => tracing::info!(%file, "the authorization configuration was reloaded"),
                Err(error) => {
                    let why = with_causes(&*error);
                    tracing::error!(
                        %file,
                        %why,
                        "the authorization configuration is unusable; the previous one stays in \
                         effect"
                    );
                }
            }
        }
    }

    /// Reports whether the file has changed and was used.
    async fn look(
        &mut self,
        authorization: &Authorization,
    ) -> Result<bool, Box<dyn Error + Send + Sync>> {
        let Some(text) = self.file.changed().await? else {
            return Ok(false);
        };
        let parsed = AuthorizationConfiguration::parse(&text);
        self.file.settle(text);
        authorization.replace(authorization_modes(parsed?.authorizers)?)?;
        Ok(true)
    }
}

/// Returns what decides in the modes of a file, in their order.
///
/// # Errors
/// A webhook cannot be used.
pub fn authorization_modes(
    authorizers: impl IntoIterator<Item = AuthorizerConfiguration>,
) -> Result<Vec<AuthorizationMode>, AuthorizationModeError> {
    let modes = authorizers.into_iter().map(|authorizer| {
        Ok(match authorizer {
            AuthorizerConfiguration::AlwaysAllow => AuthorizationMode::Other(Arc::new(AlwaysAllow)),
            AuthorizerConfiguration::Node => AuthorizationMode::Node,
            AuthorizerConfiguration::Rbac => AuthorizationMode::Rbac,
            AuthorizerConfiguration::Webhook(webhook) => {
                AuthorizationMode::Other(Arc::new(webhook_authorizer(webhook)?))
            }
            // What is not known yet allows nothing.
            _ => AuthorizationMode::Other(Arc::new(AlwaysDeny)),
        })
    });
    modes.collect()
}

fn webhook_authorizer(
    webhook: WebhookConfiguration,
) -> Result<WebhookAuthorizer, AuthorizationModeError> {
    let service = read_remote_kubeconfig(Path::new(&webhook.kube_config_file));
    let service = service.map_err(|source| AuthorizationModeError::Kubeconfig {
        webhook: webhook.name.clone(),
        file: webhook.kube_config_file.clone(),
        source,
    })?;
    let version = if webhook.version == "v1" {
        ReviewVersion::V1
    } else {
        ReviewVersion::V1Beta1
    };
    let authorizer = WebhookAuthorizer::new(AuthorizationWebhook {
        service,
        version,
        authorized_ttl: webhook.authorized_ttl,
        unauthorized_ttl: webhook.unauthorized_ttl,
        timeout: webhook.timeout,
        failure_policy: webhook.failure_policy,
        match_conditions: Arc::new(webhook.match_conditions),
    });
    authorizer.map_err(|source| AuthorizationModeError::Webhook {
        webhook: webhook.name,
        source,
    })
}

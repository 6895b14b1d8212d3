//! `infer`: a client from wherever the configuration is.

use kubist_client::Client;
use kubist_kubeconfig::{Environment, KubeconfigError, Options};
use kubist_transport::{ConfigError, Transport};

/// Why there is no client.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InferError {
    /// No usable configuration.
    #[error(transparent)]
    Kubeconfig(#[from] KubeconfigError),
    /// The configuration cannot be used for connections.
    #[error("the configuration cannot be used")]
    Transport(#[from] ConfigError),
}

/// A client of the cluster that kubectl would talk to: that of the files in `KUBECONFIG`, else of
/// `$HOME/.kube/config`, else of the service account of this Pod.
///
/// Connects when it is first used. Needs a tokio runtime from then on.
///
/// # Errors
/// There is no configuration, or it is not usable.
pub fn infer() -> Result<Client, InferError> {
    infer_with(&Options::default())
}

/// As [`infer`], of a file, context, cluster, user or namespace of the caller's choice.
///
/// # Errors
/// There is no configuration, or it is not usable.
pub fn infer_with(options: &Options) -> Result<Client, InferError> {
    let found = kubist_kubeconfig::infer(options, &Environment::current())?;
    let config = kubist_client::Config {
        default_namespace: found.namespace.into(),
        ..kubist_client::Config::default()
    };
    Ok(Client::new(Transport::new(found.transport)?, config))
}

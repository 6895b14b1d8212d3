//! `infer`: a client from the ambient configuration.

use kubist_client::Client;
use kubist_kubeconfig::{Environment, KubeconfigError, Options};
use kubist_transport::{ConfigError, Transport};

/// Why there is no client.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InferError {
    /// There is no usable configuration.
    #[error(transparent)]
    Kubeconfig(#[from] KubeconfigError),
    /// The configuration cannot be used for connections.
    #[error("the configuration cannot be used")]
    Transport(#[from] ConfigError),
}

/// Returns a client of the cluster that kubectl would use: from the files in `KUBECONFIG`, else
/// from `$HOME/.kube/config`, else from the service account of this Pod.
///
/// It connects on first use, which needs a tokio runtime.
///
/// # Errors
/// There is no usable configuration.
pub fn infer() -> Result<Client, InferError> {
    infer_with(&Options::default())
}

/// Like [`infer`], with a given file, context, cluster, user or namespace.
///
/// # Errors
/// There is no usable configuration.
pub fn infer_with(options: &Options) -> Result<Client, InferError> {
    let found = kubist_kubeconfig::infer(options, &Environment::current())?;
    let config = kubist_client::Config {
        default_namespace: found.namespace.into(),
        ..kubist_client::Config::default()
    };
    Ok(Client::new(Transport::new(found.transport)?, config))
}

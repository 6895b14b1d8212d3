//! The options that name a cluster, and the client for it.

use clap::Args;
use kubist::InferError;
use kubist_client::Client;
use kubist_kubeconfig::{KubeconfigError, Selection};
use std::error::Error;
use std::path::PathBuf;

/// Advice without a cluster.
const ADVICE: &str = "name a file with --kubeconfig or KUBECONFIG (`kubist serve` writes one)";

#[derive(Args, Debug)]
pub(super) struct ClusterOptions {
    /// The kubeconfig file
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The kubeconfig context
    #[arg(long)]
    context: Option<String>,
}

impl ClusterOptions {
    /// Returns a client of the configured cluster.
    pub(super) fn connect(&self) -> Result<Client, Box<dyn Error>> {
        let found = kubist::infer_with(&kubist_kubeconfig::Options {
            file: self.kubeconfig.clone(),
            selection: Selection {
                context: self.context.clone(),
                ..Selection::default()
            },
        });
        found.map_err(|error| match &error {
            InferError::Kubeconfig(KubeconfigError::NotFound { .. }) => {
                format!("{error}; {ADVICE}").into()
            }
            InferError::Kubeconfig(KubeconfigError::NoContext { known }) if known.is_empty() => {
                format!("the kubeconfig has no contexts; {ADVICE}").into()
            }
            _ => error.into(),
        })
    }

    /// Returns the name of the context, or the server's address if there is no context.
    pub(super) fn name(&self, client: &Client) -> String {
        let current = || {
            let environment = kubist_kubeconfig::Environment::current();
            let found = kubist_kubeconfig::load(self.kubeconfig.as_deref(), &environment).ok()?;
            Some(found.current_context).filter(|it| !it.is_empty())
        };
        let name = self.context.clone().or_else(current);
        name.unwrap_or_else(|| client.transport().server())
    }
}

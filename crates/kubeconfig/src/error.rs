//! What is wrong with a configuration, and where.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Why there is no usable configuration.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum KubeconfigError {
    /// A file exists and cannot be read, or was asked for by name and does not exist.
    #[error("cannot read kubeconfig {path:?}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Arc<io::Error>,
    },
    /// A file is too long to be a kubeconfig.
    #[error("kubeconfig {path:?} is longer than {limit} bytes")]
    TooLong {
        /// The file.
        path: PathBuf,
        /// What is allowed.
        limit: u64,
    },
    /// A file is not YAML, or not that of a kubeconfig.
    #[error("kubeconfig {path:?} line {line} column {column} is not valid")]
    Parse {
        /// The file.
        path: PathBuf,
        /// From 1; 0 if unknown.
        line: u64,
        /// From 1; 0 if unknown.
        column: u64,
        /// What the parser says.
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// No context was chosen and none is the current one.
    #[error("no context is chosen: set current-context, or name one; {}", there_are(.known))]
    NoContext {
        /// The contexts there are.
        known: Vec<String>,
    },
    /// A name that leads nowhere.
    #[error("{kind} {name:?} does not exist; {}", there_are(.known))]
    Unknown {
        /// `context`, `cluster` or `user`.
        kind: &'static str,
        /// The name.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A value that cannot be used.
    #[error("{place} in kubeconfig {path:?} {problem}")]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Where in it, such as `clusters[prod].server`.
        place: String,
        /// What is wrong with it.
        problem: String,
    },
    /// This process does not run in a Pod with a service account.
    #[error("not in a cluster: {problem}")]
    NotInCluster {
        /// What is missing.
        problem: String,
    },
    /// There is no configuration anywhere.
    #[error("no configuration found: none of {tried:?} exists, and {not_in_cluster}")]
    NotFound {
        /// The files that were looked for.
        tried: Vec<PathBuf>,
        /// Why it is not an in-cluster configuration.
        not_in_cluster: String,
    },
    /// A file cannot be written.
    #[error("cannot write kubeconfig {path:?}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Arc<io::Error>,
    },
}

/// The names there are, or that there is none.
fn there_are(known: &[String]) -> String {
    if known.is_empty() {
        return "there is none".to_owned();
    }
    format!("there are {known:?}")
}

//! Configuration errors, with file and position.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Why there is no valid configuration.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum KubeconfigError {
    /// A file cannot be read, or was requested by name and does not exist.
    #[error("cannot read kubeconfig {path:?}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: Arc<io::Error>,
    },
    /// A file is too long to be a kubeconfig.
    #[error("kubeconfig {path:?} is longer than {limit} bytes")]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// A file is not valid YAML, or not a kubeconfig.
    #[error("kubeconfig {path:?} line {line} column {column} is not valid")]
    Parse {
        /// The file.
        path: PathBuf,
        /// Counted from 1; 0 if unknown.
        line: u64,
        /// Counted from 1; 0 if unknown.
        column: u64,
        /// The parser's error.
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// No context is selected, and there is no current one.
    #[error("no context is chosen: set current-context, or name one; {}", there_are(.known))]
    NoContext {
        /// The existing contexts.
        known: Vec<String>,
    },
    /// A name does not exist.
    #[error("{kind} {name:?} does not exist; {}", there_are(.known))]
    Unknown {
        /// `context`, `cluster` or `user`.
        kind: &'static str,
        /// The name.
        name: String,
        /// The existing names.
        known: Vec<String>,
    },
    /// A value is invalid.
    #[error("{place} in kubeconfig {path:?} {problem}")]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The position, such as `clusters[prod].server`.
        place: String,
        /// The problem.
        problem: String,
    },
    /// This process does not run in a Pod with a service account.
    #[error("not in a cluster: {problem}")]
    NotInCluster {
        /// The missing part.
        problem: String,
    },
    /// No configuration was found.
    #[error("no configuration found: none of {tried:?} exists, and {not_in_cluster}")]
    NotFound {
        /// The files that were tried.
        tried: Vec<PathBuf>,
        /// Why there is no in-cluster configuration.
        not_in_cluster: String,
    },
    /// A file cannot be written.
    #[error("cannot write kubeconfig {path:?}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: Arc<io::Error>,
    },
}

/// Lists the existing names, or reports that there are none.
fn there_are(known: &[String]) -> String {
    if known.is_empty() {
        return "there is none".to_owned();
    }
    format!("there are {known:?}")
}

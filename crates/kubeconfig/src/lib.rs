//! Client configuration: the API server, how to verify it, and the credentials.
//!
//! [`infer`] follows the conventions of Kubernetes programs: an explicit file, else the files in
//! `KUBECONFIG`, else `$HOME/.kube/config`, else the service account of the Pod. The steps are
//! available separately: [`Kubeconfig`] parses and merges files, [`Kubeconfig::select`] makes a
//! [`kubist_transport::Config`] from a context, [`in_cluster`] from a service account, and
//! [`NewKubeconfig`] writes a file.
//!
//! This is the only crate that reads environment variables, and only those listed at
//! [`Environment::current`]. It is **not** a client: it opens no connections, runs no plugins and
//! never writes to a file that it has read.
//!
//! ```
//! use kubist_kubeconfig::{Environment, Kubeconfig, Selection};
//!
//! let text = "
//! clusters: [{name: c, cluster: {server: 'https://10.0.0.1:6443'}}]
//! users: [{name: u, user: {token: abc}}]
//! contexts: [{name: dev, context: {cluster: c, user: u, namespace: web}}]
//! current-context: dev
//! ";
//! let kubeconfig = Kubeconfig::parse(text, "example.yaml".as_ref())?;
//! let client = kubeconfig.select(&Selection::default(), &Environment::default())?;
//! assert_eq!(client.transport.server.to_string(), "https://10.0.0.1:6443/");
//! assert_eq!(client.namespace, "web");
//! # Ok::<(), kubist_kubeconfig::KubeconfigError>(())
//! ```
//!
//! # Contracts
//!
//! - Merging: for each cluster, user and context the first file that has it wins as a whole; so
//!   does the first non-empty `current-context`.
//! - A relative path is relative to the folder of the file that contains it.
//! - Missing files are not errors, unless one was requested by name. Files that cannot be read or
//!   parsed are errors that name the file and the position.
//! - Credentials are omitted for servers without TLS, as in client-go.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod cluster;
mod environment;
mod error;
mod exec;
mod in_cluster;
mod infer;
mod kubeconfig;
mod merge;
mod new_kubeconfig;
mod proxy;
mod select;
mod user;

pub use environment::Environment;
pub use error::KubeconfigError;
pub use in_cluster::in_cluster;
pub use infer::{Options, infer, load};
pub use kubeconfig::{
    Cluster, Context, EnvVar, Exec, Extension, Kubeconfig, NamedCluster, NamedContext, NamedUser,
    User,
};
pub use new_kubeconfig::{NewKubeconfig, NewUser};
pub use select::{ClientConfig, Selection};

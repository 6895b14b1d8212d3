//! Client configuration: where the API server is, who it must be, and who we are.
//!
//! [`infer`] does what users expect of a Kubernetes program: an explicit file, else the files of
//! `KUBECONFIG`, else `$HOME/.kube/config`, else the service account of the Pod it runs in. The
//! parts can be had alone: [`Kubeconfig`] parses and merges files, [`Kubeconfig::select`] makes a
//! [`kubist_transport::Config`] of a context, [`in_cluster`] of a service account, and
//! [`NewKubeconfig`] writes a file.
//!
//! This is the only crate that reads environment variables, and only those that
//! [`Environment::current`] names. It is **not** a client, opens no connection, runs no plugin, and
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
//!   does the first `current-context` that is not empty.
//! - A relative path is relative to the folder of the file that it is written in.
//! - Missing files are no error, unless one was asked for by name; what cannot be read or parsed
//!   is, and names the file and the place in it.
//! - Credentials are left out for servers without TLS, as client-go does.

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

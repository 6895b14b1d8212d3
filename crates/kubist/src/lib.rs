//! Kubernetes client and API machinery for Rust: the facade.

mod infer;
#[cfg(feature = "server")]
mod server;

pub use kubist_api as api;
pub use kubist_apimachinery as apimachinery;
pub use kubist_cache as cache;
pub use kubist_client as client;
pub use kubist_codec as codec;
pub use kubist_informers as informers;
pub use kubist_kubeconfig as kubeconfig;
pub use kubist_reflector as reflector;
pub use kubist_transport as transport;
pub use kubist_workqueue as workqueue;

pub use infer::{InferError, infer, infer_with};
#[cfg(feature = "server")]
pub use server::{Controller, Server, ServerConfig, ServerError};

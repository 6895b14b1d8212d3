//! `PodStreamError`: why an exec, attach or port forward failed.

use crate::error::ApiError;
use kubist_apimachinery::{Status, Str, with_causes};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Why an exec, attach or port forward failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PodStreamError {
    /// The request was refused, or the connection could not be made.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// The server does not speak WebSocket with the kubelet's channels.
    #[error(
        "the server answered with the protocol {found:?}, and not with WebSocket and \
         v4.channel.k8s.io or v5.channel.k8s.io; SPDY is not supported, which servers before \
         Kubernetes 1.30 may need"
    )]
    Protocol {
        /// The protocol that it chose; empty if it named none.
        found: Str,
    },
    /// The kubelet or the container runtime reported a failure other than an exit code.
    #[error("{}", .0.message)]
    Failed(Box<Status>),
    /// The connection ended before the result was known: the process may still run.
    #[error("the connection ended before the process did")]
    Ended,
    /// Nothing was heard from the server for this long, not even an answer to a ping.
    #[error("nothing was heard from the server for {limit:?}")]
    Timeout {
        /// The limit.
        limit: Duration,
    },
    /// The connection broke.
    #[error("the connection broke: {}", with_causes(&**.0))]
    Io(#[source] Arc<io::Error>),
    /// The server sent something that is not in the protocol.
    #[error("the server does not keep to the protocol: {reason}")]
    Malformed {
        /// What is wrong.
        reason: String,
    },
    /// The remote side could not connect to the port.
    #[error("port {port}: {reason}")]
    Port {
        /// The port.
        port: u16,
        /// The kubelet's message.
        reason: String,
    },
}

impl From<io::Error> for PodStreamError {
    fn from(error: io::Error) -> Self {
        Self::Io(Arc::new(error))
    }
}

//! `RemoteService`: where a service outside of the cluster is, as its kubeconfig describes it.

use crate::certificates::Identity;
use std::fmt;

/// Where a service outside of the cluster is, and how it and the server know each other: what a
/// kubeconfig says.
#[derive(Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct RemoteService {
    /// Its URL, `https` or `http`. Requests are posted to exactly this one.
    pub url: String,
    /// The authorities of its certificate, in PEM; empty for those of the operating system.
    pub ca_pem: String,
    /// Whether any certificate is accepted. Default: no.
    pub insecure: bool,
    /// The name in its certificate; empty for the host of the URL.
    pub tls_server_name: String,
    /// The certificate of the server as a client.
    pub identity: Option<Identity>,
    /// The header `Authorization` of requests. This is a secret.
    pub authorization: Option<String>,
}

/// Omits the credentials.
impl fmt::Debug for RemoteService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteService")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

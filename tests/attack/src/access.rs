//! `Access`: the address and credentials of a server, from its kubeconfig.

use crate::Outcome;
use base64::Engine as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use serde_json::Value;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// The time limit for a connection and its handshake.
const DIAL_LIMIT: Duration = Duration::from_secs(10);

/// The identity of a client.
#[derive(Clone, Debug)]
pub(crate) enum Who {
    /// The administrator, with a client certificate.
    Administrator,
    /// A service account, with a token: limits apply to it.
    Account(Arc<str>),
}

/// How to reach a server.
#[derive(Debug)]
pub(crate) struct Access {
    /// Its address.
    pub(crate) address: SocketAddr,
    /// TLS with the administrator's certificate.
    administrator: ClientConfig,
    /// TLS without a client certificate.
    anybody: ClientConfig,
}

impl Access {
    /// Reads a kubeconfig with one cluster and one user.
    pub(crate) fn read(path: &Path) -> Outcome<Self> {
        Self::parse(&std::fs::read_to_string(path)?)
    }

    fn parse(text: &str) -> Outcome<Self> {
        let config: Value = serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
        let cluster = &config["clusters"][0]["cluster"];
        let user = &config["users"][0]["user"];
        let url = cluster["server"].as_str().unwrap_or_default();
        let host = url.strip_prefix("https://");
        let host = host.ok_or_else(|| format!("{url:?} is no https URL"))?;
        let roots = pem(cluster, "certificate-authority-data")?;
        let mut store = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&roots) {
            store.add(certificate?)?;
        }
        let chain = pem(user, "client-certificate-data")?;
        let chain = CertificateDer::pem_slice_iter(&chain).collect::<Result<Vec<_>, _>>()?;
        let key = PrivateKeyDer::from_pem_slice(&pem(user, "client-key-data")?)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(store);
        Ok(Self {
            address: host.trim_end_matches('/').parse()?,
            anybody: builder.clone().with_no_client_auth(),
            administrator: builder.with_client_auth_cert(chain, key)?,
        })
    }

    /// Opens a TLS connection with this protocol: `h2` or `http/1.1`.
    pub(crate) async fn dial(&self, who: &Who, alpn: &str) -> Outcome<TlsStream<TcpStream>> {
        let mut config = match who {
            Who::Administrator => self.administrator.clone(),
            Who::Account(_) => self.anybody.clone(),
        };
        config.alpn_protocols = vec![alpn.as_bytes().to_vec()];
        let connector = TlsConnector::from(Arc::new(config));
        let name = ServerName::from(self.address.ip());
        let dialled = async {
            let stream = TcpStream::connect(self.address).await?;
            stream.set_nodelay(true)?;
            connector.connect(name, stream).await
        };
        match tokio::time::timeout(DIAL_LIMIT, dialled).await {
            Ok(stream) => Ok(stream?),
            Err(_) => Err(format!("no connection in {DIAL_LIMIT:?}").into()),
        }
    }
}

/// Decodes a field that holds PEM in base64.
fn pem(of: &Value, field: &str) -> Outcome<Vec<u8>> {
    let text = of[field].as_str();
    let text = text.ok_or_else(|| format!("the kubeconfig has no {field}"))?;
    Ok(base64::engine::general_purpose::STANDARD.decode(text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kubeconfig_without_what_is_needed_says_what() {
        let text = "clusters: [{cluster: {server: 'https://127.0.0.1:1'}}]\nusers: []\n";
        let error = Access::parse(text).unwrap_err().to_string();
        assert_eq!(error, "the kubeconfig has no certificate-authority-data");
        let error = Access::parse("clusters: [{cluster: {server: 'http://x'}}]").unwrap_err();
        assert_eq!(error.to_string(), "\"http://x\" is no https URL");
    }
}

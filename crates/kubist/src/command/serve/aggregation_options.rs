//! Options of the servers behind `APIService`s, under upstream's names.

use super::pem_files;
use clap::{ArgAction, Args};
use kubist::apiserver::{AggregationConfig, CertificateAuthority, RequestHeader};
use kubist::authentication::RequestHeaders;
use std::error::Error;
use std::path::PathBuf;

/// The name in the certificate of forwarded requests, as kubeadm names it.
const PROXY: &str = "front-proxy-client";
const AUTHORITY: &str = "kubist-front-proxy-ca";

#[derive(Args, Debug)]
pub(super) struct AggregationOptions {
    /// The client certificate for the servers of API services, as PEM; by default none, or, if
    /// everything is in memory and --requestheader-client-ca-file is not given, one that the server
    /// makes when it starts
    #[arg(
        id = "proxy_certificate",
        long = "proxy-client-cert-file",
        value_name = "FILE",
        requires = "proxy_key"
    )]
    certificate: Option<PathBuf>,
    /// The key of that certificate, as PEM
    #[arg(
        id = "proxy_key",
        long = "proxy-client-key-file",
        value_name = "FILE",
        requires = "proxy_certificate"
    )]
    key: Option<PathBuf>,
    /// Refuse redirects of the servers of API services
    #[arg(
        long = "aggregator-reject-forwarding-redirect",
        value_name = "BOOL",
        default_value_t = true,
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        action = ArgAction::Set
    )]
    rejects_redirects: bool,
}

impl AggregationOptions {
    /// Returns how the servers of API services are reached. `proxies` are those that this server
    /// believes, and says that others may believe. A store that outlives the process would remember
    /// the authority of each start, so only one that does not gets an authority of its own.
    ///
    /// # Errors
    /// A file cannot be used, or no certificate can be made.
    pub(super) fn config(
        &self,
        proxies: &mut Option<RequestHeader>,
        in_memory: bool,
    ) -> Result<AggregationConfig, Box<dyn Error>> {
        let mut config = AggregationConfig {
            rejects_redirects: self.rejects_redirects,
            ..AggregationConfig::default()
        };
        if let (Some(certificate), Some(key)) = (&self.certificate, &self.key) {
            config.identity = Some(pem_files::identity(certificate, key)?);
        } else if proxies.is_none() && in_memory {
            let authority = CertificateAuthority::new(AUTHORITY)?;
            config.identity = Some(authority.client_identity(PROXY, None)?);
            *proxies = Some(RequestHeader {
                authorities: vec![authority.certificate()],
                authorities_pem: authority.certificate_pem(),
                allowed_names: vec![PROXY.to_owned()],
                headers: RequestHeaders::standard(),
            });
        }
        Ok(config)
    }
}

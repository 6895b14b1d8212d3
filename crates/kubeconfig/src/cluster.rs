//! Conversion of a cluster entry into a transport's server, trust and proxy.

use crate::environment::Environment;
use crate::error::KubeconfigError;
use crate::kubeconfig::NamedCluster;
use crate::proxy;
use crate::select::Entry;
use kubist_transport::{Config, Verify};

impl NamedCluster {
    pub(crate) fn entry(&self) -> Entry<'_> {
        Entry {
            list: "clusters",
            name: &self.name,
            origin: &self.origin,
        }
    }
}

/// Returns the anonymous configuration for a cluster. If the address has no scheme,
/// `has_certificate` (of the user) selects TLS.
pub(crate) fn configure(
    named: &NamedCluster,
    has_certificate: bool,
    environment: &Environment,
) -> Result<Config, KubeconfigError> {
    let (entry, cluster) = (named.entry(), &named.cluster);
    let data = &cluster.certificate_authority_data;
    let authority = entry.pem(
        "certificate-authority",
        data,
        &cluster.certificate_authority,
    )?;
    if authority.is_some() && cluster.insecure_skip_tls_verify {
        let problem = "cannot be true beside a certificate authority";
        return Err(entry.invalid("insecure-skip-tls-verify", problem));
    }
    if cluster.server.is_empty() {
        return Err(entry.invalid("server", "is missing"));
    }
    let tls = has_certificate || authority.is_some() || cluster.insecure_skip_tls_verify;
    let server = if cluster.server.contains("://") {
        cluster.server.clone()
    } else {
        format!(
            "{}://{}",
            if tls { "https" } else { "http" },
            cluster.server
        )
    };
    let not_a_url = || entry.invalid("server", format!("is {:?}, not a URL", cluster.server));
    let mut transport = Config::new(server.parse().map_err(|_| not_a_url())?);
    if !matches!(transport.server.scheme_str(), Some("http" | "https"))
        || transport.server.host().is_none_or(str::is_empty)
    {
        return Err(not_a_url());
    }

    transport.tls.verify = match authority {
        Some(pem) => Verify::Authorities(pem),
        None if cluster.insecure_skip_tls_verify => Verify::Nothing,
        None => Verify::System,
    };
    let name = &cluster.tls_server_name;
    transport.tls.server_name = Some(name.clone()).filter(|name| !name.is_empty());
    transport.accept_gzip = !cluster.disable_compression;
    transport.proxy = if cluster.proxy_url.is_empty() {
        proxy::from_environment(&transport, environment)
    } else {
        let proxy = cluster
            .proxy_url
            .parse()
            .map_err(|error| entry.invalid("proxy-url", format!("cannot be used: {error}")))?;
        Some(proxy)
    };
    Ok(transport)
}

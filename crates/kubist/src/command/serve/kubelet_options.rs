//! Options of the connections to kubelets, under upstream's names.

use super::pem_files::{identity, read};
use super::values;
use clap::Args;
use kubist::apiserver::{Backends, read_certificates};
use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

/// The addresses that a node may have.
const TYPES: [&str; 5] = [
    "Hostname",
    "InternalDNS",
    "InternalIP",
    "ExternalDNS",
    "ExternalIP",
];

#[derive(Args, Debug)]
pub(super) struct KubeletOptions {
    /// The authorities of the kubelets' certificates, as PEM; without them, these are not verified
    #[arg(long = "kubelet-certificate-authority", value_name = "FILE")]
    authority: Option<PathBuf>,
    /// The client certificate for kubelets, as PEM
    #[arg(
        long = "kubelet-client-certificate",
        value_name = "FILE",
        requires = "key"
    )]
    certificate: Option<PathBuf>,
    /// The key of that certificate, as PEM
    #[arg(
        id = "key",
        long = "kubelet-client-key",
        value_name = "FILE",
        requires = "certificate"
    )]
    key: Option<PathBuf>,
    /// Which address of a node leads to its kubelet: the first of these that it has
    #[arg(
        long = "kubelet-preferred-address-types",
        value_name = "TYPE,...",
        value_delimiter = ',',
        default_value = "Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP",
        value_parser = TYPES
    )]
    address_types: Vec<String>,
    /// How long a connection to a kubelet may take to be there; 0 for the system's limit, 30 s
    #[arg(
        long = "kubelet-timeout",
        value_name = "DURATION",
        default_value = "5s",
        value_parser = values::duration,
        allow_hyphen_values = true
    )]
    timeout: Duration,
}

impl KubeletOptions {
    /// Returns how kubelets are connected to.
    ///
    /// # Errors
    /// A file cannot be used.
    pub(super) fn backends(&self) -> Result<Backends, Box<dyn Error>> {
        let mut backends = Backends {
            kubelet_address_types: self.address_types.clone(),
            kubelet_timeout: Some(self.timeout).filter(|it| !it.is_zero()),
            ..Backends::default()
        };
        if let Some(path) = &self.authority {
            let text = read(path)?;
            let shown = path.display();
            read_certificates(&text).map_err(|error| format!("{shown}: {error}"))?;
            backends.kubelet_ca_pem = text;
        }
        if let (Some(certificate), Some(key)) = (&self.certificate, &self.key) {
            backends.kubelet_identity = Some(identity(certificate, key)?);
        }
        Ok(backends)
    }
}

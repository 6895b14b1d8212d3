//! Options of certificates.

use super::super::WrongUsage;
use clap::{ArgAction, Args};
use kubist::read_regular_file;
use kubist_apimachinery::with_causes;
use kubist_etcd::Tls;
use std::error::Error;
use std::path::{Path, PathBuf};

/// Maximum bytes of a certificate file.
const FILE_BYTES_MAX: u64 = 1 << 20;

#[derive(Args, Debug)]
pub(super) struct TlsOptions {
    /// The PEM file of the server's certificate, for https URLs
    #[arg(long, value_name = "FILE", requires = "key_file")]
    cert_file: Option<PathBuf>,
    /// The PEM file of its key
    #[arg(long, value_name = "FILE", requires = "cert_file")]
    key_file: Option<PathBuf>,
    /// The PEM file of the authorities of clients' certificates
    #[arg(long, value_name = "FILE")]
    trusted_ca_file: Option<PathBuf>,
    /// Require a certificate of clients; implied by --trusted-ca-file
    #[arg(
        long,
        value_name = "BOOL",
        default_value_t = false,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        action = ArgAction::Set
    )]
    client_cert_auth: bool,
}

impl TlsOptions {
    /// Reads the files.
    pub(super) fn tls(&self) -> Result<Option<Tls>, Box<dyn Error>> {
        let authorities = match &self.trusted_ca_file {
            Some(file) => Some(read("--trusted-ca-file", file)?),
            None if self.client_cert_auth => {
                let why = "--client-cert-auth needs --trusted-ca-file";
                return Err(WrongUsage(why.to_owned()).into());
            }
            None => None,
        };
        let (Some(certificate), Some(key)) = (&self.cert_file, &self.key_file) else {
            return Ok(None);
        };
        let certificate = read("--cert-file", certificate)?;
        let key = read("--key-file", key)?;
        let tls = Tls::new(&certificate, &key, authorities.as_deref());
        Ok(Some(tls.map_err(|error| with_causes(&error))?))
    }
}

fn read(option: &str, file: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let bytes = read_regular_file(file, FILE_BYTES_MAX);
    let shown = file.display();
    bytes.map_err(|error| format!("{option}: cannot read {shown}: {error}").into())
}

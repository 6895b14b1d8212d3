//! Options of certificates and keys, named as upstream's.

use clap::Args;
use kubist::ServerKeys;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
pub(super) struct KeyOptions {
    /// The directory of the certificate authority and the token key, which servers may share. With
    /// --data-dir it is DIR/pki
    #[arg(long = "cert-dir", value_name = "DIR")]
    folder: Option<PathBuf>,
    /// The serving certificate and its intermediate certificates, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_private_key_file")]
    tls_cert_file: Option<PathBuf>,
    /// The key of that certificate, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert_file")]
    tls_private_key_file: Option<PathBuf>,
    /// Additional authorities of client certificates, as PEM
    #[arg(long, value_name = "FILE")]
    client_ca_file: Option<PathBuf>,
    /// Additional keys that verify service account tokens, as PEM
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    service_account_key_file: Vec<PathBuf>,
    /// The key that signs service account tokens, as PEM
    #[arg(long, value_name = "FILE")]
    service_account_signing_key_file: Option<PathBuf>,
}

impl KeyOptions {
    pub(super) fn client_ca_file(&self) -> Option<&Path> {
        self.client_ca_file.as_deref()
    }

    pub(super) fn keys(self) -> ServerKeys {
        ServerKeys {
            folder: self.folder,
            tls_cert_file: self.tls_cert_file,
            tls_private_key_file: self.tls_private_key_file,
            client_ca_file: self.client_ca_file,
            service_account_key_files: self.service_account_key_file,
            service_account_signing_key_file: self.service_account_signing_key_file,
        }
    }
}

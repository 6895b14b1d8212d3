//! Options that name certificates and keys, as upstream's.

use std::path::PathBuf;

use clap::Args;
use kubist::ServerKeys;

#[derive(Args, Debug)]
pub(super) struct KeyOptions {
    /// The folder to keep the authority and the key of tokens in; servers may share it. With
    /// --data-dir it is DIR/pki
    #[arg(long = "cert-dir", value_name = "DIR")]
    folder: Option<PathBuf>,
    /// The certificate to show to clients, and those between it and its authority, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_private_key_file")]
    tls_cert_file: Option<PathBuf>,
    /// The key of that certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert_file")]
    tls_private_key_file: Option<PathBuf>,
    /// Authorities whose client certificates are believed beside the own one's, in PEM
    #[arg(long, value_name = "FILE")]
    client_ca_file: Option<PathBuf>,
    /// Keys that verify tokens of service accounts beside the one that signs them, in PEM
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    service_account_key_file: Vec<PathBuf>,
    /// The key that signs tokens of service accounts, in PEM
    #[arg(long, value_name = "FILE")]
    service_account_signing_key_file: Option<PathBuf>,
}

impl KeyOptions {
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

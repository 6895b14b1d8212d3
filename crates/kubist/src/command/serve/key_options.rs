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

/// The serving certificate and its key in a kube-apiserver's directory of certificates.
const UPSTREAM_CERTIFICATE: (&str, &str) = ("apiserver.crt", "apiserver.key");

impl KeyOptions {
    /// Serves with the certificate in the directory, as a kube-apiserver does, unless one was
    /// given.
    pub(super) fn take_serving_certificate(&mut self) {
        let Some(folder) = self.folder.take() else {
            return;
        };
        let (certificate, key) = UPSTREAM_CERTIFICATE;
        let (certificate, key) = (folder.join(certificate), folder.join(key));
        if self.tls_cert_file.is_none() && certificate.is_file() && key.is_file() {
            self.tls_cert_file = Some(certificate);
            self.tls_private_key_file = Some(key);
        } else {
            self.folder = Some(folder);
        }
    }

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

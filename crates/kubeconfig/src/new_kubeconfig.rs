//! Writing a kubeconfig: one server, one user, one context.
//!
//! For a server that tells its users how to reach it. Certificates and keys are embedded, so the
//! file can be moved; it is made readable by its owner only.

use crate::error::KubeconfigError;
use base64::Engine as _;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

/// What to write.
#[derive(Debug, Clone)]
pub struct NewKubeconfig<'a> {
    /// Name of the cluster and of the context; the user is this name with `-admin`.
    pub name: &'a str,
    /// URL of the server.
    pub server: &'a str,
    /// Certificates of its authority, PEM; empty to leave it to the system's.
    pub certificate_authority: &'a str,
    /// The name to ask for and to verify in place of the URL's host; empty for that host.
    pub tls_server_name: &'a str,
    /// Credentials.
    pub user: NewUser<'a>,
    /// Namespace of the context; empty for `default`.
    pub namespace: &'a str,
}

/// Credentials to write.
#[derive(Clone)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the kinds that this project's servers know"
)]
pub enum NewUser<'a> {
    /// A client certificate and its key, both PEM.
    Certificate {
        /// The certificate.
        certificate: &'a str,
        /// The private key.
        key: &'a str,
    },
    /// A bearer token.
    Token(&'a str),
}

impl std::fmt::Debug for NewUser<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Certificate { .. } => "Certificate(***)",
            Self::Token(_) => "Token(***)",
        })
    }
}

impl NewKubeconfig<'_> {
    /// The text of the file.
    pub fn render(&self) -> String {
        let name = quote(self.name);
        let user = quote(&format!("{}-admin", self.name));
        let mut text = String::from("apiVersion: v1\nkind: Config\n");
        let mut line = |line: std::fmt::Arguments<'_>| {
            writeln!(text, "{line}").expect("a string takes what it is given");
        };
        line(format_args!("clusters:\n- name: {name}\n  cluster:"));
        line(format_args!("    server: {}", quote(self.server)));
        if !self.certificate_authority.is_empty() {
            let data = encode(self.certificate_authority);
            line(format_args!("    certificate-authority-data: {data}"));
        }
        if !self.tls_server_name.is_empty() {
            let name = quote(self.tls_server_name);
            line(format_args!("    tls-server-name: {name}"));
        }
        line(format_args!("users:\n- name: {user}\n  user:"));
        match self.user {
            NewUser::Certificate { certificate, key } => {
                line(format_args!(
                    "    client-certificate-data: {}",
                    encode(certificate)
                ));
                line(format_args!("    client-key-data: {}", encode(key)));
            }
            NewUser::Token(token) => line(format_args!("    token: {}", quote(token))),
        }
        line(format_args!("contexts:\n- name: {name}\n  context:"));
        line(format_args!("    cluster: {name}\n    user: {user}"));
        if !self.namespace.is_empty() {
            line(format_args!("    namespace: {}", quote(self.namespace)));
        }
        line(format_args!("current-context: {name}"));
        text
    }

    /// Writes the file, mode 0600, in one step: whoever reads it sees the old one or the new one.
    pub fn write(&self, path: &Path) -> Result<(), KubeconfigError> {
        write_private(path, &self.render()).map_err(|error| KubeconfigError::Write {
            path: path.to_owned(),
            source: Arc::new(error),
        })
    }
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.new", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options
        .open(&beside)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    let moved = written.and_then(|()| std::fs::rename(&beside, path));
    if moved.is_err() {
        // The half-written file has a key in it; that it cannot be removed changes nothing.
        drop(std::fs::remove_file(&beside));
    }
    moved
}

/// A JSON string, which YAML reads as the same string whatever is in it.
fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn encode(pem: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(pem)
}

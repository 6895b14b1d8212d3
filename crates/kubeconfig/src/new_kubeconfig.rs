//! `NewKubeconfig`: writes a kubeconfig with one server, one user and one context.
//!
//! For servers that generate a kubeconfig for their users. Certificates and keys are embedded, so
//! the file can be moved; only its owner can read it.

use crate::error::KubeconfigError;
use base64::Engine as _;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

/// The contents of a new kubeconfig.
#[derive(Debug, Clone)]
pub struct NewKubeconfig<'a> {
    /// The name of the cluster and the context; the user gets this name with `-admin`.
    pub name: &'a str,
    /// The server URL.
    pub server: &'a str,
    /// The authority certificates, PEM; empty for the system's authorities.
    pub certificate_authority: &'a str,
    /// The name to request and verify instead of the URL's host; empty for that host.
    pub tls_server_name: &'a str,
    /// The credentials.
    pub user: NewUser<'a>,
    /// The namespace of the context; empty for `default`.
    pub namespace: &'a str,
}

/// The credentials in a new kubeconfig.
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
    /// Returns the text of the file.
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

    /// Writes the file atomically with mode 0600, replacing an existing file or symbolic link.
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
    // An existing file would keep its mode, and a symbolic link would be followed.
    match std::fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&beside)?;
    let written = file.write_all(text.as_bytes());
    drop(file);
    let moved = written.and_then(|()| std::fs::rename(&beside, path));
    if moved.is_err() {
        // The partial file contains a key; failing to remove it changes nothing about the error.
        drop(std::fs::remove_file(&beside));
    }
    moved
}

/// Returns a JSON string, which YAML parses as the same string, whatever it contains.
fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn encode(pem: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(pem)
}

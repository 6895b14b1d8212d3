//! The file format: what a kubeconfig says, word for word.
//!
//! Fields are upstream's; an absent one, a `null` and an empty one are the same. Fields that are
//! not known are ignored, as kubectl does. What the entries mean is in `select`.

use crate::error::KubeconfigError;
use kubist_transport::Secret;
use serde::{Deserialize, Deserializer};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Longest file that is read, in bytes. Real ones with hundreds of clusters stay below 2 MiB.
const FILE_MAX: u64 = 16 << 20;

/// One kubeconfig file, or several merged.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Kubeconfig {
    /// Servers.
    #[serde(deserialize_with = "nullable")]
    pub clusters: Vec<NamedCluster>,
    /// Credentials.
    #[serde(deserialize_with = "nullable")]
    pub users: Vec<NamedUser>,
    /// Pairs of a cluster and a user.
    #[serde(deserialize_with = "nullable")]
    pub contexts: Vec<NamedContext>,
    /// Context that is used if none is named.
    #[serde(rename = "current-context", deserialize_with = "nullable")]
    pub current_context: String,
}

impl Kubeconfig {
    /// Parses the text of a file; `path` is named in errors, and its folder is what relative paths
    /// in it are relative to.
    pub fn parse(text: &str, path: &Path) -> Result<Self, KubeconfigError> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let options = serde_saphyr::options! {
            duplicate_keys: serde_saphyr::DuplicateKeyPolicy::LastWins,
            with_snippet: false,
        };
        let parsed: Result<Option<Self>, _> = serde_saphyr::from_str_with_options(text, options);
        let mut config = match parsed {
            Ok(config) => config.unwrap_or_default(),
            Err(error) => {
                let location = error.location();
                return Err(KubeconfigError::Parse {
                    path: path.to_owned(),
                    line: location.map_or(0, |location| location.line()),
                    column: location.map_or(0, |location| location.column()),
                    source: Arc::new(error),
                });
            }
        };
        config.set_origin(path);
        Ok(config)
    }

    /// Reads and parses a file.
    pub fn read(path: &Path) -> Result<Self, KubeconfigError> {
        match read_text(path) {
            Ok(Some(text)) => Self::parse(&text, path),
            Ok(None) => Err(KubeconfigError::TooLong {
                path: path.to_owned(),
                limit: FILE_MAX,
            }),
            Err(error) => Err(KubeconfigError::Read {
                path: path.to_owned(),
                source: Arc::new(error),
            }),
        }
    }

    /// Whether it says nothing at all.
    pub fn is_empty(&self) -> bool {
        self.clusters.is_empty()
            && self.users.is_empty()
            && self.contexts.is_empty()
            && self.current_context.is_empty()
    }

    fn set_origin(&mut self, path: &Path) {
        let origins = (self.clusters.iter_mut().map(|named| &mut named.origin))
            .chain(self.users.iter_mut().map(|named| &mut named.origin))
            .chain(self.contexts.iter_mut().map(|named| &mut named.origin));
        for origin in origins {
            path.clone_into(origin);
        }
    }
}

/// `None` if the file is too long.
fn read_text(path: &Path) -> io::Result<Option<String>> {
    let mut text = String::new();
    File::open(path)?
        .take(FILE_MAX + 1)
        .read_to_string(&mut text)?;
    Ok(Some(text).filter(|text| text.len() as u64 <= FILE_MAX))
}

/// A server under a name.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct NamedCluster {
    /// What contexts call it.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The server.
    #[serde(deserialize_with = "nullable")]
    pub cluster: Cluster,
    /// File that it is from.
    #[serde(skip)]
    pub origin: PathBuf,
}

/// How to reach a server and know it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Cluster {
    /// URL; without a scheme it is `https` if anything about TLS is said, else `http`.
    #[serde(deserialize_with = "nullable")]
    pub server: String,
    /// Name to verify instead of the server's.
    #[serde(deserialize_with = "nullable")]
    pub tls_server_name: String,
    /// Accept any certificate.
    #[serde(deserialize_with = "nullable")]
    pub insecure_skip_tls_verify: bool,
    /// File with the authority's certificates.
    #[serde(deserialize_with = "nullable")]
    pub certificate_authority: String,
    /// The certificates themselves, PEM in base64; wins over the file.
    #[serde(deserialize_with = "nullable")]
    pub certificate_authority_data: String,
    /// Proxy: `http`, `https` or `socks5`.
    #[serde(deserialize_with = "nullable")]
    pub proxy_url: String,
    /// Ask for no gzip.
    #[serde(deserialize_with = "nullable")]
    pub disable_compression: bool,
    /// Anything else; one of them is handed to plugins.
    #[serde(deserialize_with = "nullable")]
    pub extensions: Vec<Extension>,
}

/// Data under a name that is nobody's business but its reader's.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Extension {
    /// The name.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The data.
    pub extension: serde_json::Value,
}

/// Credentials under a name.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct NamedUser {
    /// What contexts call it.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The credentials.
    #[serde(deserialize_with = "nullable")]
    pub user: User,
    /// File that it is from.
    #[serde(skip)]
    pub origin: PathBuf,
}

/// Credentials, and whom to act as.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct User {
    /// File with the client certificate.
    #[serde(deserialize_with = "nullable")]
    pub client_certificate: String,
    /// The certificate itself, PEM in base64; wins over the file.
    #[serde(deserialize_with = "nullable")]
    pub client_certificate_data: String,
    /// File with the private key.
    #[serde(deserialize_with = "nullable")]
    pub client_key: String,
    /// The key itself, PEM in base64; wins over the file.
    #[serde(deserialize_with = "secret")]
    pub client_key_data: Secret,
    /// Bearer token.
    #[serde(deserialize_with = "secret")]
    pub token: Secret,
    /// File with a bearer token; wins over `token`.
    #[serde(rename = "tokenFile", deserialize_with = "nullable")]
    pub token_file: String,
    /// User to act as.
    #[serde(rename = "as", deserialize_with = "nullable")]
    pub impersonate: String,
    /// Its id.
    #[serde(rename = "as-uid", deserialize_with = "nullable")]
    pub impersonate_uid: String,
    /// Its groups.
    #[serde(rename = "as-groups", deserialize_with = "nullable")]
    pub impersonate_groups: Vec<String>,
    /// Its further attributes.
    #[serde(rename = "as-user-extra", deserialize_with = "nullable")]
    pub impersonate_extra: std::collections::BTreeMap<String, Vec<String>>,
    /// User name for basic authentication.
    #[serde(deserialize_with = "nullable")]
    pub username: String,
    /// Password for basic authentication.
    #[serde(deserialize_with = "secret")]
    pub password: Secret,
    /// A mechanism that upstream has removed; kept to name it in the error.
    pub auth_provider: Option<serde_json::Value>,
    /// A command that prints credentials.
    pub exec: Option<Exec>,
}

/// A command that prints credentials.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[non_exhaustive]
pub struct Exec {
    /// The program; relative to the file's folder if it has a slash.
    #[serde(deserialize_with = "nullable")]
    pub command: String,
    /// Its arguments.
    #[serde(deserialize_with = "nullable")]
    pub args: Vec<String>,
    /// Variables to set for it.
    #[serde(deserialize_with = "nullable")]
    pub env: Vec<EnvVar>,
    /// `client.authentication.k8s.io/v1` or `v1beta1`.
    #[serde(deserialize_with = "nullable")]
    pub api_version: String,
    /// Said when the program is not there.
    #[serde(deserialize_with = "nullable")]
    pub install_hint: String,
    /// Tell it about the cluster.
    #[serde(deserialize_with = "nullable")]
    pub provide_cluster_info: bool,
    /// `Never`, `IfAvailable` or `Always`.
    #[serde(deserialize_with = "nullable")]
    pub interactive_mode: String,
}

/// A variable for a command.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct EnvVar {
    /// The name.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The value.
    #[serde(deserialize_with = "nullable")]
    pub value: String,
}

/// A cluster, a user and a namespace under a name.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct NamedContext {
    /// What `current-context` and `--context` call it.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// What it stands for.
    #[serde(deserialize_with = "nullable")]
    pub context: Context,
    /// File that it is from.
    #[serde(skip)]
    pub origin: PathBuf,
}

/// A cluster, a user and a namespace.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Context {
    /// Name of the cluster.
    #[serde(deserialize_with = "nullable")]
    pub cluster: String,
    /// Name of the user; empty for none.
    #[serde(deserialize_with = "nullable")]
    pub user: String,
    /// Namespace that is meant when none is named; empty for `default`.
    #[serde(deserialize_with = "nullable")]
    pub namespace: String,
}

/// `null` is the default, as it is for Go's decoder; `kubectl config` writes such files.
fn nullable<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Secret, D::Error> {
    nullable::<D, String>(deserializer).map(Secret::from)
}

//! `Kubeconfig`: the kubeconfig file format.
//!
//! Fields are upstream's; an absent field, a `null` and an empty one are the same. Unknown fields
//! are ignored, as by kubectl. `select` interprets the entries.

use crate::error::KubeconfigError;
use kubist_transport::Secret;
use serde::{Deserialize, Deserializer};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest file that is read, in bytes. Files with hundreds of clusters stay below 2 MiB.
const FILE_MAX: u64 = 16 << 20;

/// A kubeconfig file, or several merged.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Kubeconfig {
    /// The clusters.
    #[serde(deserialize_with = "nullable")]
    pub clusters: Vec<NamedCluster>,
    /// The users.
    #[serde(deserialize_with = "nullable")]
    pub users: Vec<NamedUser>,
    /// The contexts.
    #[serde(deserialize_with = "nullable")]
    pub contexts: Vec<NamedContext>,
    /// The context that is used by default.
    #[serde(rename = "current-context", deserialize_with = "nullable")]
    pub current_context: String,
}

impl Kubeconfig {
    /// Parses the text of a file. Errors name `path`, and relative paths in the text are relative
    /// to its folder.
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

    /// Reports whether the kubeconfig is empty.
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

/// Returns `None` if the file is too long.
fn read_text(path: &Path) -> io::Result<Option<String>> {
    let mut text = String::new();
    File::open(path)?
        .take(FILE_MAX + 1)
        .read_to_string(&mut text)?;
    Ok(Some(text).filter(|text| text.len() as u64 <= FILE_MAX))
}

/// A named cluster.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct NamedCluster {
    /// The name that contexts refer to.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The cluster.
    #[serde(deserialize_with = "nullable")]
    pub cluster: Cluster,
    /// The file that contains it.
    #[serde(skip)]
    pub origin: PathBuf,
}

/// How to reach and verify a server.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Cluster {
    /// The URL; without a scheme it is `https` if the cluster or user has TLS settings, else
    /// `http`.
    #[serde(deserialize_with = "nullable")]
    pub server: String,
    /// The name to verify instead of the server's host.
    #[serde(deserialize_with = "nullable")]
    pub tls_server_name: String,
    /// Whether to accept any certificate.
    #[serde(deserialize_with = "nullable")]
    pub insecure_skip_tls_verify: bool,
    /// A file with the authority certificates.
    #[serde(deserialize_with = "nullable")]
    pub certificate_authority: String,
    /// The authority certificates, PEM in base64; takes precedence over the file.
    #[serde(deserialize_with = "nullable")]
    pub certificate_authority_data: String,
    /// The proxy URL: `http`, `https` or `socks5`.
    #[serde(deserialize_with = "nullable")]
    pub proxy_url: String,
    /// Whether not to request gzip.
    #[serde(deserialize_with = "nullable")]
    pub disable_compression: bool,
    /// Extensions; one of them is passed to plugins.
    #[serde(deserialize_with = "nullable")]
    pub extensions: Vec<Extension>,
}

/// A named extension, which only its consumer interprets.
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

/// A named user.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct NamedUser {
    /// The name that contexts refer to.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The credentials.
    #[serde(deserialize_with = "nullable")]
    pub user: User,
    /// The file that contains it.
    #[serde(skip)]
    pub origin: PathBuf,
}

/// Credentials, and the user to impersonate.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct User {
    /// A file with the client certificate.
    #[serde(deserialize_with = "nullable")]
    pub client_certificate: String,
    /// The client certificate, PEM in base64; takes precedence over the file.
    #[serde(deserialize_with = "nullable")]
    pub client_certificate_data: String,
    /// A file with the private key.
    #[serde(deserialize_with = "nullable")]
    pub client_key: String,
    /// The private key, PEM in base64; takes precedence over the file.
    #[serde(deserialize_with = "secret")]
    pub client_key_data: Secret,
    /// A bearer token.
    #[serde(deserialize_with = "secret")]
    pub token: Secret,
    /// A file with a bearer token; takes precedence over `token`.
    #[serde(rename = "tokenFile", deserialize_with = "nullable")]
    pub token_file: String,
    /// The user to impersonate.
    #[serde(rename = "as", deserialize_with = "nullable")]
    pub impersonate: String,
    /// The id of the impersonated user.
    #[serde(rename = "as-uid", deserialize_with = "nullable")]
    pub impersonate_uid: String,
    /// The groups of the impersonated user.
    #[serde(rename = "as-groups", deserialize_with = "nullable")]
    pub impersonate_groups: Vec<String>,
    /// The extra attributes of the impersonated user.
    #[serde(rename = "as-user-extra", deserialize_with = "nullable")]
    pub impersonate_extra: std::collections::BTreeMap<String, Vec<String>>,
    /// The user name for basic authentication.
    #[serde(deserialize_with = "nullable")]
    pub username: String,
    /// The password for basic authentication.
    #[serde(deserialize_with = "secret")]
    pub password: Secret,
    /// A mechanism that upstream has removed; kept so that errors can name it.
    pub auth_provider: Option<serde_json::Value>,
    /// A command that prints credentials.
    pub exec: Option<Exec>,
}

/// A command that prints credentials.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[non_exhaustive]
pub struct Exec {
    /// The program; with a slash it is relative to the file's folder.
    #[serde(deserialize_with = "nullable")]
    pub command: String,
    /// The arguments.
    #[serde(deserialize_with = "nullable")]
    pub args: Vec<String>,
    /// The environment variables to set.
    #[serde(deserialize_with = "nullable")]
    pub env: Vec<EnvVar>,
    /// `client.authentication.k8s.io/v1` or `v1beta1`.
    #[serde(deserialize_with = "nullable")]
    pub api_version: String,
    /// Shown when the program does not exist.
    #[serde(deserialize_with = "nullable")]
    pub install_hint: String,
    /// Whether to pass the cluster to the command.
    #[serde(deserialize_with = "nullable")]
    pub provide_cluster_info: bool,
    /// `Never`, `IfAvailable` or `Always`.
    #[serde(deserialize_with = "nullable")]
    pub interactive_mode: String,
}

/// An environment variable for a command.
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

/// A named context.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct NamedContext {
    /// The name that `current-context` and `--context` refer to.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The context.
    #[serde(deserialize_with = "nullable")]
    pub context: Context,
    /// The file that contains it.
    #[serde(skip)]
    pub origin: PathBuf,
}

/// A cluster, a user and a namespace.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Context {
    /// The cluster name.
    #[serde(deserialize_with = "nullable")]
    pub cluster: String,
    /// The user name; empty for none.
    #[serde(deserialize_with = "nullable")]
    pub user: String,
    /// The default namespace; empty for `default`.
    #[serde(deserialize_with = "nullable")]
    pub namespace: String,
}

/// Decodes `null` as the default, as Go's decoder does; `kubectl config` writes such files.
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

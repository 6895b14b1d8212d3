//! Client credentials, in the `Authorization` header or as a plugin's certificate.
//!
//! [`Auth`] is the configuration. [`Credentials`] returns the current credentials ([`Issued`]) and
//! replaces them when the server refuses them. Plugin runs and file reads happen one at a time;
//! concurrent requests share the result.

mod exec;
mod exec_source;
mod token_file;

use base64::Engine as _;
use http::HeaderValue;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use self::exec::{ExecApiVersion, ExecPlugin, InteractiveMode};
use self::exec_source::ExecSource;
use self::token_file::TokenFile;
use crate::config_error::ConfigError;
use crate::retry::Retry;
use crate::secret::Secret;
use crate::tls::Identity;

/// Credentials of a client.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Auth {
    /// No credentials here; the TLS configuration may have a client certificate.
    #[default]
    None,
    /// A bearer token.
    Bearer(Secret),
    /// A file with a bearer token, read again every minute and after a 401.
    TokenFile(PathBuf),
    /// A user name and a password (basic authentication).
    Basic {
        /// The user name.
        username: String,
        /// The password.
        password: Secret,
    },
    /// A command that prints credentials.
    Exec(Box<ExecPlugin>),
}

/// Why there are no credentials.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// The token file cannot be read, and no earlier token exists.
    #[error("cannot read token file {path:?}")]
    TokenFile {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: Arc<io::Error>,
    },
    /// The token file is empty.
    #[error("token file {path:?} is empty")]
    TokenFileEmpty {
        /// The file.
        path: PathBuf,
    },
    /// The token has characters that are invalid in a header.
    #[error("the token cannot be sent in a header")]
    Token,
    /// The plugin could not be started.
    #[error("cannot run {command:?}{}", hint(install_hint.as_ref()))]
    Start {
        /// The command.
        command: String,
        /// The install hint from the kubeconfig.
        install_hint: Option<String>,
        /// The cause.
        source: Arc<io::Error>,
    },
    /// The plugin requires a terminal, and there is none.
    #[error("{command:?} needs a terminal on standard input")]
    NotInteractive {
        /// The command.
        command: String,
    },
    /// The plugin failed.
    #[error("{command:?} failed with {status}: {stderr}")]
    Failed {
        /// The command.
        command: String,
        /// The exit code or signal.
        status: String,
        /// The end of its standard error, unless that was a terminal.
        stderr: String,
    },
    /// The plugin exceeded its time limit.
    #[error("{command:?} took longer than {limit:?}")]
    Slow {
        /// The command.
        command: String,
        /// The limit.
        limit: Duration,
    },
    /// The plugin's output is not an `ExecCredential` with credentials.
    #[error("output of {command:?} cannot be used: {problem}")]
    Output {
        /// The command.
        command: String,
        /// The problem.
        problem: String,
    },
    /// The plugin's certificate is invalid.
    #[error("the certificate of the plugin cannot be used")]
    Certificate(#[source] crate::tls::TlsError),
}

fn hint(install_hint: Option<&String>) -> String {
    install_hint
        .map(|hint| format!(" ({hint})"))
        .unwrap_or_default()
}

impl AuthError {
    /// Reports whether a retry may succeed.
    pub fn retry(&self) -> Retry {
        match self {
            Self::TokenFile { .. }
            | Self::TokenFileEmpty { .. }
            | Self::Failed { .. }
            | Self::Slow { .. } => Retry::Backoff,
            Self::Token
            | Self::Start { .. }
            | Self::NotInteractive { .. }
            | Self::Output { .. }
            | Self::Certificate(_) => Retry::Never,
        }
    }
}

/// The credentials for a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Issued {
    /// The value of the `Authorization` header.
    pub(crate) header: Option<HeaderValue>,
    /// The client certificate to present.
    pub(crate) identity: Option<Arc<Identity>>,
    /// The serial number of the credentials, to detect newer ones.
    pub(crate) serial: u64,
}

/// The running form of [`Auth`].
#[derive(Debug)]
pub(crate) enum Credentials {
    Fixed(Issued),
    TokenFile(TokenFile),
    Exec(Box<ExecSource>),
}

impl Credentials {
    pub(crate) fn new(auth: Auth) -> Result<Self, ConfigError> {
        let header = match auth {
            Auth::None => None,
            Auth::Bearer(token) => Some(bearer(token.reveal()).ok_or(ConfigError::Header {
                field: "bearer token",
            })?),
            Auth::Basic { username, password } => Some(basic(&username, &password)),
            Auth::TokenFile(path) => return Ok(Self::TokenFile(TokenFile::new(path))),
            Auth::Exec(plugin) => return Ok(Self::Exec(Box::new(ExecSource::new(*plugin)))),
        };
        Ok(Self::Fixed(Issued {
            header,
            ..Issued::default()
        }))
    }

    /// Returns the current credentials.
    pub(crate) async fn issue(&self) -> Result<Issued, AuthError> {
        match self {
            Self::Fixed(issued) => Ok(issued.clone()),
            Self::TokenFile(file) => file.issue().await,
            Self::Exec(source) => source.issue().await,
        }
    }

    /// Handles a 401 for `refused`. Returns other credentials if there are any.
    pub(crate) async fn renew(&self, refused: &Issued) -> Result<Option<Issued>, AuthError> {
        match self {
            Self::Fixed(_) => Ok(None),
            Self::TokenFile(file) => file.renew(refused).await,
            Self::Exec(source) => source.renew(refused).await,
        }
    }
}

/// Returns `Bearer TOKEN`, marked sensitive so that HPACK does not index it and `Debug` does not
/// show it.
fn bearer(token: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn basic(username: &str, password: &Secret) -> HeaderValue {
    let pair = format!("{username}:{}", password.reveal());
    let encoded = base64::engine::general_purpose::STANDARD.encode(pair);
    let mut value = HeaderValue::try_from(format!("Basic {encoded}"))
        .expect("base64 consists of characters that headers may have");
    value.set_sensitive(true);
    value
}

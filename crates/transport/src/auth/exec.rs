//! Credentials from a command (`client.authentication.k8s.io`, `v1` and `v1beta1`).
//!
//! The command prints an `ExecCredential` with a token, a client certificate, or both. This module
//! parses it; `ExecSource` keeps it. The output, the error text and, unless the command is
//! interactive, its run time are bounded.

use super::{AuthError, bearer};
use crate::secret::Secret;
use crate::tls::{Identity, Pem};
use serde::Deserialize;
use std::io::IsTerminal as _;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};
use tokio::time::Instant;

/// The most bytes of output that are read.
const OUTPUT_MAX: u64 = 1 << 20;

/// The most bytes of standard error in an error message.
const STDERR_MAX: usize = 2 << 10;

/// The time limit of a command that is not interactive.
const TIME_MAX: Duration = Duration::from_secs(60);

/// A command that prints credentials, as configured in a kubeconfig.
#[derive(Debug, Clone)]
pub struct ExecPlugin {
    /// The program, looked up in `PATH` if it has no slash.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables added to the environment.
    pub env: Vec<(String, String)>,
    /// The protocol version; the output must have the same.
    pub api_version: ExecApiVersion,
    /// Whether it may be interactive. Default: [`InteractiveMode::IfAvailable`].
    pub interactive_mode: InteractiveMode,
    /// Shown when the command cannot be started.
    pub install_hint: Option<String>,
    /// `spec.cluster` of the command's input, if it requested that.
    pub cluster: Option<serde_json::Value>,
}

impl ExecPlugin {
    /// Creates a command without arguments.
    pub fn new(command: impl Into<String>, api_version: ExecApiVersion) -> Self {
        Self {
            command: command.into(),
            args: Vec::new(),
            env: Vec::new(),
            api_version,
            interactive_mode: InteractiveMode::default(),
            install_hint: None,
            cluster: None,
        }
    }
}

/// The version of `client.authentication.k8s.io`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the two versions that exist")]
pub enum ExecApiVersion {
    /// `v1`
    V1,
    /// `v1beta1`
    V1Beta1,
}

impl ExecApiVersion {
    /// Returns the `apiVersion` of the exchanged objects.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V1 => "client.authentication.k8s.io/v1",
            Self::V1Beta1 => "client.authentication.k8s.io/v1beta1",
        }
    }
}

/// Whether a plugin gets standard input and may write to the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_enums, reason = "the three modes that exist")]
pub enum InteractiveMode {
    /// It never may.
    Never,
    /// It may if standard input is a terminal.
    #[default]
    IfAvailable,
    /// It must: without a terminal the command fails.
    Always,
}

/// The header, the certificate, and their expiry.
pub(super) type Read = (
    Option<http::HeaderValue>,
    Option<Arc<Identity>>,
    Option<Instant>,
);

impl ExecPlugin {
    /// Runs the command and parses its output.
    pub(super) async fn run(&self) -> Result<Read, AuthError> {
        self.read(&run(self).await?)
    }

    fn read(&self, output: &[u8]) -> Result<Read, AuthError> {
        let problem = |problem: String| AuthError::Output {
            command: self.command.clone(),
            problem,
        };
        let credential: ExecCredential =
            serde_json::from_slice(output).map_err(|error| problem(error.to_string()))?;
        if credential.kind != "ExecCredential" {
            return Err(problem(format!(
                "kind is {:?}, not ExecCredential",
                credential.kind
            )));
        }
        let expected = self.api_version.as_str();
        if credential.api_version != expected {
            let found = credential.api_version;
            return Err(problem(format!("apiVersion is {found:?}, not {expected}")));
        }
        let status = credential
            .status
            .ok_or_else(|| problem("it has no status".to_owned()))?;
        let identity = match (status.client_certificate_data, status.client_key_data) {
            (None, None) => None,
            (Some(certificate), Some(key)) => Some(Arc::new(Identity {
                certificate: Pem::Data(Secret::from(certificate)),
                key: Pem::Data(Secret::from(key)),
            })),
            _ => return Err(problem("certificate and key must come together".to_owned())),
        };
        let header = match status.token.filter(|token| !token.is_empty()) {
            Some(token) => Some(bearer(&token).ok_or(AuthError::Token)?),
            None => None,
        };
        if header.is_none() && identity.is_none() {
            return Err(problem("it has neither token nor certificate".to_owned()));
        }
        let expires =
            match status.expiration_timestamp {
                Some(text) => Some(expiry(&text).ok_or_else(|| {
                    problem(format!("expirationTimestamp {text:?} is not a time"))
                })?),
                None => None,
            };
        Ok((header, identity, expires))
    }

    /// Returns the `ExecCredential` that the command gets in its environment.
    fn exec_info(&self, interactive: bool) -> String {
        let mut spec = serde_json::json!({ "interactive": interactive });
        if let Some(cluster) = &self.cluster {
            spec["cluster"] = cluster.clone();
        }
        serde_json::json!({
            "kind": "ExecCredential",
            "apiVersion": self.api_version.as_str(),
            "spec": spec,
        })
        .to_string()
    }
}

/// Converts a wall-clock time into an instant of the runtime's clock.
fn expiry(timestamp: &str) -> Option<Instant> {
    let at: jiff::Timestamp = timestamp.parse().ok()?;
    #[expect(clippy::disallowed_methods, reason = "credentials expire by wall time")]
    let left = SystemTime::from(at)
        .duration_since(SystemTime::now())
        .unwrap_or_default();
    let now = Instant::now();
    Some(now.checked_add(left).unwrap_or(now))
}

async fn run(plugin: &ExecPlugin) -> Result<Vec<u8>, AuthError> {
    let command = || plugin.command.clone();
    let interactive = match plugin.interactive_mode {
        InteractiveMode::Never => false,
        InteractiveMode::IfAvailable => std::io::stdin().is_terminal(),
        InteractiveMode::Always if std::io::stdin().is_terminal() => true,
        InteractiveMode::Always => return Err(AuthError::NotInteractive { command: command() }),
    };
    let mut child = Command::new(&plugin.command)
        .args(&plugin.args)
        .envs(plugin.env.iter().map(|(name, value)| (name, value)))
        .env("KUBERNETES_EXEC_INFO", plugin.exec_info(interactive))
        .stdin(if interactive {
            Stdio::inherit()
        } else {
            Stdio::null()
        })
        .stdout(Stdio::piped())
        .stderr(if interactive {
            Stdio::inherit()
        } else {
            Stdio::piped()
        })
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| AuthError::Start {
            command: command(),
            install_hint: plugin.install_hint.clone(),
            source: Arc::new(error),
        })?;
    let finished = if interactive {
        finish(&mut child).await
    } else {
        tokio::time::timeout(TIME_MAX, finish(&mut child))
            .await
            .map_err(|_| AuthError::Slow {
                command: command(),
                limit: TIME_MAX,
            })?
    };
    let (status, stdout, stderr) = finished.map_err(|error| AuthError::Output {
        command: command(),
        problem: error.to_string(),
    })?;
    if stdout.len() as u64 == OUTPUT_MAX {
        let problem = format!("it is longer than {} bytes", OUTPUT_MAX - 1);
        return Err(AuthError::Output {
            command: command(),
            problem,
        });
    }
    if !status.success() {
        let start = stderr.len().saturating_sub(STDERR_MAX);
        let stderr = String::from_utf8_lossy(&stderr[start..]).trim().to_owned();
        return Err(AuthError::Failed {
            command: command(),
            status: status.to_string(),
            stderr,
        });
    }
    Ok(stdout)
}

/// Reads both outputs at once, so that the command cannot block on either.
async fn finish(child: &mut Child) -> std::io::Result<(ExitStatus, Vec<u8>, Vec<u8>)> {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let out = child.stdout.take();
    let err = child.stderr.take();
    let read_out = async {
        match out {
            Some(out) => out
                .take(OUTPUT_MAX)
                .read_to_end(&mut stdout)
                .await
                .map(drop),
            None => Ok(()),
        }
    };
    let read_err = async {
        match err {
            Some(err) => err
                .take(OUTPUT_MAX)
                .read_to_end(&mut stderr)
                .await
                .map(drop),
            None => Ok(()),
        }
    };
    let (read_out, read_err) = futures_util::future::join(read_out, read_err).await;
    read_out?;
    read_err?;
    Ok((child.wait().await?, stdout, stderr))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecCredential {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    api_version: String,
    status: Option<ExecStatus>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecStatus {
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
    expiration_timestamp: Option<String>,
}

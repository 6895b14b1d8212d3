//! Exec and attach: a process in a container, with its streams.

use super::PodStreamError;
use super::process::AttachedProcess;
use super::socket::{self, Protocol};
use crate::Api;
use kubist_apimachinery::{Object, QueryPairs, Str};

/// The streams of a process in a container. The default is its output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct ExecOptions {
    /// The container. Default: the only one, or the one that the annotation
    /// `kubectl.kubernetes.io/default-container` names.
    pub container: Option<Str>,
    /// Whether to connect standard input. Default: no.
    pub stdin: bool,
    /// Whether to connect standard output. Default: yes.
    pub stdout: bool,
    /// Whether to connect standard error. Default: yes. With a terminal there is none.
    pub stderr: bool,
    /// Whether the process has a terminal, which merges standard error into standard output.
    /// Default: no.
    pub tty: bool,
}

impl Default for ExecOptions {
    fn default() -> Self {
        Self {
            container: None,
            stdin: false,
            stdout: true,
            stderr: true,
            tty: false,
        }
    }
}

impl ExecOptions {
    /// Returns the options of a terminal: input, output and a terminal size.
    pub fn terminal() -> Self {
        Self {
            stdin: true,
            stderr: false,
            tty: true,
            ..Self::default()
        }
    }

    /// Reports whether standard error is a stream of its own.
    pub(super) fn has_stderr(&self) -> bool {
        self.stderr && !self.tty
    }

    fn to_query<'a>(&self, command: impl IntoIterator<Item = &'a str>) -> QueryPairs {
        let mut query = QueryPairs::new();
        query.extend(command.into_iter().map(|it| ("command", it.to_owned())));
        query.extend(
            self.container
                .iter()
                .map(|it| ("container", it.to_string())),
        );
        let flags = [
            ("stdin", self.stdin),
            ("stdout", self.stdout),
            ("stderr", self.has_stderr()),
            ("tty", self.tty),
        ];
        let set = flags.into_iter().filter(|(_, is_set)| *is_set);
        query.extend(set.map(|(name, _)| (name, "true".to_owned())));
        query
    }
}

impl<K: Object> Api<K> {
    /// Runs a command in a container of a Pod. It is not run in a shell. For other kinds the server
    /// answers 404.
    ///
    /// ```
    /// # use kubist_api::core::v1::Pod;
    /// # use kubist_client::{Api, ExecOptions, PodStreamError};
    /// # use tokio::io::AsyncReadExt as _;
    /// # async fn example(pods: Api<Pod>) -> Result<(), Box<dyn std::error::Error>> {
    /// let options = ExecOptions { stderr: false, ..ExecOptions::default() };
    /// let mut process = pods.exec("web-0", ["cat", "/etc/hostname"], &options).await?;
    /// let mut text = String::new();
    /// process.stdout().expect("it is connected").read_to_string(&mut text).await?;
    /// let status = process.wait().await?;
    /// println!("{text} ({status:?})");
    /// # Ok(()) }
    /// ```
    ///
    /// Cancel safety: dropping the future closes the connection; the process may have started.
    ///
    /// # Errors
    /// [`PodStreamError::Api`] if the server refuses, [`PodStreamError::Protocol`] if it does not
    /// speak WebSocket.
    pub async fn exec<'a>(
        &self,
        name: &str,
        command: impl IntoIterator<Item = &'a str>,
        options: &ExecOptions,
    ) -> Result<AttachedProcess, PodStreamError> {
        self.open_process(name, "exec", options.to_query(command), options)
            .await
    }

    /// Connects to the main process of a container of a Pod. Whether it reads standard input and
    /// has a terminal is in the Pod's spec.
    ///
    /// Cancel safety: dropping the future closes the connection.
    ///
    /// # Errors
    /// As of [`Self::exec`].
    pub async fn attach(
        &self,
        name: &str,
        options: &ExecOptions,
    ) -> Result<AttachedProcess, PodStreamError> {
        self.open_process(name, "attach", options.to_query([]), options)
            .await
    }

    async fn open_process(
        &self,
        name: &str,
        subresource: &'static str,
        query: QueryPairs,
        options: &ExecOptions,
    ) -> Result<AttachedProcess, PodStreamError> {
        let mut target = self.endpoint.target(Some(name));
        target.subresource = subresource;
        let offered = [Protocol::V5, Protocol::V4];
        let (socket, protocol) = socket::open(self.client(), target, &query, &offered).await?;
        Ok(AttachedProcess::start(socket, protocol, options))
    }
}

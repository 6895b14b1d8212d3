//! `AttachedProcess`: a process in a container, connected to this one.

use super::PodStreamError;
use super::exec::ExecOptions;
use super::session::{self, CLOSE, Frames, Incoming, PIPE_BYTES};
use super::socket::{Protocol, Socket};
use bytes::Bytes;
use kubist_apimachinery::wire::{DecodeContext, Wire as _};
use kubist_apimachinery::{STATUS_SUCCESS, Status};
use serde::Serialize;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf, duplex};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

const STDIN: u8 = 0;
const RESULT: usize = 3;
const RESIZE: u8 = 4;

/// The reason of the Status of a process that ended with another code than 0.
const NON_ZERO_EXIT_CODE: &str = "NonZeroExitCode";
/// The cause with that code.
const EXIT_CODE: &str = "ExitCode";

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExitStatus {
    /// Its exit code; 0 is success.
    pub code: i32,
}

impl ExitStatus {
    /// Reports whether the code is 0.
    pub fn success(self) -> bool {
        self.code == 0
    }
}

/// The size of a terminal in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
#[expect(clippy::exhaustive_structs, reason = "a terminal has two sides")]
pub struct TerminalSize {
    /// The number of columns.
    pub width: u16,
    /// The number of lines.
    pub height: u16,
}

/// A process in a container. Its streams are ordinary readers and writers, each with a buffer of 64
/// KiB; a reader that does not read slows the process down, and with it the other stream. A task
/// moves the bytes.
///
/// Dropping it closes the connection. That does not end the process, except that its input ends and
/// its output goes nowhere.
pub struct AttachedProcess {
    stdin: Option<Stdin>,
    stdout: Option<Stdout>,
    stderr: Option<Stderr>,
    frames: Frames,
    /// The task, which returns the result of the process.
    task: JoinSet<Result<ExitStatus, PodStreamError>>,
}

/// Standard input of a process. [Shutting it down](tokio::io::AsyncWriteExt::shutdown) or dropping
/// it ends the input, which servers before Kubernetes 1.30 do not pass on: their protocol has no
/// way to.
pub struct Stdin {
    pipe: DuplexStream,
}

/// Standard output of a process; ends when the process closes it.
pub struct Stdout {
    pipe: DuplexStream,
}

/// Standard error of a process; ends when the process closes it.
pub struct Stderr {
    pipe: DuplexStream,
}

impl AttachedProcess {
    pub(super) fn start(socket: Socket, protocol: Protocol, options: &ExecOptions) -> Self {
        let (frames, outgoing) = session::frames();
        let pipe = |is_wanted: bool| is_wanted.then(|| duplex(PIPE_BYTES)).unzip();
        let (stdin, remote_stdin) = pipe(options.stdin);
        let (stdout, remote_stdout) = pipe(options.stdout);
        let (stderr, remote_stderr) = pipe(options.has_stderr());
        let incoming = |pipe: Option<DuplexStream>| match pipe {
            Some(pipe) => Incoming::Pipe {
                pipe: Box::new(pipe),
                skip: 0,
            },
            None => Incoming::Ignored,
        };
        // By number: standard input, output and error, and the result.
        let channels = [
            Incoming::Ignored,
            incoming(remote_stdout),
            incoming(remote_stderr),
            Incoming::Message(Vec::new()),
        ];
        let mut task = JoinSet::new();
        let input = remote_stdin.map(|pipe| (pipe, protocol, frames.clone()));
        task.spawn(drive(socket, outgoing, channels, input));
        Self {
            stdin: stdin.map(|pipe| Stdin { pipe }),
            stdout: stdout.map(|pipe| Stdout { pipe }),
            stderr: stderr.map(|pipe| Stderr { pipe }),
            frames,
            task,
        }
    }

    /// Takes standard input; `None` if it is not connected or was taken.
    pub fn stdin(&mut self) -> Option<Stdin> {
        self.stdin.take()
    }

    /// Takes standard output; `None` if it is not connected or was taken.
    pub fn stdout(&mut self) -> Option<Stdout> {
        self.stdout.take()
    }

    /// Takes standard error; `None` if it is not connected or was taken.
    pub fn stderr(&mut self) -> Option<Stderr> {
        self.stderr.take()
    }

    /// Tells the terminal's size; without a terminal it has no effect.
    ///
    /// # Errors
    /// The connection has ended.
    pub async fn resize(&self, size: TerminalSize) -> Result<(), PodStreamError> {
        let text = serde_json::to_vec(&size).map_err(io::Error::from)?;
        if self.frames.send(RESIZE, &text).await {
            Ok(())
        } else {
            Err(PodStreamError::Ended)
        }
    }

    /// Waits until the process ends. Streams that were not taken are dropped first: input ends, and
    /// output is thrown away.
    ///
    /// # Errors
    /// The command could not be run ([`PodStreamError::Failed`]), or the connection ended or broke.
    pub async fn wait(mut self) -> Result<ExitStatus, PodStreamError> {
        self.stdin = None;
        self.stdout = None;
        self.stderr = None;
        match self.task.join_next().await {
            Some(Ok(result)) => result,
            _ => Err(PodStreamError::Ended),
        }
    }
}

impl fmt::Debug for AttachedProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AttachedProcess")
            .field("stdin", &self.stdin.is_some())
            .field("stdout", &self.stdout.is_some())
            .field("stderr", &self.stderr.is_some())
            .finish_non_exhaustive()
    }
}

type Input = (DuplexStream, Protocol, Frames);

async fn drive(
    socket: Socket,
    outgoing: mpsc::Receiver<Bytes>,
    mut channels: [Incoming; 4],
    input: Option<Input>,
) -> Result<ExitStatus, PodStreamError> {
    let send = async {
        if let Some((mut pipe, protocol, frames)) = input {
            frames.pump(STDIN, &mut pipe).await;
            if protocol == Protocol::V5 {
                frames.send(CLOSE, &[STDIN]).await;
            }
        }
        std::future::pending::<()>().await;
    };
    let ended = tokio::select! {
        ended = session::run(socket, outgoing, &mut channels) => ended,
        () = send => Ok(()),
    };
    let Incoming::Message(message) = &channels[RESULT] else {
        return Err(PodStreamError::Ended);
    };
    if message.is_empty() {
        return Err(ended.err().unwrap_or(PodStreamError::Ended));
    }
    exit_status(message)
}

/// Reads the Status that ends a process.
fn exit_status(message: &[u8]) -> Result<ExitStatus, PodStreamError> {
    let malformed = |reason: String| PodStreamError::Malformed { reason };
    let status = Status::from_json(message, &mut DecodeContext::new());
    let status = status.map_err(|error| malformed(format!("its status: {error}")))?;
    if status.status == STATUS_SUCCESS {
        return Ok(ExitStatus { code: 0 });
    }
    if status.reason != *NON_ZERO_EXIT_CODE {
        return Err(PodStreamError::Failed(Box::new(status)));
    }
    let causes = status.details.as_ref().map(|it| &*it.causes);
    let code = causes.unwrap_or_default().iter();
    let code = code
        .filter(|it| it.reason == *EXIT_CODE)
        .find_map(|it| it.message.parse().ok());
    match code {
        Some(code) => Ok(ExitStatus { code }),
        None => Err(malformed(format!("no exit code in {:?}", status.message))),
    }
}

macro_rules! debug_pipe {
    ($($stream:ident),*) => {$(
        impl fmt::Debug for $stream {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($stream)).finish_non_exhaustive()
            }
        }
    )*};
}
debug_pipe!(Stdin, Stdout, Stderr);

impl AsyncWrite for Stdin {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.pipe).poll_write(cx, buf)
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.pipe).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.pipe).poll_shutdown(cx)
    }
}

macro_rules! read_pipe {
    ($($stream:ident),*) => {$(
        impl AsyncRead for $stream {
            fn poll_read(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                Pin::new(&mut self.pipe).poll_read(cx, buf)
            }
        }
    )*};
}
read_pipe!(Stdout, Stderr);

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn status(value: Value) -> Result<ExitStatus, PodStreamError> {
        exit_status(value.to_string().as_bytes())
    }

    #[test]
    fn the_exit_code_is_in_the_status() {
        let ended = status(json!({"status": "Success"})).expect("it ended");
        assert!(ended.success());
        let cause = json!({"reason": "ExitCode", "message": "42"});
        let ended = status(json!({
            "status": "Failure", "reason": "NonZeroExitCode", "message": "…",
            "details": {"causes": [cause]},
        }));
        assert_eq!(ended.expect("it ended").code, 42);
    }

    #[test]
    fn other_failures_are_errors_with_their_message() {
        let failed = json!({"status": "Failure", "reason": "InternalError", "message": "no such"});
        let error = status(failed).expect_err("it failed");
        assert_eq!(error.to_string(), "no such");
        assert!(exit_status(b"{").is_err());
        let none = status(json!({"status": "Failure", "reason": "NonZeroExitCode"}));
        assert!(matches!(none, Err(PodStreamError::Malformed { .. })));
    }
}

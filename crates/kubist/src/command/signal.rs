//! What ends a command that would go on: Ctrl-C, and SIGTERM where there are signals.

use std::io;
use std::process::ExitCode;

/// Exit code of a command that Ctrl-C ended, as of any other: 128 and the number of the signal.
const INTERRUPTED: u8 = 130;

/// Who ended a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM: what was asked for is done.
    Terminate,
}

impl Signal {
    /// What the command ends with.
    pub(crate) fn exit_code(self) -> ExitCode {
        match self {
            Self::Interrupt => ExitCode::from(INTERRUPTED),
            Self::Terminate => ExitCode::SUCCESS,
        }
    }
}

/// Waits for one of them. The handlers are in place when this returns, so that a signal that comes
/// while the command still starts is not lost, nor kills it.
pub(crate) fn listen() -> io::Result<impl Future<Output = Signal>> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        Ok(async move {
            tokio::select! {
                _ = interrupt.recv() => Signal::Interrupt,
                _ = terminate.recv() => Signal::Terminate,
            }
        })
    }
    #[cfg(not(unix))]
    Ok(async {
        // Without a handler there is nothing to wait for but the end of the process.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Signal::Interrupt
    })
}

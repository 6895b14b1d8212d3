//! Signals that end a command: Ctrl-C, and SIGTERM where it exists.

use std::io;
use std::process::ExitCode;

#[cfg(unix)]
use tokio::signal::unix;

/// Exit code after Ctrl-C: 128 and the number of the signal.
const INTERRUPTED: u8 = 130;
/// Exit code after SIGTERM, for a command that did not shut down in order.
const TERMINATED: u8 = 143;

/// A signal that ends a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM; an orderly end is a success.
    Terminate,
}

impl Signal {
    /// Returns the exit code of a command that shut down in order.
    pub(crate) fn exit_code(self) -> ExitCode {
        match self {
            Self::Interrupt => ExitCode::from(INTERRUPTED),
            Self::Terminate => ExitCode::SUCCESS,
        }
    }

    /// Returns the exit code of a command that skipped its shutdown.
    pub(crate) fn exit_code_at_once(self) -> ExitCode {
        match self {
            Self::Interrupt => ExitCode::from(INTERRUPTED),
            Self::Terminate => ExitCode::from(TERMINATED),
        }
    }
}

/// The signals from now on.
#[derive(Debug)]
pub(crate) struct Signals {
    #[cfg(unix)]
    interrupt: unix::Signal,
    #[cfg(unix)]
    terminate: unix::Signal,
}

/// Installs the handlers. They are in place when this returns, so that a signal during start-up
/// neither is lost nor kills the process.
pub(crate) fn listen() -> io::Result<Signals> {
    Ok(Signals {
        #[cfg(unix)]
        interrupt: unix::signal(unix::SignalKind::interrupt())?,
        #[cfg(unix)]
        terminate: unix::signal(unix::SignalKind::terminate())?,
    })
}

impl Signals {
    /// Waits for the next signal.
    ///
    /// Cancel safe.
    pub(crate) async fn next(&mut self) -> Signal {
        #[cfg(unix)]
        {
            tokio::select! {
                _ = self.interrupt.recv() => Signal::Interrupt,
                _ = self.terminate.recv() => Signal::Terminate,
            }
        }
        #[cfg(not(unix))]
        {
            // Without a handler, only the end of the process remains.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
            Signal::Interrupt
        }
    }
}

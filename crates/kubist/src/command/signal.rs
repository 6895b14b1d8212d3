//! What ends a command that would go on: Ctrl-C, and SIGTERM where there are signals.

use std::io;
use std::process::ExitCode;

#[cfg(unix)]
use tokio::signal::unix;

/// Exit code of a command that Ctrl-C ended, as of any other: 128 and the number of the signal.
const INTERRUPTED: u8 = 130;
/// The same of SIGTERM, for a command that did not end in order.
const TERMINATED: u8 = 143;

/// Who ended a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM: what was asked for is done.
    Terminate,
}

impl Signal {
    /// What a command ends with that ends in order.
    pub(crate) fn exit_code(self) -> ExitCode {
        match self {
            Self::Interrupt => ExitCode::from(INTERRUPTED),
            Self::Terminate => ExitCode::SUCCESS,
        }
    }

    /// What a command ends with that leaves undone what it would have done at its end.
    pub(crate) fn exit_code_at_once(self) -> ExitCode {
        match self {
            Self::Interrupt => ExitCode::from(INTERRUPTED),
            Self::Terminate => ExitCode::from(TERMINATED),
        }
    }
}

/// The signals that come from now on.
#[derive(Debug)]
pub(crate) struct Signals {
    #[cfg(unix)]
    interrupt: unix::Signal,
    #[cfg(unix)]
    terminate: unix::Signal,
}

/// Listens to them. The handlers are in place when this returns, so that a signal that comes while
/// the command still starts is not lost, nor kills it.
pub(crate) fn listen() -> io::Result<Signals> {
    Ok(Signals {
        #[cfg(unix)]
        interrupt: unix::signal(unix::SignalKind::interrupt())?,
        #[cfg(unix)]
        terminate: unix::signal(unix::SignalKind::terminate())?,
    })
}

impl Signals {
    /// Waits for the next one.
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
            // Without a handler there is nothing to wait for but the end of the process.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
            Signal::Interrupt
        }
    }
}

//! Signals that end a command: Ctrl-C, and SIGTERM where it exists; SIGHUP for one that has changed
//! the modes of its terminal, which also wants to know that it goes on after a stop.

use std::io;
use std::process::ExitCode;

#[cfg(unix)]
use tokio::signal::unix;

/// Exit code after Ctrl-C: 128 and the number of the signal.
const INTERRUPTED: u8 = 130;
/// Exit code after SIGTERM, for a command that did not shut down in order.
const TERMINATED: u8 = 143;
/// Exit code after SIGHUP.
const HUNG_UP: u8 = 129;

/// A signal that ends a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM; an orderly end is a success.
    Terminate,
    /// SIGHUP: mostly, the terminal is gone.
    HangUp,
}

impl Signal {
    /// Returns the exit code of a command that shut down in order.
    pub(crate) fn exit_code(self) -> ExitCode {
        match self {
            Self::Interrupt => ExitCode::from(INTERRUPTED),
            Self::Terminate => ExitCode::SUCCESS,
            Self::HangUp => ExitCode::from(HUNG_UP),
        }
    }

    /// Returns the exit code of a command that skipped its shutdown.
    pub(crate) fn exit_code_at_once(self) -> ExitCode {
        match self {
            Self::Interrupt => ExitCode::from(INTERRUPTED),
            Self::Terminate => ExitCode::from(TERMINATED),
            Self::HangUp => ExitCode::from(HUNG_UP),
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
    /// None where it kills, as it does by default.
    #[cfg(unix)]
    hang_up: Option<unix::Signal>,
}

/// Installs the handlers. They are in place when this returns, so that a signal during start-up
/// neither is lost nor kills the process.
pub(crate) fn listen() -> io::Result<Signals> {
    Ok(Signals {
        #[cfg(unix)]
        interrupt: unix::signal(unix::SignalKind::interrupt())?,
        #[cfg(unix)]
        terminate: unix::signal(unix::SignalKind::terminate())?,
        #[cfg(unix)]
        hang_up: None,
    })
}

/// Same as [`listen`], with SIGHUP.
pub(crate) fn listen_on_terminal() -> io::Result<Signals> {
    Ok(Signals {
        #[cfg(unix)]
        hang_up: Some(unix::signal(unix::SignalKind::hangup())?),
        ..listen()?
    })
}

impl Signals {
    /// Waits for the next signal.
    ///
    /// Cancel safe.
    pub(crate) async fn next(&mut self) -> Signal {
        #[cfg(unix)]
        {
            let hang_up = self.hang_up.as_mut();
            let hung_up = async {
                match hang_up {
                    Some(signal) => signal.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = self.interrupt.recv() => Signal::Interrupt,
                _ = self.terminate.recv() => Signal::Terminate,
                _ = hung_up => Signal::HangUp,
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

/// When this process goes on after it was stopped (SIGCONT), from now on.
#[derive(Debug)]
pub(crate) struct Continued {
    #[cfg(unix)]
    signal: unix::Signal,
}

impl Continued {
    pub(crate) fn listen() -> io::Result<Self> {
        #[cfg(unix)]
        let kind = unix::SignalKind::from_raw(rustix::process::Signal::CONT.as_raw());
        Ok(Self {
            #[cfg(unix)]
            signal: unix::signal(kind)?,
        })
    }

    /// Waits until it does.
    ///
    /// Cancel safe.
    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        let _ = self.signal.recv().await;
        #[cfg(not(unix))]
        std::future::pending::<()>().await;
    }
}

//! `shutdown_on_signal`: a token that is cancelled when the process should end.

use std::io;
use tokio_util::sync::CancellationToken;

/// The exit code of a process that does not wait for an orderly end.
const AT_ONCE: i32 = 1;

/// Returns a token that is cancelled by Ctrl-C and, on Unix, by SIGTERM, which a kubelet sends. A
/// second signal ends the process at once, with the exit code 1, as with controller-runtime.
///
/// ```no_run
/// # use kubist_client::Client;
/// # use kubist_controller::{Manager, shutdown_on_signal};
/// # async fn example(manager: Manager<Client>) -> Result<(), Box<dyn std::error::Error>> {
/// manager.run(shutdown_on_signal()?).await?;
/// # Ok(()) }
/// ```
///
/// The handlers are in place when it returns. It must be called within a tokio runtime.
///
/// # Errors
/// The operating system refuses the handlers.
#[expect(
    clippy::disallowed_methods,
    reason = "it lives as long as the process, as the handlers do, and a second signal asks for the exit"
)]
pub fn shutdown_on_signal() -> io::Result<CancellationToken> {
    let token = CancellationToken::new();
    let mut signals = Signals::listen()?;
    let cancelled = token.clone();
    tokio::spawn(async move {
        signals.next().await;
        tracing::info!("a signal to end; a second one ends at once");
        cancelled.cancel();
        signals.next().await;
        std::process::exit(AT_ONCE);
    });
    Ok(token)
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        drop(tokio::signal::ctrl_c().await);
    }
}

//! What ends a command that would go on: Ctrl-C, and SIGTERM where there are signals.

use std::io;

/// Waits for one of them. The handlers are in place when this returns, so that a signal that comes
/// while the command still starts is not lost, nor kills it.
pub(crate) fn listen() -> io::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        Ok(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    Ok(async {
        // Without a handler there is nothing to wait for but the end of the process.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}

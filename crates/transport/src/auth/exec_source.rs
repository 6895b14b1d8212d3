//! `ExecSource`: the credentials printed by a command, cached until they expire or are refused.
//!
//! The command runs once at a time; concurrent requests share the result. The source owns the run:
//! cancelling the request that started it does not stop it, and the next request uses its result.
//! Dropping the source stops the command.

use super::exec::ExecPlugin;
use super::{AuthError, Issued};
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

type Outcome = Result<Issued, AuthError>;

#[derive(Debug)]
pub(crate) struct ExecSource {
    plugin: Arc<ExecPlugin>,
    state: Arc<Mutex<State>>,
    runs: Mutex<JoinSet<()>>,
}

#[derive(Debug, Default)]
struct State {
    issued: Option<Issued>,
    expires: Option<Instant>,
    /// The number of successful runs.
    serial: u64,
    /// The result of the current run.
    running: Option<watch::Receiver<Option<Outcome>>>,
}

impl State {
    fn valid(&self) -> Option<&Issued> {
        let is_valid = self.expires.is_none_or(|at| Instant::now() < at);
        self.issued.as_ref().filter(|_| is_valid)
    }
}

impl ExecSource {
    pub(super) fn new(plugin: ExecPlugin) -> Self {
        Self {
            plugin: Arc::new(plugin),
            state: Arc::default(),
            runs: Mutex::default(),
        }
    }

    /// # Cancel safety
    /// Leaves the run going; the next request gets its result.
    pub(super) async fn issue(&self) -> Outcome {
        let valid = self.state.lock().valid().cloned();
        match valid {
            Some(issued) => Ok(issued),
            None => self.fresh().await,
        }
    }

    pub(super) async fn renew(&self, refused: &Issued) -> Result<Option<Issued>, AuthError> {
        let issued = self.state.lock().issued.clone();
        match issued {
            Some(issued) if issued.serial != refused.serial => Ok(Some(issued)),
            _ => self.fresh().await.map(Some),
        }
    }

    /// Returns the result of the current run, or starts a new one.
    async fn fresh(&self) -> Outcome {
        let mut outcome = self.join_run();
        match outcome.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(outcome)) => outcome.clone(),
            // Its runtime was shut down, or it panicked.
            _ => Err(AuthError::Output {
                command: self.plugin.command.clone(),
                problem: "its run was given up".to_owned(),
            }),
        }
    }

    fn join_run(&self) -> watch::Receiver<Option<Outcome>> {
        let mut state = self.state.lock();
        let running = state.running.as_ref();
        // An abandoned run has no sender any more.
        if let Some(running) = running.filter(|it| it.has_changed().is_ok()) {
            return running.clone();
        }
        let (sender, receiver) = watch::channel(None);
        state.running = Some(receiver.clone());
        let (plugin, shared) = (Arc::clone(&self.plugin), Arc::clone(&self.state));
        let mut runs = self.runs.lock();
        while runs.try_join_next().is_some() {}
        runs.spawn(async move {
            let read = plugin.run().await;
            let mut state = shared.lock();
            let outcome = read.map(|(header, identity, expires)| {
                state.serial += 1;
                let issued = Issued {
                    header,
                    identity,
                    serial: state.serial,
                };
                state.issued = Some(issued.clone());
                state.expires = expires;
                issued
            });
            state.running = None;
            sender.send_replace(Some(outcome));
        });
        receiver
    }
}

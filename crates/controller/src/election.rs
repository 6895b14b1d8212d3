//! `Election`: what a manager's parts do in leader election.
//!
//! A part that needs the leader waits for a term and gets the term's token. The elector keeps the
//! lease until all of them have ended.

use crate::Error;
use futures_core::future::BoxFuture;
use kubist_leader_election::{InvalidConfig, LeaderElectionConfig, LeaderElector, LeaderWatch};
use kubist_leader_election::{LeaderElectionError, Term};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::sleep_until;
use tokio_util::sync::CancellationToken;

pub(crate) struct Election {
    elector: LeaderElector,
    /// How long after the end of a term nobody else may lead, if the clocks are alike.
    margin: Duration,
    /// Closed when all that need the leader have ended; nothing is ever sent.
    running: mpsc::Sender<()>,
    ended: mpsc::Receiver<()>,
}

/// Holds a part back until a term begins.
pub(crate) struct Standby {
    watch: LeaderWatch,
    margin: Duration,
    _running: mpsc::Sender<()>,
}

impl Election {
    pub(crate) fn new(config: LeaderElectionConfig) -> Result<Self, InvalidConfig> {
        let margin = config.lease_duration.saturating_sub(config.renew_deadline);
        let (running, ended) = mpsc::channel(1);
        Ok(Self {
            elector: LeaderElector::new(config)?,
            margin,
            running,
            ended,
        })
    }

    pub(crate) fn watch(&self) -> LeaderWatch {
        self.elector.watch()
    }

    pub(crate) fn standby(&self) -> Standby {
        Standby {
            watch: self.watch(),
            margin: self.margin,
            _running: self.running.clone(),
        }
    }

    /// Takes part in the election until the stop, and until all that need the leader have ended.
    pub(crate) async fn run(self, token: CancellationToken) -> Result<(), Error> {
        let Self {
            mut elector,
            running,
            mut ended,
            ..
        } = self;
        drop(running);
        let lead = async |term: Term| {
            term.token().cancelled().await;
            while ended.recv().await.is_some() {}
        };
        let led: Result<_, LeaderElectionError> = elector.run(token, lead).await;
        led.map(drop).map_err(Error::new)
    }
}

impl Standby {
    /// Waits for a term, then runs the part with a token that is cancelled with the term or at the
    /// stop. After a lost term the part is dropped before another leader may begin.
    pub(crate) async fn run<E>(
        mut self,
        token: CancellationToken,
        start: impl FnOnce(CancellationToken) -> BoxFuture<'static, Result<(), E>>,
    ) -> Result<(), E> {
        let term = tokio::select! {
            biased;
            () = token.cancelled() => return Ok(()),
            term = self.watch.leading() => term,
        };
        let Some(term) = term else {
            return Ok(()); // the elector has ended, which is reported there
        };
        let overdue = async {
            term.ended().await;
            sleep_until(term.until() + self.margin).await;
        };
        tokio::select! {
            biased;
            () = overdue => Ok(()),
            ended = start(term.token()) => ended,
        }
    }
}

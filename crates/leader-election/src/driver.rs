//! `Driver`: does what the machine says, on tokio's clock.

use crate::leader_watch::LeaderPublisher;
use crate::machine::{Answer, LostReason, Machine, Now, Output};
use crate::{Lock, Term};
use futures_core::future::BoxFuture;
use kubist_apimachinery::{MicroTime, Str};
use kubist_client::ApiError;
use parking_lot::Mutex;
use std::future::pending;
use std::sync::Arc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

pub(crate) struct Driver {
    pub(crate) machine: Arc<Mutex<Machine>>,
    pub(crate) lock: Arc<dyn Lock>,
    pub(crate) publisher: Arc<LeaderPublisher>,
    /// Cancelled when no work runs any more.
    pub(crate) stop: CancellationToken,
    pub(crate) release: bool,
}

type Request = BoxFuture<'static, Answer>;

pub(crate) fn now() -> Now {
    Now {
        instant: Instant::now().into_std(),
        time: MicroTime::from(jiff::Timestamp::now()),
    }
}

impl Driver {
    /// Runs until a term is lost, or the stop.
    pub(crate) async fn run(self) -> Result<(), LostReason> {
        let (lock, identity) = (self.publisher.lock(), self.publisher.identity());
        tracing::info!(%lock, %identity, "attempting to acquire the leader lease");
        let mut request = None;
        loop {
            let output = self.machine.lock().poll(now());
            self.publisher.count(self.machine.lock().counts());
            match output {
                Output::Read | Output::Create(_) | Output::Update(_) => {
                    request = self.send(output);
                }
                Output::SleepUntil(at) => self.sleep(Instant::from_std(at), &mut request).await,
                Output::Lost(reason) => {
                    self.publisher.end();
                    tracing::error!(%lock, %identity, %reason, "lost the leader lease");
                    return Err(reason);
                }
                Output::Finished { released } => {
                    tracing::info!(%lock, %identity, released, "leader election has stopped");
                    return Ok(());
                }
                event => self.publish(event),
            }
        }
    }

    fn publish(&self, event: Output) {
        let (lock, identity) = (self.publisher.lock(), self.publisher.identity());
        match event {
            Output::BecameLeader(begun) => {
                let transitions = begun.transitions;
                tracing::info!(%lock, %identity, transitions, "acquired the leader lease");
                self.publisher.begin(Term::new(identity.clone(), &begun));
            }
            Output::Renewed { until } => {
                self.publisher
                    .extend(Instant::now(), Instant::from_std(until));
            }
            Output::NewLeader(leader) => {
                if leader.as_ref() != Some(identity) {
                    let leader = leader.as_deref().unwrap_or_default();
                    tracing::info!(%lock, leader, "the leader has changed");
                }
                self.publisher.leader(leader);
            }
            _ => {}
        }
    }

    /// Waits for the answer, the time or the stop, whichever is first.
    async fn sleep(&self, until: Instant, request: &mut Option<Request>) {
        let is_stopping = self.machine.lock().is_stopping();
        tokio::select! {
            biased;
            () = self.stop.cancelled(), if !is_stopping => {
                *request = None;
                self.machine.lock().stop(now().instant, self.release);
            }
            answer = answer_of(request) => {
                *request = None;
                self.machine.lock().answered(now(), answer);
            }
            () = sleep_until(until) => {}
        }
    }

    fn send(&self, output: Output) -> Option<Request> {
        let lock = Arc::clone(&self.lock);
        let name = self.publisher.lock().clone();
        let request: Request = match output {
            Output::Read => Box::pin(async move { answer(&name, "read", lock.get().await) }),
            Output::Create(lease) => {
                Box::pin(async move { answer(&name, "create", lock.create(*lease).await) })
            }
            Output::Update(lease) => {
                Box::pin(async move { answer(&name, "update", lock.update(*lease).await) })
            }
            _ => return None,
        };
        Some(request)
    }
}

async fn answer_of(request: &mut Option<Request>) -> Answer {
    match request {
        Some(request) => request.await,
        None => pending().await,
    }
}

fn answer(
    lock: &Str,
    verb: &'static str,
    answer: Result<kubist_api::coordination::v1::Lease, ApiError>,
) -> Answer {
    let error = match answer {
        Ok(lease) => return Answer::Lease(Box::new(lease)),
        Err(error) if error.is_not_found() => return Answer::NotFound,
        Err(error) if error.is_conflict() || error.is_already_exists() => {
            tracing::debug!(%lock, verb, "another candidate wrote the leader lease first");
            return Answer::Conflict;
        }
        Err(error) => error.to_string(),
    };
    tracing::warn!(%lock, verb, %error, "no access to the leader lease");
    Answer::Failed(error.into())
}

//! `Driver`: does what the machine says, on tokio's clock.

use crate::leader_watch::LeaderPublisher;
use crate::machine::{Answer, LostReason, Machine, Now, Output};
use crate::{Lock, Term};
use futures_core::future::BoxFuture;
use kubist_apimachinery::Str;
use kubist_client::{Ambient, ApiError};
use parking_lot::Mutex;
use std::future::pending;
use std::sync::Arc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

pub(crate) struct Driver {
    pub(crate) machine: Arc<Mutex<Machine>>,
    pub(crate) lock: Arc<dyn Lock>,
    /// The lock's.
    pub(crate) ambient: Ambient,
    pub(crate) publisher: Arc<LeaderPublisher>,
    /// The number of the run that this drives.
    pub(crate) run: u64,
    /// Cancelled when no work runs any more.
    pub(crate) stop: CancellationToken,
    pub(crate) release: bool,
}

type Request = BoxFuture<'static, Answer>;

pub(crate) fn instant() -> std::time::Instant {
    Instant::now().into_std()
}

fn now(ambient: &Ambient) -> Now {
    Now {
        instant: instant(),
        time: ambient.micro_time(),
    }
}

impl Driver {
    /// Runs until a term is lost, or the stop.
    pub(crate) async fn run(self) -> Result<(), LostReason> {
        let (lock, identity) = (self.publisher.lock(), self.publisher.identity());
        tracing::info!(%lock, %identity, "attempting to acquire the leader lease");
        let mut request = None;
        loop {
            // A run that was dropped may have a successor before its driver has ended.
            let Some(output) = self.with_machine(|it| it.poll(now(&self.ambient))) else {
                return Ok(());
            };
            match output {
                Output::Read | Output::Create(_) | Output::Update(_) => {
                    request = self.send(output);
                }
                Output::SleepUntil(at) => self.sleep(Instant::from_std(at), &mut request).await,
                Output::Lost(reason) => {
                    self.publisher.end(self.run);
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

    /// Uses the machine, unless it belongs to a later run.
    fn with_machine<T>(&self, act: impl FnOnce(&mut Machine) -> T) -> Option<T> {
        let mut machine = self.machine.lock();
        let is_own = machine.run_number() == self.run;
        let result = is_own.then(|| act(&mut machine));
        self.publisher.count(machine.counts());
        result
    }

    fn publish(&self, event: Output) {
        let (lock, identity) = (self.publisher.lock(), self.publisher.identity());
        match event {
            Output::BecameLeader(begun) => {
                let transitions = begun.transitions;
                tracing::info!(%lock, %identity, transitions, "acquired the leader lease");
                let term = Term::new(identity.clone(), &begun);
                self.publisher.begin(self.run, term);
            }
            Output::Renewed { until } => {
                let until = Instant::from_std(until);
                self.publisher.extend(self.run, Instant::now(), until);
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
        let is_stopping = self.with_machine(|it| it.is_stopping()).unwrap_or(true);
        tokio::select! {
            biased;
            () = self.stop.cancelled(), if !is_stopping => {
                *request = None;
                self.with_machine(|it| it.stop(instant(), self.release));
            }
            answer = answer_of(request) => {
                *request = None;
                self.with_machine(|it| it.answered(now(&self.ambient), answer));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Begun, Candidate};
    use crate::timing::Timing;
    use kubist_api::coordination::v1::Lease;
    use std::collections::BTreeMap;
    use std::time::Duration;

    /// Nobody may use it.
    struct Forbidden;

    impl Lock for Forbidden {
        fn get(&self) -> BoxFuture<'_, Result<Lease, ApiError>> {
            unreachable!("it is read")
        }
        fn create(&self, _: Lease) -> BoxFuture<'_, Result<Lease, ApiError>> {
            unreachable!("it is created")
        }
        fn update(&self, _: Lease) -> BoxFuture<'_, Result<Lease, ApiError>> {
            unreachable!("it is updated")
        }
        fn describe(&self) -> Str {
            "shop/operator".into()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_driver_whose_run_has_a_successor_does_nothing_more() {
        let timing = Timing::DEFAULT;
        let candidate = Candidate {
            identity: "me".into(),
            timing,
            labels: BTreeMap::new(),
            seed: 1,
        };
        let mut machine = Machine::new(candidate, instant());
        let old = machine.restart(instant());
        let new = machine.restart(instant());
        let publisher = LeaderPublisher::new("shop/operator".into(), "me".into(), timing);
        let publisher = Arc::new(publisher);
        let driver = Driver {
            machine: Arc::new(Mutex::new(machine)),
            lock: Arc::new(Forbidden),
            ambient: Ambient::default(),
            publisher: Arc::clone(&publisher),
            run: old,
            stop: CancellationToken::new(),
            release: true,
        };
        assert_eq!(driver.run().await, Ok(()));

        // Nor does a term begin that it has just acquired.
        publisher.open(new);
        let begun = Begun {
            transitions: 0,
            resource_version: "1".into(),
            until: (Instant::now() + Duration::from_secs(10)).into_std(),
        };
        let term = Term::new("me".into(), &begun);
        publisher.begin(old, term.clone());
        assert!(!term.is_held());
        let term = Term::new("me".into(), &begun);
        publisher.begin(new, term.clone());
        publisher.end(old);
        assert!(term.is_held() && publisher.watch().is_leader());
    }
}

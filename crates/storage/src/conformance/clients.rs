//! Clients that compete for one key and record what they see.

use super::history::{Call, Effect};
use crate::{DeleteRequest, Expected, FaultKind, Kv, PutRequest, Revision, WriteError};
use crate::{KeyValue, WriteOutcome};
use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::task::JoinSet;

/// The multiplier of the random generator (Knuth's).
const MULTIPLIER: u64 = 6_364_136_223_846_793_005;

/// A competition for one key.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct Race {
    /// The key; absent at first.
    pub key: Bytes,
    /// How many calls each client makes.
    pub calls: usize,
    /// Seed of the calls.
    pub seed: u64,
}

impl Race {
    /// Runs one client on each handle, and returns the calls of all.
    ///
    /// # Panics
    /// A call fails in an unexpected way.
    pub async fn run(&self, handles: &[Arc<dyn Kv>]) -> Vec<Call> {
        let counter = Arc::new(AtomicU64::new(1));
        let mut clients = JoinSet::new();
        for (number, kv) in (1..).zip(handles) {
            let client = Client {
                kv: Arc::clone(kv),
                race: self.clone(),
                counter: Arc::clone(&counter),
                state: self.seed.wrapping_add(number).wrapping_mul(MULTIPLIER),
                seen: None,
                calls: Vec::new(),
            };
            clients.spawn(client.run());
        }
        clients.join_all().await.concat()
    }
}

struct Client {
    kv: Arc<dyn Kv>,
    race: Race,
    counter: Arc<AtomicU64>,
    state: u64,
    /// The version it last saw.
    seen: Option<(Revision, u64)>,
    calls: Vec<Call>,
}

impl Client {
    async fn run(mut self) -> Vec<Call> {
        for _ in 0..self.race.calls {
            match self.choice() {
                0 => self.read().await,
                1 => self.delete().await,
                _ => self.put().await,
            }
            tokio::task::yield_now().await;
        }
        self.calls
    }

    fn choice(&mut self) -> u64 {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(1);
        (self.state >> 33) % 5
    }

    fn tick(&self) -> u64 {
        self.counter.fetch_add(1, Ordering::SeqCst)
    }

    fn note(&mut self, effect: Effect, started: u64) {
        let ended = match effect {
            Effect::Unknown(..) => u64::MAX,
            _ => self.tick(),
        };
        self.calls.push(Call {
            effect,
            started,
            ended,
        });
    }

    async fn read(&mut self) {
        let started = self.tick();
        // A read without a response carries no information.
        if let Ok(found) = self.kv.get(&self.race.key, None).await {
            self.seen = found.kv.as_deref().map(version);
            self.note(Effect::Read(self.value()), started);
        }
    }

    async fn put(&mut self) {
        let started = self.tick();
        let put = PutRequest::new(self.race.key.clone(), started.to_string(), self.expected());
        let outcome = self.kv.put(put).await;
        self.wrote(outcome, Some(started), started);
    }

    async fn delete(&mut self) {
        if self.seen.is_none() {
            return self.read().await;
        }
        let started = self.tick();
        let delete = DeleteRequest::new(self.race.key.clone(), self.expected());
        let outcome = self.kv.delete(delete).await;
        self.wrote(outcome, None, started);
    }

    fn expected(&self) -> Expected {
        Expected::Revision(self.seen.map_or(Revision::ZERO, |(revision, _)| revision))
    }

    fn value(&self) -> Option<u64> {
        self.seen.map(|(_, value)| value)
    }

    fn wrote(&mut self, outcome: Result<WriteOutcome, WriteError>, new: Option<u64>, started: u64) {
        let expected = self.value();
        let effect = match outcome {
            Ok(WriteOutcome::Committed { revision }) => {
                self.seen = new.map(|value| (revision, value));
                Effect::Replaced(expected, new)
            }
            Ok(WriteOutcome::Conflict { current, .. }) => {
                self.seen = current.as_deref().map(version);
                Effect::Refused(expected, self.value())
            }
            Err(WriteError::Fault(fault)) if fault.kind() == FaultKind::Unavailable => return,
            Err(WriteError::Fault(fault)) if fault.kind() == FaultKind::Timeout => {
                Effect::Unknown(expected, new)
            }
            Err(error) => panic!("unexpected answer to a write: {error:?}"),
        };
        self.note(effect, started);
    }
}

fn version(kv: &KeyValue) -> (Revision, u64) {
    let value = String::from_utf8_lossy(&kv.value);
    (kv.mod_revision, value.parse().expect("a client wrote it"))
}

//! Two servers on one store: before a chosen call of the first to storage, the second writes.
//!
//! [`at_every_call`] runs a request once for each call that it makes, with the other writer passing
//! before that call, and once more without. Whatever a request has judged before it acts is
//! overtaken so.

use crate::fixture::Fixture;
use kubist_registry::RegistryConfig;
use kubist_storage::memory::MemoryKv;
use kubist_storage::{
    Answer, CompactError, DeleteRequest, GetResponse, Kv, LeaseError, LeaseId, PutRequest,
    RangeRequest, RangeResponse, ReadError, Revision, Watch, WatchError, WatchRequest, WriteError,
    WriteOutcome,
};
use parking_lot::Mutex;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// Calls of one request after which it is taken to run in circles.
const CALLS_MAX: usize = 200;

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// An engine that lets somebody else pass before one of its calls.
#[derive(Clone)]
pub(crate) struct Turnstile {
    kv: MemoryKv,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    calls: usize,
    at: usize,
    other: Option<Boxed>,
}

impl Turnstile {
    fn new(kv: MemoryKv) -> Self {
        let state = Arc::default();
        Self { kv, state }
    }

    /// Has `other` pass before the call with this number, counted from now.
    fn arm(&self, at: usize, other: Boxed) {
        *self.state.lock() = State {
            calls: 0,
            at,
            other: Some(other),
        };
    }

    /// Whether the other has passed; and nobody does any more.
    fn disarm(&self) -> bool {
        let mut state = self.state.lock();
        state.at = 0;
        state.other.take().is_none()
    }

    async fn turn(&self) {
        let other = {
            let mut state = self.state.lock();
            state.calls += 1;
            assert!(
                state.at == 0 || state.calls < CALLS_MAX,
                "it runs in circles"
            );
            let its_turn = state.calls == state.at;
            its_turn.then(|| state.other.take()).flatten()
        };
        if let Some(other) = other {
            other.await;
        }
    }
}

impl fmt::Debug for Turnstile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turnstile").finish_non_exhaustive()
    }
}

impl Kv for Turnstile {
    fn get<'a>(
        &'a self,
        key: &'a [u8],
        at: Option<Revision>,
    ) -> Answer<'a, Result<GetResponse, ReadError>> {
        Answer::later(async move {
            self.turn().await;
            self.kv.get(key, at).await
        })
    }

    fn range(&self, request: RangeRequest) -> Answer<'_, Result<RangeResponse, ReadError>> {
        Answer::later(async move {
            self.turn().await;
            self.kv.range(request).await
        })
    }

    fn put(&self, request: PutRequest) -> Answer<'_, Result<WriteOutcome, WriteError>> {
        Answer::later(async move {
            self.turn().await;
            self.kv.put(request).await
        })
    }

    fn delete(&self, request: DeleteRequest) -> Answer<'_, Result<WriteOutcome, WriteError>> {
        Answer::later(async move {
            self.turn().await;
            self.kv.delete(request).await
        })
    }

    fn watch(&self, request: WatchRequest) -> Answer<'_, Result<Watch, WatchError>> {
        self.kv.watch(request)
    }

    fn revision(&self) -> Answer<'_, Result<Revision, ReadError>> {
        self.kv.revision()
    }

    fn grant(&self, ttl: Duration) -> Answer<'_, Result<LeaseId, LeaseError>> {
        self.kv.grant(ttl)
    }

    fn revoke(&self, lease: LeaseId) -> Answer<'_, Result<(), LeaseError>> {
        self.kv.revoke(lease)
    }

    fn compact(&self, revision: Revision) -> Answer<'_, Result<(), CompactError>> {
        self.kv.compact(revision)
    }

    fn compacted(&self) -> Revision {
        self.kv.compacted()
    }
}

/// Two servers on one store.
pub(crate) struct Pair {
    /// The one that is held up.
    pub(crate) first: Fixture,
    /// The one that passes.
    pub(crate) second: Fixture,
    /// What both stand on.
    pub(crate) kv: MemoryKv,
    turnstile: Turnstile,
}

impl Pair {
    pub(crate) async fn new() -> Arc<Self> {
        let kv = MemoryKv::default();
        let turnstile = Turnstile::new(kv.clone());
        let on = |engine: Arc<dyn Kv>, seed: u64| {
            move |config: &mut RegistryConfig| {
                config.kv = engine;
                config.seed = Some(seed);
            }
        };
        let second = Fixture::with(on(Arc::new(kv.clone()), 8)).await;
        let first = Fixture::with(on(Arc::new(turnstile.clone()), 7)).await;
        Arc::new(Self {
            first,
            second,
            kv,
            turnstile,
        })
    }
}

/// Runs `request` on the first server of a new pair for each of its calls to storage, with `other`
/// on the second passing before that call; `check` sees what is left, and what the two returned.
/// The last time nobody passes. How often it ran.
pub(crate) async fn at_every_call<A, B>(
    prepare: impl AsyncFn(&Pair),
    request: impl AsyncFn(&Pair) -> A,
    other: impl Fn(Arc<Pair>) -> Pin<Box<dyn Future<Output = B> + Send>>,
    check: impl AsyncFn(&Pair, A, Option<B>, usize),
) -> usize
where
    B: Send + 'static,
{
    for at in 1.. {
        let pair = Pair::new().await;
        prepare(&pair).await;
        let said = Arc::new(Mutex::new(None));
        let passes = {
            let (said, other) = (Arc::clone(&said), other(Arc::clone(&pair)));
            async move {
                let returned = other.await;
                *said.lock() = Some(returned);
            }
        };
        pair.turnstile.arm(at, Box::pin(passes));
        let answered = request(&pair).await;
        let passed = pair.turnstile.disarm();
        let said = said.lock().take();
        check(&pair, answered, said, at).await;
        if !passed {
            return at;
        }
    }
    unreachable!("a request ends")
}

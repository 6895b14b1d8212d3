//! Two servers on one store. The second writes before a chosen storage call of the first.
//!
//! [`at_every_call`] runs a request once for each of its storage calls, with the other write before
//! that call, and once more without it. Thus every check of the request is followed by a concurrent
//! write.

use crate::fixture::Fixture;
use kubist_registry::RegistryConfig;
use kubist_storage::memory::MemoryKv;
use kubist_storage::{
    DeleteRequest, GetResponse, Kv, KvFuture, KvWrapper, PutRequest, RangeRequest, RangeResponse,
    ReadError, Revision, WriteError, WriteOutcome,
};
use kubist_storage::{KvRead, KvWrite};
use parking_lot::Mutex;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

/// The maximum number of calls of a request. Beyond it, the request counts as an endless loop.
const CALLS_MAX: usize = 200;

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// An engine that runs another future before one of its calls.
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

    /// Runs `other` before the call with this number, counted from now.
    fn arm(&self, at: usize, other: Boxed) {
        *self.state.lock() = State {
            calls: 0,
            at,
            other: Some(other),
        };
    }

    /// Removes the other future.
    fn disarm(&self) {
        *self.state.lock() = State::default();
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

impl KvWrapper for Turnstile {
    fn inner(&self) -> &dyn Kv {
        &self.kv
    }

    fn get<'a>(
        &'a self,
        key: &'a [u8],
        at: Option<Revision>,
    ) -> KvFuture<'a, Result<GetResponse, ReadError>> {
        KvFuture::boxed(async move {
            self.turn().await;
            self.kv.get(key, at).await
        })
    }

    fn range(&self, request: RangeRequest) -> KvFuture<'_, Result<RangeResponse, ReadError>> {
        KvFuture::boxed(async move {
            self.turn().await;
            self.kv.range(request).await
        })
    }

    fn put(&self, request: PutRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>> {
        KvFuture::boxed(async move {
            self.turn().await;
            self.kv.put(request).await
        })
    }

    fn delete(&self, request: DeleteRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>> {
        KvFuture::boxed(async move {
            self.turn().await;
            self.kv.delete(request).await
        })
    }
}

/// Two servers on one store.
pub(crate) struct Pair {
    /// The server that is paused.
    pub(crate) first: Fixture,
    /// The server that runs during the pause.
    pub(crate) second: Fixture,
    /// The store of both servers.
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

    /// Runs a request, and the other one before its call with this number. Returns both results.
    /// The second is `None` if the request made fewer calls.
    async fn once<A, B: Send + 'static>(
        &self,
        at: usize,
        request: impl Future<Output = A>,
        other: Pin<Box<dyn Future<Output = B> + Send>>,
    ) -> (A, Option<B>) {
        let outcome = Arc::new(Mutex::new(None));
        let sender = Arc::clone(&outcome);
        let passes = async move {
            let returned = other.await;
            *sender.lock() = Some(returned);
        };
        self.turnstile.arm(at, Box::pin(passes));
        let answered = request.await;
        self.turnstile.disarm();
        let outcome = outcome.lock().take();
        (answered, outcome)
    }
}

/// Runs `request` on the first server of a new pair, once for each of its storage calls, with
/// `other` on the second server before that call. `check` gets the pair and both results. In the
/// last run, `other` does not run. Returns the number of runs.
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
        let passes = other(Arc::clone(&pair));
        let (answered, outcome) = pair.once(at, request(&pair), passes).await;
        let passed = outcome.is_some();
        check(&pair, answered, outcome, at).await;
        if !passed {
            return at;
        }
    }
    unreachable!("a request ends")
}

/// Like [`at_every_call`], with one pair for all runs. `prepare` makes new objects for each run.
pub(crate) async fn at_every_call_of<S, A, B>(
    pair: &Arc<Pair>,
    prepare: impl AsyncFn(&Pair, usize) -> S,
    request: impl AsyncFn(&Pair, &S) -> A,
    other: impl Fn(Arc<Pair>, &S) -> Pin<Box<dyn Future<Output = B> + Send>>,
    check: impl AsyncFn(&Pair, S, A, Option<B>, usize),
) -> usize
where
    B: Send + 'static,
{
    for at in 1.. {
        let made = prepare(pair, at).await;
        let passes = other(Arc::clone(pair), &made);
        let (answered, outcome) = pair.once(at, request(pair, &made), passes).await;
        let passed = outcome.is_some();
        check(pair, made, answered, outcome, at).await;
        if !passed {
            return at;
        }
    }
    unreachable!("a request ends")
}

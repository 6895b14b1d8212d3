//! An engine whose watches can be held back or cut, and whose reads can be made to fail.

use futures_util::stream::unfold;
use kubist_storage::{
    Fault, FaultKind, GetResponse, Kv, KvFuture, KvWrapper, RangeRequest, RangeResponse, ReadError,
    Revision, Watch, WatchError, WatchRangeRequest,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::sync::watch;

/// An engine controlled by a test.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    kv: Arc<dyn Kv>,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    held: watch::Sender<bool>,
    cuts: watch::Sender<usize>,
    fails: AtomicBool,
    loses: AtomicBool,
    silent: AtomicBool,
    ranges: AtomicUsize,
    gets: AtomicUsize,
}

impl Gate {
    pub(crate) fn new(kv: Arc<dyn Kv>) -> Self {
        let state = State {
            held: watch::Sender::new(false),
            cuts: watch::Sender::new(0),
            fails: AtomicBool::new(false),
            loses: AtomicBool::new(false),
            silent: AtomicBool::new(false),
            ranges: AtomicUsize::new(0),
            gets: AtomicUsize::new(0),
        };
        Self {
            kv,
            state: Arc::new(state),
        }
    }

    /// Holds back watch events, or releases them.
    pub(crate) fn hold(&self, held: bool) {
        self.state.held.send_replace(held);
    }

    /// Ends all watches with an error.
    pub(crate) fn cut(&self) {
        self.state.cuts.send_modify(|it| *it += 1);
    }

    /// Makes range reads fail, or work again.
    pub(crate) fn fail(&self, fails: bool) {
        self.state.fails.store(fails, Ordering::Relaxed);
    }

    /// Drops watch events, as a broken engine would, or stops dropping them.
    pub(crate) fn lose(&self, loses: bool) {
        self.state.loses.store(loses, Ordering::Relaxed);
    }

    /// Suppresses progress notifications, like an etcd of unknown version, or allows them again.
    pub(crate) fn silence(&self, silent: bool) {
        self.state.silent.store(silent, Ordering::Relaxed);
    }

    /// Returns the number of range reads and of single-key reads.
    pub(crate) fn reads(&self) -> (usize, usize) {
        let count = |it: &AtomicUsize| it.load(Ordering::Relaxed);
        (count(&self.state.ranges), count(&self.state.gets))
    }
}

fn fault() -> Fault {
    Fault::new(FaultKind::Unavailable, "it was cut")
}

impl KvWrapper for Gate {
    fn inner(&self) -> &dyn Kv {
        self.kv.as_ref()
    }

    fn get<'a>(
        &'a self,
        key: &'a [u8],
        at: Option<Revision>,
    ) -> KvFuture<'a, Result<GetResponse, ReadError>> {
        self.state.gets.fetch_add(1, Ordering::Relaxed);
        self.kv.get(key, at)
    }

    fn range(&self, request: RangeRequest) -> KvFuture<'_, Result<RangeResponse, ReadError>> {
        self.state.ranges.fetch_add(1, Ordering::Relaxed);
        if self.state.fails.load(Ordering::Relaxed) {
            return KvFuture::ready(Err(fault().into()));
        }
        self.kv.range(request)
    }

    fn watch(&self, request: WatchRangeRequest) -> KvFuture<'_, Result<Watch, WatchError>> {
        KvFuture::boxed(async move {
            let inner = self.kv.watch(request).await?;
            let requester = inner.progress_requester();
            let mut cuts = self.state.cuts.subscribe();
            cuts.mark_unchanged();
            let held = self.state.held.subscribe();
            let gate = Arc::clone(&self.state);
            let stream = unfold(Some((inner, cuts, held, gate)), |state| async move {
                let (mut inner, mut cuts, mut held, gate) = state?;
                let next = async {
                    held.wait_for(|it| !it).await.ok()?;
                    // Events that were held back take a moment.
                    let batch = inner.next().await;
                    held.wait_for(|it| !it).await.ok()?;
                    batch
                };
                tokio::select! {
                    batch = next => {
                        let mut batch = batch?;
                        if let Ok(batch) = &mut batch
                            && gate.loses.load(Ordering::Relaxed)
                        {
                            batch.events.clear();
                        }
                        let goes_on = batch.is_ok();
                        Some((batch, goes_on.then_some((inner, cuts, held, gate))))
                    }
                    _ = cuts.changed() => Some((Err(fault().into()), None)),
                }
            });
            Ok(Watch::new(stream, move || requester.request()))
        })
    }

    fn supports_progress_requests(&self) -> bool {
        !self.state.silent.load(Ordering::Relaxed)
    }
}

//! `Registration`: a handle of an added handler. `Subscription`: a stream of events.

use crate::filtered::Gate;
use crate::listener::Listener;
use crate::{CoopBudget, HandlerState};
use futures_core::Stream;
use kubist_apimachinery::Object;
use kubist_cache::ResourceEvent;
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

/// A handle of a handler that was added to an informer.
///
/// Dropping it has no effect; [`Registration::remove`] removes the handler, and
/// [`Registration::remove_on_drop`] ties it to a scope.
pub struct Registration<K> {
    listener: Arc<Listener<K>>,
}

impl<K> Clone for Registration<K> {
    fn clone(&self) -> Self {
        Self {
            listener: Arc::clone(&self.listener),
        }
    }
}

impl<K: Object> Registration<K> {
    pub(crate) fn new(listener: Arc<Listener<K>>) -> Self {
        Self { listener }
    }

    /// Returns the handler's state.
    pub fn state(&self) -> HandlerState {
        self.listener.current()
    }

    /// Waits until every object of the first list was handled. Any state other than
    /// [`HandlerState::Synced`] says why that will not happen.
    pub async fn synced(&self) -> HandlerState {
        self.until(|state| state != HandlerState::Syncing).await
    }

    /// Waits until the handler will not be called any more, and returns why.
    pub async fn ended(&self) -> HandlerState {
        self.until(|state| !matches!(state, HandlerState::Syncing | HandlerState::Synced))
            .await
    }

    async fn until(&self, reached: impl Fn(HandlerState) -> bool) -> HandlerState {
        let mut states = self.listener.watch_state();
        match states.wait_for(|state| reached(*state)).await {
            Ok(state) => *state,
            Err(_) => HandlerState::Stopped,
        }
    }

    /// Removes the handler: no call follows the current one. Pending events are dropped, unlike in
    /// client-go, which delivers them.
    pub fn remove(&self) {
        self.listener.end(HandlerState::Removed);
    }

    /// Removes the handler and waits for its current call. When this returns, the handler has been
    /// dropped.
    ///
    /// It never returns if the handler itself awaits it.
    pub async fn remove_and_wait(&self) {
        self.remove();
        self.listener.unserved().await;
    }

    /// Returns a guard that removes the handler when dropped.
    #[must_use = "dropping the guard removes the handler"]
    pub fn remove_on_drop(self) -> RegistrationGuard<K> {
        RegistrationGuard { registration: self }
    }

    /// Returns the number of pending events.
    pub fn waiting(&self) -> usize {
        self.listener.waiting()
    }

    /// Returns how many times the handler panicked.
    pub fn panics(&self) -> u64 {
        self.listener.panics.load(Ordering::Relaxed)
    }

    /// Returns the handler's resync period once it was added; `None` means no resyncs. It differs
    /// from the requested period as the informer's [`Resync`](crate::Resync) determines, and may
    /// become shorter until the informer starts.
    pub fn resync(&self) -> Option<Duration> {
        self.listener.resync()
    }

    /// Changes the resync period, as [`HandlerConfig::resync`](crate::HandlerConfig::resync) of a
    /// handler that is added now. The informer applies it when its task runs next, and the period
    /// starts then.
    pub fn set_resync(&self, period: Option<Duration>) {
        self.listener.ask_resync(period);
    }
}

impl<K> fmt::Debug for Registration<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration").finish_non_exhaustive()
    }
}

/// Removes its handler when dropped.
#[derive(Debug)]
pub struct RegistrationGuard<K: Object> {
    registration: Registration<K>,
}

impl<K: Object> RegistrationGuard<K> {
    /// The handler.
    pub fn registration(&self) -> &Registration<K> {
        &self.registration
    }
}

impl<K: Object> Drop for RegistrationGuard<K> {
    fn drop(&mut self) {
        self.registration.remove();
    }
}

/// A stream of an informer's events, in place of a handler. Dropping it ends it.
///
/// It implements [`Stream`] too. A slow reader loses nothing and delays nobody; pending events are
/// bounded by the [`Delivery`](crate::Delivery).
pub struct Subscription<K: Object> {
    listener: Arc<Listener<K>>,
    filter: Option<(Admits<K>, Gate)>,
    /// The events of one change, at most a deletion and an addition.
    taken: VecDeque<ResourceEvent<K>>,
    /// Whether the last event was an initial addition; the next call marks it as handled.
    initial_out: bool,
    /// Makes a reader that never pauses yield now and then.
    budget: CoopBudget,
}

type Admits<K> = Box<dyn FnMut(&K) -> bool + Send + Sync>;

impl<K: Object> Subscription<K> {
    pub(crate) fn new(listener: Arc<Listener<K>>) -> Self {
        Self {
            listener,
            filter: None,
            taken: VecDeque::new(),
            initial_out: false,
            budget: CoopBudget::start(),
        }
    }

    /// Returns matching objects only, like [`Filtered`](crate::Filtered).
    #[must_use]
    pub fn filtered(mut self, admits: impl FnMut(&K) -> bool + Send + Sync + 'static) -> Self {
        self.filter = Some((Box::new(admits), Gate::default()));
        self
    }

    /// Returns the next event; `None` once the informer stopped or the subscription overflowed.
    ///
    /// # Cancel safety
    /// Safe: no event is lost.
    pub async fn next(&mut self) -> Option<ResourceEvent<K>> {
        std::future::poll_fn(|cx| self.poll_change(cx)).await
    }

    fn poll_change(&mut self, cx: &mut Context<'_>) -> Poll<Option<ResourceEvent<K>>> {
        loop {
            if std::mem::take(&mut self.initial_out) {
                self.listener.note_progress(1);
            }
            if self.taken.is_empty() {
                std::task::ready!(self.budget.poll_yield(cx));
                // One at a time, so that pending events can still be merged.
                match self.listener.poll_take(1, cx) {
                    Poll::Ready(Some(changes)) => self.taken.extend(changes),
                    Poll::Ready(None) => return Poll::Ready(None),
                    Poll::Pending => {
                        self.budget = CoopBudget::start();
                        return Poll::Pending;
                    }
                }
            }
            let change = self.taken.pop_front();
            self.initial_out = matches!(change, Some(ResourceEvent::Added { initial: true, .. }));
            let change = match (&mut self.filter, change) {
                (Some((admits, gate)), Some(change)) => gate.admitted(&mut **admits, change),
                (_, change) => change,
            };
            if change.is_some() {
                return Poll::Ready(change);
            }
        }
    }

    /// Returns a handle for its state and removal.
    pub fn registration(&self) -> Registration<K> {
        Registration::new(Arc::clone(&self.listener))
    }
}

impl<K: Object> Stream for Subscription<K> {
    type Item = ResourceEvent<K>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ResourceEvent<K>>> {
        self.get_mut().poll_change(cx)
    }
}

impl<K: Object> Drop for Subscription<K> {
    fn drop(&mut self) {
        self.listener.end(HandlerState::Removed);
    }
}

impl<K: Object> fmt::Debug for Subscription<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").finish_non_exhaustive()
    }
}

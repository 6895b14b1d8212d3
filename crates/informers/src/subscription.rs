//! `Registration`: a handler that was added; `Subscription`: changes for whoever asks for them.

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

/// A handler that was added to an informer.
///
/// Dropping it changes nothing; [`Registration::remove`] removes the handler, and
/// [`Registration::remove_on_drop`] ties it to a scope. Adding the same handler twice makes two.
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

    /// How far the handler has come.
    pub fn state(&self) -> HandlerState {
        self.listener.current()
    }

    /// Waits until every object of the first list was handled. Other answers than
    /// [`HandlerState::Synced`] say why that will not be.
    pub async fn synced(&self) -> HandlerState {
        self.until(|state| state != HandlerState::Syncing).await
    }

    /// Waits until the handler is called no more, and says why.
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

    /// Removes the handler: after the call that is under way, if one is, none follows. What waits
    /// for it is dropped (differs from client-go, which delivers it).
    pub fn remove(&self) {
        self.listener.end(HandlerState::Removed);
    }

    /// Removes the handler, and waits until the call that is under way, if one is, is done: when
    /// this returns, the handler is called no more and was dropped.
    ///
    /// Awaited by the handler itself it never returns.
    pub async fn remove_and_wait(&self) {
        self.remove();
        self.listener.unserved().await;
    }

    /// A guard that removes the handler when it is dropped.
    #[must_use = "dropping the guard removes the handler"]
    pub fn remove_on_drop(self) -> RegistrationGuard<K> {
        RegistrationGuard { registration: self }
    }

    /// The number of changes that wait for the handler.
    pub fn waiting(&self) -> usize {
        self.listener.waiting()
    }

    /// How often the handler panicked.
    pub fn panics(&self) -> u64 {
        self.listener.panics.load(Ordering::Relaxed)
    }

    /// How often the handler is told everything again, once it was added; `None`: never. It is
    /// what was asked for only as far as the informer's [`Resync`](crate::Resync) allows, and may
    /// become shorter until the informer starts.
    pub fn resync(&self) -> Option<Duration> {
        self.listener.resync()
    }

    /// Changes how often the handler is told everything again, as
    /// [`HandlerConfig::resync`](crate::HandlerConfig::resync) of a handler that is added now. The
    /// informer takes notice when its task runs next, and the period counts from then.
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

/// Changes for whoever asks for them: a handler turned round. Dropping it ends it.
///
/// It is a [`Stream`] too. Nothing is lost or delayed for others by asking slowly; what waits is
/// bounded as the [`Delivery`](crate::Delivery) says.
pub struct Subscription<K: Object> {
    listener: Arc<Listener<K>>,
    filter: Option<(Admits<K>, Gate)>,
    /// What one change became, which is at most a deletion and an addition.
    taken: VecDeque<ResourceEvent<K>>,
    /// The change given out last was an addition of the first list; asking again says that it is
    /// handled.
    initial_out: bool,
    /// Whoever asks without a pause is made to yield now and then.
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

    /// Gives out only what passes, with enter and leave as [`Filtered`](crate::Filtered) has them.
    #[must_use]
    pub fn filtered(mut self, admits: impl FnMut(&K) -> bool + Send + Sync + 'static) -> Self {
        self.filter = Some((Box::new(admits), Gate::default()));
        self
    }

    /// The next change; none once the informer stopped, or the subscription overflowed.
    ///
    /// # Cancel safety
    /// Safe: no change is lost.
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
                // One at a time, so that what waits can still merge.
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

    /// Its state, and its removal from elsewhere.
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

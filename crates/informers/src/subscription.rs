//! `Registration`: a handler that was added; `Subscription`: changes for whoever asks for them.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use kubist_apimachinery::Object;
use kubist_cache::Change;

use crate::HandlerState;
use crate::seat::Seat;

/// A handler that was added to an informer.
///
/// Dropping it changes nothing; [`Registration::remove`] removes the handler, and
/// [`Registration::remove_on_drop`] ties it to a scope. Adding the same handler twice makes two.
pub struct Registration<K> {
    seat: Arc<Seat<K>>,
}

impl<K> Clone for Registration<K> {
    fn clone(&self) -> Self {
        Self {
            seat: Arc::clone(&self.seat),
        }
    }
}

impl<K: Object> Registration<K> {
    pub(crate) fn new(seat: Arc<Seat<K>>) -> Self {
        Self { seat }
    }

    /// How far the handler has come.
    pub fn state(&self) -> HandlerState {
        *self.seat.watch_state().borrow()
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
        let mut states = self.seat.watch_state();
        match states.wait_for(|state| reached(*state)).await {
            Ok(state) => *state,
            Err(_) => HandlerState::Stopped,
        }
    }

    /// Removes the handler: after the call that is under way, if one is, none follows. What waits
    /// for it is dropped (differs from client-go, which delivers it).
    pub fn remove(&self) {
        self.seat.end(HandlerState::Removed);
    }

    /// A guard that removes the handler when it is dropped.
    #[must_use = "dropping the guard removes the handler"]
    pub fn remove_on_drop(self) -> RegistrationGuard<K> {
        RegistrationGuard { registration: self }
    }

    /// The number of changes that wait for the handler.
    pub fn waiting(&self) -> usize {
        self.seat.waiting()
    }

    /// How often the handler panicked.
    pub fn panics(&self) -> u64 {
        self.seat.panics()
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
pub struct Subscription<K: Object> {
    seat: Arc<Seat<K>>,
    taken: VecDeque<Change<K>>,
    /// The change given out last was an addition of the first list; asking again says that it is
    /// handled.
    initial_out: bool,
}

impl<K: Object> Subscription<K> {
    pub(crate) fn new(seat: Arc<Seat<K>>) -> Self {
        Self {
            seat,
            taken: VecDeque::new(),
            initial_out: false,
        }
    }

    /// The next change; none once the informer stopped, or the subscription overflowed.
    ///
    /// # Cancel safety
    /// Safe: no change is lost.
    pub async fn next(&mut self) -> Option<Change<K>> {
        if std::mem::take(&mut self.initial_out) {
            self.seat.note_progress(1);
        }
        if self.taken.is_empty() {
            // One at a time, so that what waits can still merge.
            self.taken.extend(self.seat.take(1).await?);
        }
        let change = self.taken.pop_front();
        self.initial_out = matches!(change, Some(Change::Added { initial: true, .. }));
        change
    }

    /// Its state, and its removal from elsewhere.
    pub fn registration(&self) -> Registration<K> {
        Registration::new(Arc::clone(&self.seat))
    }
}

impl<K: Object> Drop for Subscription<K> {
    fn drop(&mut self) {
        self.seat.end(HandlerState::Removed);
    }
}

impl<K: Object> fmt::Debug for Subscription<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").finish_non_exhaustive()
    }
}

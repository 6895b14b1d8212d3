//! The future of a drain, and its waiters.
//!
//! Every waiter is woken when the queue has drained, and a dropped future leaves nothing behind.
//! The core decides when a queue counts as drained.

use super::Shared;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// The waiters for the drain.
#[derive(Debug, Default)]
pub(super) struct Drainers {
    waiting: Vec<(u64, Waker)>,
    tickets: u64,
}

impl Drainers {
    fn wait(&mut self, ticket: &mut Option<u64>, waker: &Waker) {
        self.leave(ticket);
        self.tickets += 1;
        *ticket = Some(self.tickets);
        self.waiting.push((self.tickets, waker.clone()));
    }

    fn leave(&mut self, ticket: &mut Option<u64>) {
        if let Some(ticket) = ticket.take() {
            self.waiting.retain(|it| it.0 != ticket);
        }
    }

    pub(super) fn wake_all(&mut self) -> impl Iterator<Item = Waker> {
        self.waiting.drain(..).map(|it| it.1)
    }
}

pub(super) struct Drained<'a, T> {
    shared: &'a Arc<Shared<T>>,
    ticket: Option<u64>,
}

impl<'a, T> Drained<'a, T> {
    pub(super) fn new(shared: &'a Arc<Shared<T>>) -> Self {
        Self {
            shared,
            ticket: None,
        }
    }
}

impl<T> Future for Drained<'_, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let shared = self.shared;
        let mut state = shared.state.lock();
        if state.core.is_drained() {
            return Poll::Ready(());
        }
        state.drainers.wait(&mut self.ticket, cx.waker());
        Poll::Pending
    }
}

impl<T> Drop for Drained<'_, T> {
    fn drop(&mut self) {
        if self.ticket.is_some() {
            self.shared.state.lock().drainers.leave(&mut self.ticket);
        }
    }
}

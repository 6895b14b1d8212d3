//! The future that every `Kv` method returns.
//!
//! It lets one dyn-compatible trait serve both kinds of engine: one in memory answers at once
//! and allocates nothing, one behind a disk or a network boxes its future.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// What an engine answers, now or later.
///
/// # Cancel safety
///
/// A dropped read leaves no trace. A dropped write may or may not happen: an engine is free to
/// have done it before it returned the future.
#[must_use = "an engine may do nothing until its answer is awaited"]
pub struct Answer<'a, T>(State<'a, T>);

enum State<'a, T> {
    Ready(Option<T>),
    Later(Pin<Box<dyn Future<Output = T> + Send + 'a>>),
}

impl<'a, T> Answer<'a, T> {
    /// An answer that is there already.
    pub fn ready(value: T) -> Self {
        Self(State::Ready(Some(value)))
    }

    /// An answer that `future` will give.
    pub fn later(future: impl Future<Output = T> + Send + 'a) -> Self {
        Self(State::Later(Box::pin(future)))
    }
}

// Nothing is pinned in place: the value is moved out, and the future lies in a box.
impl<T> Unpin for Answer<'_, T> {}

impl<T> Future for Answer<'_, T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        match &mut self.get_mut().0 {
            State::Ready(value) => Poll::Ready(
                value
                    .take()
                    .expect("a future is not polled after it was ready"),
            ),
            State::Later(future) => future.as_mut().poll(cx),
        }
    }
}

impl<T> fmt::Debug for Answer<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            State::Ready(_) => "Answer::Ready",
            State::Later(_) => "Answer::Later",
        })
    }
}

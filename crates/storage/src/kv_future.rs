//! `KvFuture`: the future that every asynchronous method of an engine returns.
//!
//! It keeps the traits dyn-compatible for both kinds of engine: one in memory returns its result at
//! once without an allocation, one with a disk or a network behind it boxes its future.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The result of an engine call: available at once, or the output of a boxed future.
///
/// # Cancel safety
///
/// Dropping a read has no effect. A write that is dropped may or may not happen: an engine may have
/// done it before it returned the future.
#[must_use = "an engine may do nothing until the future is awaited"]
pub struct KvFuture<'a, T>(State<'a, T>);

enum State<'a, T> {
    Ready(Option<T>),
    Boxed(Pin<Box<dyn Future<Output = T> + Send + 'a>>),
}

impl<'a, T> KvFuture<'a, T> {
    /// Returns a future that is ready with `value`.
    pub fn ready(value: T) -> Self {
        Self(State::Ready(Some(value)))
    }

    /// Boxes `future`.
    pub fn boxed(future: impl Future<Output = T> + Send + 'a) -> Self {
        Self(State::Boxed(Box::pin(future)))
    }
}

// No field is structurally pinned: the value is moved out, and the future is in a box.
impl<T> Unpin for KvFuture<'_, T> {}

impl<T> Future for KvFuture<'_, T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        match &mut self.get_mut().0 {
            State::Ready(value) => Poll::Ready(
                value
                    .take()
                    .expect("a future is not polled after it was ready"),
            ),
            State::Boxed(future) => future.as_mut().poll(cx),
        }
    }
}

impl<T> fmt::Debug for KvFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            State::Ready(_) => "KvFuture::Ready",
            State::Boxed(_) => "KvFuture::Boxed",
        })
    }
}

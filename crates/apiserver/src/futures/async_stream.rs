//! `AsyncStream`: a stream of the items that an async function yields.
//!
//! The function keeps its state across items; `stream::unfold` would move it in and out of a future
//! with each item.

use futures_core::Stream;
use parking_lot::Mutex;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The stream.
pub(crate) struct AsyncStream<T, F> {
    /// `None` after its end.
    generator: Option<Pin<Box<F>>>,
    place: Arc<Mutex<Option<T>>>,
}

/// Yields items to the stream.
pub(crate) struct Yielder<T>(Arc<Mutex<Option<T>>>);

impl<T, F> AsyncStream<T, F> {
    /// Creates a stream of the items that `generator` yields until it returns. It runs when the
    /// stream is polled.
    pub(crate) fn new(yield_item: impl FnOnce(Yielder<T>) -> F) -> Self {
        let place = Arc::default();
        let generator = yield_item(Yielder(Arc::clone(&place)));
        Self {
            generator: Some(Box::pin(generator)),
            place,
        }
    }
}

impl<T> Yielder<T> {
    /// Yields one item, and continues when the next one is polled.
    pub(crate) async fn yield_item(&self, item: T) {
        let mut item = Some(item);
        poll_fn(|_| match item.take() {
            // The stream checks for an item after each poll, so no wake-up is needed.
            Some(item) => {
                *self.0.lock() = Some(item);
                Poll::Pending
            }
            None => Poll::Ready(()),
        })
        .await;
    }
}

impl<T, F: Future<Output = ()>> Stream for AsyncStream<T, F> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let Some(generator) = &mut self.generator else {
            return Poll::Ready(None);
        };
        if generator.as_mut().poll(cx).is_ready() {
            self.generator = None;
            return Poll::Ready(None);
        }
        let item = self.place.lock().take();
        item.map_or(Poll::Pending, |item| Poll::Ready(Some(item)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::StreamExt;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn items_are_in_order_and_the_stream_ends_with_the_function() {
        let stream = AsyncStream::new(async |yielder: Yielder<u32>| {
            for item in 0..5 {
                if item == 3 {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                yielder.yield_item(item).await;
            }
        });
        let all: Vec<u32> = stream.collect().await;
        assert_eq!(all, [0, 1, 2, 3, 4]);
    }
}

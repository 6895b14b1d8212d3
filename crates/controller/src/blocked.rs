//! Notices reconcilers that block their thread.

use std::future::poll_fn;
use std::pin::pin;
use std::time::{Duration, Instant};

/// A single step of a reconcile that takes this long has blocked its thread.
pub(crate) const BLOCKED: Duration = Duration::from_secs(1);

/// Awaits a future, and returns the longest time for which it did not give way, too.
pub(crate) async fn longest_step<F: Future>(future: F) -> (F::Output, Duration) {
    let (mut future, mut longest) = (pin!(future), Duration::ZERO);
    let output = poll_fn(|cx| {
        #[expect(
            clippy::disallowed_methods,
            reason = "a blocked thread is blocked in real time"
        )]
        let began = Instant::now();
        let polled = future.as_mut().poll(cx);
        longest = longest.max(began.elapsed());
        polled
    });
    (output.await, longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    #[expect(clippy::disallowed_methods, reason = "it is to block")]
    async fn a_step_that_blocks_is_measured_and_waiting_is_not() {
        let blocks = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            std::thread::sleep(Duration::from_millis(30));
            tokio::task::yield_now().await;
            7
        };
        let (output, longest) = longest_step(blocks).await;
        assert_eq!(output, 7);
        assert!(longest >= Duration::from_millis(30), "{longest:?}");
        assert!(longest < Duration::from_millis(900), "{longest:?}");
    }
}

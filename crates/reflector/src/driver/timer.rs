//! `Timer`: the timer of a deadline that moves with every event.
//!
//! Resetting a timer for each event costs more than the machine's work for the event. So the timer
//! keeps its time, and is reset only when it fires too early.

use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::time::{Instant, Sleep, sleep_until};

#[derive(Debug, Default)]
pub(super) struct Timer {
    timer: Option<Pin<Box<Sleep>>>,
}

impl Timer {
    /// Completes once `deadline` has passed.
    fn poll(&mut self, cx: &mut Context<'_>, deadline: Instant) -> Poll<()> {
        let timer = self
            .timer
            .get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if timer.deadline() > deadline {
            timer.as_mut().reset(deadline);
        }
        while timer.as_mut().poll(cx).is_ready() {
            if timer.deadline() >= deadline {
                self.timer = None;
                return Poll::Ready(());
            }
            timer.as_mut().reset(deadline);
        }
        Poll::Pending
    }

    /// Returns the output of a poll function, or `None` at `deadline`.
    pub(super) async fn before<T>(
        &mut self,
        deadline: Instant,
        mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Option<T> {
        std::future::poll_fn(|cx| match poll(cx) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending => self.poll(cx, deadline).map(|()| None),
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    async fn rings(timer: &mut Timer, deadline: Instant) -> Duration {
        let start = Instant::now();
        let nothing = timer.before(deadline, |_| Poll::<()>::Pending).await;
        assert_eq!(nothing, None);
        start.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn it_rings_at_the_deadline_that_holds_now_whether_that_moved_on_or_back() {
        let (mut timer, second) = (Timer::default(), Duration::from_secs(1));
        let early = Instant::now() + second;
        let given_up = tokio::time::timeout(second / 2, rings(&mut timer, early));
        assert!(given_up.await.is_err(), "the timer is set");
        assert_eq!(rings(&mut timer, early + 2 * second).await, 5 * second / 2);

        let late = Instant::now() + 9 * second;
        let given_up = tokio::time::timeout(second, rings(&mut timer, late));
        assert!(given_up.await.is_err(), "the timer is set");
        let sooner = Instant::now() + second;
        assert_eq!(rings(&mut timer, sooner).await, second);
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_in_time_needs_no_timer() {
        let mut timer = Timer::default();
        let output = timer.before(Instant::now(), |_| Poll::Ready(7)).await;
        assert_eq!(output, Some(7));
        assert!(timer.timer.is_none());
    }
}

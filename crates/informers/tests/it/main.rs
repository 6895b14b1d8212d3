//! Shared informers against a small in-memory cluster, on a paused clock.

/// Turns each of these functions into a test for each queue.
macro_rules! on_both_queues {
    ($($name:ident)*) => {
        $(
            mod $name {
                use kubist_informers::QueueKind;

                #[tokio::test(start_paused = true)]
                async fn on_a_real_fifo() {
                    super::$name(QueueKind::RealFifo).await;
                }

                #[tokio::test(start_paused = true)]
                async fn on_a_delta_fifo() {
                    super::$name(QueueKind::DeltaFifo).await;
                }
            }
        )*
    };
}

mod cancel;
mod cluster;
mod contracts;
mod factory;
mod forms;
mod handlers;
mod in_place;
mod informer;
mod namespaces;
mod reader;
mod removal;
mod reported_problems;
mod service;
mod slow;
mod unreadable;
mod yielding;

//! `Gate`: which sequences may run concurrently on the same servers.
//!
//! A definition is visible to all sequences: in the lists of groups and paths, and in `OpenAPI`.
//! Sequences that read those may run concurrently, but not with one that creates definitions. All
//! others see only their own namespace and their own objects.

use crate::area::Area;
use crate::step::Sequence;
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Admits sequences.
#[derive(Debug, Default)]
pub(crate) struct Gate(RwLock<()>);

/// Held while a sequence runs.
#[must_use]
#[derive(Debug)]
pub(crate) enum Pass<'a> {
    /// It affects no other sequence.
    Free,
    Reads(#[expect(dead_code, reason = "it is held")] RwLockReadGuard<'a, ()>),
    Defines(#[expect(dead_code, reason = "it is held")] RwLockWriteGuard<'a, ()>),
}

impl Gate {
    /// Waits until the sequence may run. Cancel safe.
    pub(crate) async fn pass(&self, sequence: &Sequence) -> Pass<'_> {
        let has = |areas: &[Area]| sequence.steps.iter().any(|it| areas.contains(&it.area));
        if has(&[Area::Definitions]) {
            Pass::Defines(self.0.write().await)
        } else if has(&[Area::Documents, Area::Paths]) {
            Pass::Reads(self.0.read().await)
        } else {
            Pass::Free
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Step;

    fn of(area: Area) -> Sequence {
        Sequence {
            seed: 0,
            steps: vec![Step::new(0, area, "GET", "/")],
        }
    }

    #[tokio::test]
    async fn who_reads_what_definitions_change_waits_for_who_makes_them() {
        let gate = Gate::default();
        let (defines, paths, lists) = (of(Area::Definitions), of(Area::Paths), of(Area::Lists));
        let making = gate.pass(&defines).await;
        assert!(matches!(gate.pass(&lists).await, Pass::Free));
        let read = gate.pass(&paths);
        tokio::pin!(read);
        assert!(futures_poll(&mut read).await.is_none());
        drop(making);
        let one = read.await;
        let other = gate.pass(&paths).await;
        assert!(matches!((&one, &other), (Pass::Reads(_), Pass::Reads(_))));
        let next = gate.pass(&defines);
        tokio::pin!(next);
        assert!(futures_poll(&mut next).await.is_none());
    }

    /// Polls a future once.
    async fn futures_poll<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        std::future::poll_fn(|context| {
            std::task::Poll::Ready(match std::pin::Pin::new(&mut *future).poll(context) {
                std::task::Poll::Ready(output) => Some(output),
                std::task::Poll::Pending => None,
            })
        })
        .await
    }
}

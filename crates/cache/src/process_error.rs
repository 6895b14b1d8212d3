//! `ProcessError`: the error with which a consumer rejects an item of a queue.
//!
//! It determines what becomes of the item; the reason is the consumer's. It is not an error of the
//! queue.
//!
//! It corresponds to `ErrRequeue` and the other errors of the function passed to `Pop` in older
//! releases of client-go; later ones have no requeue.

/// Why an item could not be processed, and what becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an item is kept or it is not")]
pub enum ProcessError<E> {
    /// The item goes back to the end of the queue, unless newer deltas of its object are queued by
    /// then.
    Requeue(E),
    /// The item is dropped.
    Drop(E),
}

impl<E> ProcessError<E> {
    /// Returns the reason.
    pub fn into_inner(self) -> E {
        match self {
            Self::Requeue(error) | Self::Drop(error) => error,
        }
    }

    /// Returns the result of processing an item, which is put back if the error asks for it.
    pub(crate) fn settle<T>(
        result: Result<(), Self>,
        item: T,
        put_back: impl FnOnce(T),
    ) -> Result<(), E> {
        if let Err(Self::Requeue(_)) = result {
            put_back(item);
        }
        result.map_err(Self::into_inner)
    }
}

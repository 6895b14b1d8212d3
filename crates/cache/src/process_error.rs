//! `ProcessError`: what whoever processes an item answers when it could not.
//!
//! It says what becomes of the item; the reason is the caller's. It is not an error of the queue.
//!
//! Source: `ErrRequeue` and the other errors of the function given to `Pop`, in older releases of
//! client-go; later ones have no requeue.

/// Why an item could not be processed, and what is to become of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an item is kept or it is not")]
pub enum ProcessError<E> {
    /// The item goes back to the end of the queue, unless there is news of its object by then.
    Requeue(E),
    /// The item is dropped.
    Drop(E),
}

impl<E> ProcessError<E> {
    /// The reason.
    pub fn into_inner(self) -> E {
        match self {
            Self::Requeue(error) | Self::Drop(error) => error,
        }
    }

    /// What processing an item came to; one that is to be kept goes back.
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

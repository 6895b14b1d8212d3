//! What a machine is doing.

use std::time::Instant;

#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Nothing is under way.
    Waiting {
        until: Instant,
        /// Whether to read first although the machine leads.
        read: bool,
    },
    Asking {
        what: Ask,
        sent: Instant,
        give_up_at: Instant,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    Read,
    /// A write that begins a term.
    Acquire,
    /// A write that prolongs the term; whether it is one without a read before it.
    Renew {
        fast: bool,
    },
    Release,
}

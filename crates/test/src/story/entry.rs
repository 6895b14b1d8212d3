//! `Entry`: one thing that happened in a run, from which a story is told.

use kubist::apimachinery::{GroupKind, ObjectName, Str};
use std::time::Duration;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A step of the user, or how it ended.
    Step(String),
    /// A fault of the plan.
    Fault(String),
    /// A fault of the plan that strikes after a write of this client.
    FaultAfterWrite { client: Str, text: String },
    /// A controller, started or ended.
    Controller(String),
    /// An object was written.
    Wrote {
        client: Str,
        kind: GroupKind,
        name: ObjectName,
        /// `created`, `changed` or `deleted`.
        verb: &'static str,
        /// The version before; 0 if there was none.
        before: u64,
        revision: u64,
        /// The fields, shortly.
        fields: String,
    },
    /// A client got an event of a watch, or an item of a list.
    Saw {
        client: Str,
        resource: Str,
        name: ObjectName,
        revision: u64,
        is_deleted: bool,
    },
    /// The server gave an answer that is no success.
    Refused {
        client: Str,
        call: String,
        code: u16,
        /// The client did not get it, but another answer or none.
        is_lost: bool,
    },
    /// Something is wrong.
    Broke(String),
}

/// One thing that happened, and when, since the world began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) time: Duration,
    pub(crate) what: What,
}

/// Returns `Pod shop/web`.
pub(crate) fn title(kind: &GroupKind, name: &ObjectName) -> String {
    if name.namespace.is_empty() {
        format!("{} {}", kind.kind, name.name)
    } else {
        format!("{} {}/{}", kind.kind, name.namespace, name.name)
    }
}

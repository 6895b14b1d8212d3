//! `Treatment`: what is done with one request, and `Tap`: who decides it.
//!
//! The interposer asks its taps at three points: before a request is served, when its answer is
//! there, and before an event of a watch is delivered.

use super::call::Call;
use futures_core::future::BoxFuture;
use futures_util::FutureExt as _;
use futures_util::future::{pending, ready, select_all};
use kubist::apimachinery::{ObjectName, Status, Str};
use kubist::codec::watch_stream::EventKind;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What happens to a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Fate {
    /// It is served.
    #[default]
    Serve,
    /// It is not served; this is its answer.
    Answer(Box<Status>),
    /// It is served, and this is its answer nevertheless.
    AnswerAfter(Box<Status>),
    /// It is not served; its connection breaks.
    Break,
    /// It is served; its connection breaks before the answer.
    BreakAfter,
    /// The server cannot be reached.
    Refuse,
    /// It is not served, and there is no answer. The caller waits until it is dropped.
    Never,
    /// It is served, and there is no answer.
    NeverAfter,
}

/// An older state that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct View {
    /// The revision of the state.
    pub(crate) revision: u64,
    /// Whether reads of single objects are from it, too.
    pub(crate) gets: bool,
}

/// What is done with one request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Treatment {
    /// How long it waits before it is served.
    pub(crate) delay: Duration,
    pub(crate) fate: Fate,
    /// The state that it reads, if it is a read.
    pub(crate) view: Option<View>,
}

/// What an answer says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answered {
    pub(crate) code: u16,
    /// The name and the resource version of the object in the answer to a write, if it has one.
    pub(crate) object: Option<(ObjectName, u64)>,
    /// The client does not get it: it gets another one, or none.
    pub(crate) is_lost: bool,
}

/// One event of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) kind: EventKind,
    pub(crate) name: ObjectName,
    pub(crate) revision: u64,
    /// The bookmark after the initial events, without which a streaming list has no end.
    pub(crate) ends_list: bool,
}

/// What happens to an event of a watch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Delivery {
    /// The client gets it.
    Deliver,
    /// The client does not get it. Only right for bookmarks: watches lose nothing else.
    Skip,
    /// The watch ends with this status instead.
    End(Box<Status>),
    /// The connection breaks instead.
    Cut,
}

/// Decides about requests. A decision may take its time.
pub(crate) trait Tap: Send + Sync + 'static {
    /// Decides about a request before it is served.
    fn treat<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Treatment>;

    /// Waits until a request that no rule is about, such as discovery, can leave its client, and
    /// returns whether it reaches the server. Default: it does, at once.
    fn reaches<'a>(&'a self, _call: &'a Call) -> BoxFuture<'a, bool> {
        ready(true).boxed()
    }

    /// Learns of an answer before its client does; the answer waits for the future.
    fn answered<'a>(&'a self, call: &'a Call, answered: &'a Answered) -> BoxFuture<'a, ()>;

    /// Decides about an event of a watch before it is delivered.
    fn deliver<'a>(&'a self, watch: &'a Call, arrival: &'a Arrival) -> BoxFuture<'a, Delivery>;

    /// Returns a token that is cancelled when a connection that is there now has to break, whatever
    /// it waits for. Default: none.
    fn breaks(&self) -> Option<CancellationToken> {
        None
    }

    /// Waits until the client may learn that its connection has broken. Default: at once.
    fn broken<'a>(&'a self, _call: &'a Call) -> BoxFuture<'a, ()> {
        ready(()).boxed()
    }

    /// Reports whether lists are to be shown to [`listed`](Self::listed).
    fn sees_lists(&self) -> bool {
        false
    }

    /// Learns what a list showed: names and resource versions, and the version of the list.
    fn listed(&self, _call: &Call, _items: &[(ObjectName, u64)], _version: &Str) {}
}

/// The taps of a connection that is there now, and what breaks it.
pub(super) struct Breaks {
    taps: Arc<[Arc<dyn Tap>]>,
    tokens: Vec<CancellationToken>,
}

impl Breaks {
    pub(super) fn of(taps: &Arc<[Arc<dyn Tap>]>) -> Self {
        Self {
            tokens: taps.iter().filter_map(|it| it.breaks()).collect(),
            taps: Arc::clone(taps),
        }
    }

    /// Completes when the connection has broken and the client may learn of it.
    ///
    /// Cancel safe.
    pub(super) async fn broken(&self, call: &Call) {
        let tokens = self.tokens.iter().map(|it| it.cancelled().boxed());
        let _which = select_all(tokens.chain([pending().boxed()])).await;
        for tap in &*self.taps {
            tap.broken(call).await;
        }
    }
}

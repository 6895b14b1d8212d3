//! `IncomingRequest`: the head of a request together with its connection and its metric labels.

use crate::filters::caller::Caller;
use crate::filters::send_buffers::Held;
use crate::metrics::RequestLabels;
use crate::request::Request;

/// A request, what it is counted under, and what it came on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IncomingRequest<'a> {
    pub(crate) request: &'a Request,
    pub(crate) labels: &'a RequestLabels,
    pub(crate) caller: &'a Caller,
    /// What is made of its answer.
    pub(crate) held: &'a Held,
    /// Whether its body is still to come, and matters.
    pub(crate) awaits_body: bool,
}

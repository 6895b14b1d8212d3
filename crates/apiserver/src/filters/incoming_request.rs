//! `IncomingRequest`: the head of a request together with its connection and its metric labels.

use crate::filters::connection_info::ConnectionInfo;
use crate::filters::send_buffers::ResponseBuffer;
use crate::metrics::RequestLabels;
use crate::request::Request;

/// A request, what it is counted under, and what it came on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IncomingRequest<'a> {
    pub(crate) request: &'a Request,
    pub(crate) labels: &'a RequestLabels,
    pub(crate) connection: &'a ConnectionInfo,
    /// What is made of its answer.
    pub(crate) held: &'a ResponseBuffer,
    /// Whether its body is still to come, and matters.
    pub(crate) awaits_body: bool,
}

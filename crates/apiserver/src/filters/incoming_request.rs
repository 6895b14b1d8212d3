//! `IncomingRequest`: the head of a request together with its connection and its metric labels.

use crate::filters::connection_info::ConnectionInfo;
use crate::filters::send_buffers::ResponseBuffer;
use crate::metrics::RequestLabels;
use crate::request::Request;

/// A request, its metric labels and its connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IncomingRequest<'a> {
    pub(crate) request: &'a Request,
    pub(crate) labels: &'a RequestLabels,
    pub(crate) connection: &'a ConnectionInfo,
    /// The send buffer of its response.
    pub(crate) held: &'a ResponseBuffer,
    /// Whether its body matters and is not complete yet.
    pub(crate) awaits_body: bool,
}

//! Requests progress on the current stream of a watch.

use super::stream::Stream;
use kubist_etcd_api as api;
use parking_lot::Mutex;
use tokio::sync::mpsc::Sender;

/// The sender of the open stream; `None` where etcd's responses cannot be trusted.
#[derive(Debug, Default)]
pub(super) struct ProgressSender(Mutex<Option<Sender<api::WatchRequest>>>);

impl ProgressSender {
    /// Switches to this stream.
    pub(super) fn switch_to(&self, stream: &Stream) {
        *self.0.lock() = stream.progress_asks().cloned();
    }

    /// The watch has ended.
    pub(super) fn forget(&self) {
        *self.0.lock() = None;
    }

    /// Sends a progress request, unless enough are pending that another adds nothing.
    pub(super) fn ask(&self) {
        if let Some(requests) = &*self.0.lock() {
            let progress = api::WatchProgressRequest {};
            let request = Some(api::WatchRequestUnion::Progress(progress));
            // Full: a pending one will be answered. Closed: the watch is being resumed.
            drop(requests.try_send(api::WatchRequest { request }));
        }
    }
}

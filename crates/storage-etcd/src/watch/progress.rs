//! Asks a watch's stream for progress, whichever stream that is at the time.

use super::stream::Stream;
use crate::proto;
use parking_lot::Mutex;
use tokio::sync::mpsc::Sender;

/// The way into the stream that is open; none where etcd's answers cannot be trusted.
#[derive(Debug, Default)]
pub(super) struct ProgressAsker(Mutex<Option<Sender<proto::WatchRequest>>>);

impl ProgressAsker {
    /// From now on asks this stream.
    pub(super) fn ask_through(&self, stream: &Stream) {
        *self.0.lock() = stream.progress_asks().cloned();
    }

    /// The watch has ended.
    pub(super) fn forget(&self) {
        *self.0.lock() = None;
    }

    /// Asks, unless so many questions are under way that another would tell nothing new.
    pub(super) fn ask(&self) {
        if let Some(asks) = &*self.0.lock() {
            let progress = proto::WatchProgressRequest {};
            let ask = Some(proto::WatchAsk::Progress(progress));
            // Full: one of those in it is answered. Closed: the watch is being taken up again.
            drop(asks.try_send(proto::WatchRequest { ask }));
        }
    }
}

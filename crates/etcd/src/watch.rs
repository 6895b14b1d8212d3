//! The service `Watch`: any number of watches on one stream.
//!
//! A stream has no queue: it asks the engine when the client can take more. A client that does not
//! read costs no more than the responses in flight, and its watches end as compacted once history
//! has passed them.

mod open;
mod stream;

use self::stream::WatchStream;
use crate::service::Etcd;
use futures_util::stream::{BoxStream, StreamExt as _, unfold};
use kubist_etcd_api as api;
use tonic::{Status, Streaming};

impl Etcd {
    pub(crate) fn watch(
        self,
        requests: Streaming<api::WatchRequest>,
    ) -> BoxStream<'static, Result<api::WatchResponse, Status>> {
        let stream = WatchStream::new(self, requests);
        unfold(stream, |mut stream| async {
            let response = stream.next().await?;
            Some((response, stream))
        })
        .boxed()
    }
}

//! `Connection`: whether a watch is live, as its requests show. It wraps an informer's source.

use futures_core::future::BoxFuture;
use futures_util::StreamExt as _;
use kubist_apimachinery::Object;
use kubist_cache::{
    FetchError, ListRequest, ListStream, ListerWatcher, WatchItem, WatchRequest, WatchStream,
};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A watch that ends normally is opened again; a pause that is shorter is no loss.
const GRACE: Duration = Duration::from_secs(1);

/// The state of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// The first list is being read.
    Listing,
    /// Events arrive as they occur.
    Live,
    /// The version to go on from has expired.
    Relisting,
    /// There has been no answer for this long.
    Lost(Duration),
}

/// Observes the requests of one informer. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Connection(Arc<Mutex<State>>);

#[derive(Clone, Copy, Debug)]
enum State {
    Listing,
    Live,
    Relisting,
    Lost(Instant),
}

impl Connection {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(State::Listing)))
    }

    /// Wraps a source to observe it.
    pub(super) fn observe<K: Object>(
        &self,
        source: Arc<dyn ListerWatcher<K>>,
    ) -> Arc<dyn ListerWatcher<K>> {
        let connection = self.clone();
        Arc::new(Observed { source, connection })
    }

    /// Returns the current state.
    pub(super) fn link(&self) -> Link {
        match *self.0.lock() {
            State::Listing => Link::Listing,
            State::Live => Link::Live,
            State::Relisting => Link::Relisting,
            State::Lost(since) if since.elapsed() < GRACE => Link::Live,
            State::Lost(since) => Link::Lost(since.elapsed()),
        }
    }

    fn opened(&self) {
        *self.0.lock() = State::Live;
    }

    /// A request failed, or its answer ended.
    fn lost(&self, error: Option<&FetchError>) {
        let mut state = self.0.lock();
        *state = match *state {
            _ if error.is_some_and(FetchError::is_version_unavailable) => State::Relisting,
            State::Relisting if error.is_none() => State::Relisting,
            State::Lost(since) => State::Lost(since),
            _ => State::Lost(Instant::now()),
        };
    }

    /// A new request begins: whatever was open is not.
    fn begin(&self, instead: fn() -> State) {
        let mut state = self.0.lock();
        if matches!(*state, State::Live) {
            *state = instead();
        }
    }
}

struct Observed<K> {
    source: Arc<dyn ListerWatcher<K>>,
    connection: Connection,
}

impl<K: Object> ListerWatcher<K> for Observed<K> {
    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListStream<K>, FetchError>> {
        self.connection.begin(|| State::Relisting);
        Box::pin(async move {
            let listed = self.source.list(request).await;
            let stream = listed.inspect_err(|error| self.connection.lost(Some(error)))?;
            let connection = self.connection.clone();
            let observed = stream.inspect(move |batch| {
                if let Err(error) = batch {
                    connection.lost(Some(error));
                }
            });
            Ok(observed.boxed())
        })
    }

    fn watch(&self, request: WatchRequest) -> BoxFuture<'_, Result<WatchStream<K>, FetchError>> {
        self.connection.begin(|| State::Lost(Instant::now()));
        Box::pin(async move {
            let opened = self.source.watch(request).await;
            let stream = opened.inspect_err(|error| self.connection.lost(Some(error)))?;
            self.connection.opened();
            let events = (stream, self.connection.clone());
            Ok(futures_util::stream::unfold(events, next_batch).boxed())
        })
    }

    fn supports_streaming_list(&self) -> bool {
        self.source.supports_streaming_list()
    }

    fn streaming_list_refused(&self) {
        self.source.streaming_list_refused();
    }

    fn is_ordered(&self) -> bool {
        self.source.is_ordered()
    }
}

type Batch<K> = Result<Vec<WatchItem<K>>, FetchError>;

async fn next_batch<K>(
    (mut stream, connection): (WatchStream<K>, Connection),
) -> Option<(Batch<K>, (WatchStream<K>, Connection))> {
    let batch = stream.next().await;
    match &batch {
        Some(Ok(_)) => {}
        Some(Err(error)) => connection.lost(Some(error)),
        None => connection.lost(None),
    }
    Some((batch?, (stream, connection)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::Unstructured;
    use std::collections::VecDeque;

    /// Answers each watch with the next outcome: an error, or a stream that ends with one or not.
    struct Scripted(Mutex<VecDeque<Result<Option<FetchError>, FetchError>>>);

    impl ListerWatcher<Unstructured> for Scripted {
        fn list(
            &self,
            _: ListRequest,
        ) -> BoxFuture<'_, Result<ListStream<Unstructured>, FetchError>> {
            Box::pin(async { Ok(futures_util::stream::empty().boxed()) })
        }

        fn watch(
            &self,
            _: WatchRequest,
        ) -> BoxFuture<'_, Result<WatchStream<Unstructured>, FetchError>> {
            let next = self.0.lock().pop_front().expect("an outcome is scripted");
            Box::pin(async { Ok(futures_util::stream::iter(next?.map(Err)).boxed()) })
        }
    }

    fn unavailable() -> FetchError {
        FetchError::Unavailable {
            message: "starting".into(),
            retry_after: None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_is_live_lost_since_its_first_failure_and_live_again() {
        let expired = FetchError::Expired {
            message: "old".into(),
        };
        let script = [
            Ok(None),
            Err(unavailable()),
            Err(unavailable()),
            Ok(Some(expired)),
        ];
        let connection = Connection::new();
        let source: Arc<dyn ListerWatcher<Unstructured>> =
            Arc::new(Scripted(Mutex::new(script.into())));
        let source = connection.observe(source);
        assert_eq!(connection.link(), Link::Listing);
        let ended = source.watch(WatchRequest::default()).await.unwrap();
        assert_eq!(connection.link(), Link::Live);
        assert_eq!(ended.count().await, 0);
        assert_eq!(connection.link(), Link::Live, "it is opened again at once");

        for _ in 0..2 {
            tokio::time::advance(Duration::from_secs(5)).await;
            assert!(source.watch(WatchRequest::default()).await.is_err());
        }
        let lost = Link::Lost(Duration::from_secs(10));
        assert_eq!(connection.link(), lost, "since the first");

        let expired = source.watch(WatchRequest::default()).await.unwrap();
        assert_eq!(connection.link(), Link::Live);
        assert_eq!(expired.count().await, 1);
        assert_eq!(connection.link(), Link::Relisting);
    }
}

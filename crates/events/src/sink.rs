//! `EventSink`: where events are written.

use futures_core::future::BoxFuture;
use kubist_api::events::v1::{Event, EventSeries};
use kubist_client::{Ambient, Api, ApiError, Client, Patch};

/// Writes events. client-go's interface of that name. A test can implement it without a server.
pub trait EventSink: Send + Sync + 'static {
    /// Creates an event; namespace and name are set.
    fn create(&self, event: Event) -> BoxFuture<'_, Result<(), ApiError>>;

    /// Sets the series of an event.
    fn set_series<'a>(
        &'a self,
        namespace: &'a str,
        name: &'a str,
        series: EventSeries,
    ) -> BoxFuture<'a, Result<(), ApiError>>;

    /// Returns where the dates of events, and random numbers, come from. Default: the machine.
    fn ambient(&self) -> Ambient {
        Ambient::default()
    }
}

/// Writes to `events.k8s.io/v1`, which needs the verbs `create` and `patch` on `events` of that
/// group.
impl EventSink for Client {
    fn create(&self, event: Event) -> BoxFuture<'_, Result<(), ApiError>> {
        Box::pin(async move {
            let events: Api<Event> = Api::all(self.clone());
            events.create(&event).await.map(drop)
        })
    }

    fn set_series<'a>(
        &'a self,
        namespace: &'a str,
        name: &'a str,
        series: EventSeries,
    ) -> BoxFuture<'a, Result<(), ApiError>> {
        Box::pin(async move {
            let events: Api<Event> = Api::namespaced(self.clone(), namespace);
            let series = serde_json::json!({"series": {
                "count": series.count,
                "lastObservedTime": series.last_observed_time,
            }});
            events.patch(name, &Patch::Merge(series)).await.map(drop)
        })
    }

    fn ambient(&self) -> Ambient {
        Self::ambient(self).clone()
    }
}

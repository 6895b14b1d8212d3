//! Public types can be sent and shared, and so can the future of a run.

use crate::memory_sink::MemorySink;
use kubist_events::{EventBroadcaster, EventMonitor, EventRecorder, EventSink};
use tokio_util::sync::CancellationToken;

fn is_shared<T: Send + Sync>() {}
fn is_sent<T: Send>(_: &T) {}

#[tokio::test]
async fn types_and_futures_can_be_sent() {
    is_shared::<EventRecorder>();
    is_shared::<EventMonitor>();
    is_shared::<EventBroadcaster>();
    is_shared::<Box<dyn EventSink>>();
    let run = EventBroadcaster::new(MemorySink::default()).run(CancellationToken::new());
    is_sent(&run);
    assert_eq!(run.await.recorded, 0, "it ends without recorders");
}

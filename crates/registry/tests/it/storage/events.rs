//! Watch events as text, and functions that wait for them.

use kubist_registry::{EventStream, WatchEvent};
use std::time::Duration;
use tokio::time::timeout;

/// Returns `TYPE namespace/name@version`.
pub(crate) fn describe(event: &WatchEvent) -> String {
    let Some(stored) = event.object() else {
        return event.type_name().to_owned();
    };
    let meta = stored.object().expect("readable").meta();
    let (namespace, name) = (&meta.namespace, &meta.name);
    let end = if meta.annotations.is_empty() {
        ""
    } else {
        " end"
    };
    let slash = if name.is_empty() { "" } else { "/" };
    format!(
        "{} {namespace}{slash}{name}@{}{end}",
        event.type_name(),
        stored.revision()
    )
}

/// Returns the next `count` events.
pub(crate) async fn take(watch: &mut EventStream, count: usize) -> Vec<String> {
    let mut all = Vec::new();
    while all.len() < count {
        let next = timeout(Duration::from_secs(30), watch.next()).await;
        let Some(events) = next.unwrap_or_else(|_| panic!("{count} events, got {all:?}")) else {
            break;
        };
        all.extend(events.iter().map(describe));
    }
    all
}

/// Returns the events that arrive within a moment.
pub(crate) async fn drain(watch: &mut EventStream) -> Vec<String> {
    let mut all = Vec::new();
    while let Ok(Some(events)) = timeout(Duration::from_millis(50), watch.next()).await {
        all.extend(events.iter().map(describe));
    }
    all
}

//! What following a watch costs at least: the same client reads the same recording, and each object
//! is kept in a list and replaced by a later one. No store, no indexes, no handler.

use crate::Failure;
use futures::TryStreamExt as _;
use kubist_apimachinery::wire::Ingest;
use kubist_cache::{FieldLookup, Source as _, VersionMatch, WatchItem, WatchRequest};
use kubist_client::Client;
use kubist_peer::settle;
use meter::Usage;
use replay::Replay;
use std::sync::Arc;

/// The list, of which the oldest object is replaced first.
struct Kept<F> {
    objects: Vec<Arc<F>>,
    /// The object that the next update replaces.
    next: usize,
}

impl<F> Kept<F> {
    fn replace(&mut self, object: F) {
        if let Some(oldest) = self.objects.get_mut(self.next) {
            *oldest = Arc::new(object);
            self.next = (self.next + 1) % self.objects.len();
        }
    }
}

/// Prints what the initial state costs and holds, and the updates after it, as an informer's run
/// does.
pub(crate) async fn follow<F: Ingest + FieldLookup>(
    client: Client,
    replay: &Replay,
    read: impl Fn(&F) -> bool,
) -> Result<(), Failure> {
    let started = Usage::now();
    let source = client.lister_watcher::<F>(&Default::default());
    let request = WatchRequest {
        bookmarks: true,
        send_initial_events: true,
        version_match: Some(VersionMatch::NotOlderThan),
        ..WatchRequest::default()
    };
    let mut watch = source.watch(request).await?;
    let mut kept = Kept {
        objects: Vec::new(),
        next: 0,
    };
    let mut before = started;
    let mut heard = 0_u64;
    while let Some(items) = watch.try_next().await? {
        for item in items {
            match item {
                WatchItem::Bookmark {
                    initial_events_end: true,
                    ..
                } => {
                    let synced = meter::phase("sync", kept.objects.len(), started, Usage::now());
                    println!("{synced}");
                    settle().await;
                    before = Usage::now();
                    replay.open();
                }
                WatchItem::Added(object) if object.name() == pods::MARKER => {
                    let objects = kept.objects.len() + 1;
                    let mut line = meter::phase("updates", objects, before, Usage::now());
                    line["heard"] = heard.into();
                    line["requests"] = replay.requests().into();
                    println!("{line}");
                    return Ok(());
                }
                WatchItem::Added(object) => kept.objects.push(Arc::new(object)),
                WatchItem::Modified(object) => {
                    assert!(read(&object));
                    kept.replace(object);
                    heard += 1;
                    replay.handled();
                }
                _ => {}
            }
        }
    }
    Err("the watch ended before its marker".into())
}

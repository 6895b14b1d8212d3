//! The checks that every engine must pass, for the tests of engines.
//!
//! Each check is a statement about [`Kv`](crate::Kv) and panics if it does not hold. Checks compare
//! revisions relative to those seen before and keep to the prefix of their subject, so the engine
//! need not be empty; but nobody else may write or compact while a check runs. None of them sleeps
//! except to let leases expire, on tokio's clock, so paused time works where the engine uses it.
//!
//! [`conformance_suite!`](crate::conformance_suite) generates a test for each.

#![expect(
    clippy::missing_panics_doc,
    reason = "a check panics if its sentence does not hold"
)]

pub mod clients;
pub mod compaction;
pub mod concurrency;
pub mod history;
pub mod leases;
pub mod reads;
pub mod watches;
pub mod writes;

use crate::{DeleteRequest, Event, Expected, KeyRange, Kv, PutRequest, RangeRequest};
use crate::{
    RangeResponse, Revision, Watch, WatchBatch, WatchError, WatchRangeRequest, WriteOutcome,
};
use bytes::Bytes;
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// How long a check waits for an expected event.
const PATIENCE: Duration = Duration::from_secs(20);
/// Maximum number of batches to wait for an event.
const BATCHES_MAX: usize = 10_000;

/// An engine under test.
#[derive(Debug)]
pub struct Subject {
    kv: Arc<dyn Kv>,
    prefix: Bytes,
    _keep: Box<dyn Any + Send>,
}

impl Subject {
    /// An engine in which a check may write below `prefix`, which must be empty. `keep` is dropped
    /// after the check: a task set, a directory, a server process.
    pub fn new(kv: Arc<dyn Kv>, prefix: impl Into<Bytes>, keep: impl Any + Send) -> Self {
        Self {
            kv,
            prefix: prefix.into(),
            _keep: Box::new(keep),
        }
    }

    /// Returns the engine.
    pub fn kv(&self) -> &Arc<dyn Kv> {
        &self.kv
    }

    fn key(&self, name: &str) -> Bytes {
        [&self.prefix[..], name.as_bytes()].concat().into()
    }

    fn all(&self) -> KeyRange {
        KeyRange::prefix(self.prefix.clone())
    }

    /// Writes unconditionally.
    async fn put(&self, name: &str, value: &str) -> Revision {
        self.put_if(name, value, Expected::Any)
            .await
            .committed()
            .expect("no condition")
    }

    async fn put_if(&self, name: &str, value: &str, expected: Expected) -> WriteOutcome {
        let request = PutRequest::new(self.key(name), value.to_owned(), expected);
        self.kv.put(request).await.expect("a put works")
    }

    /// Deletes an existing key.
    async fn delete(&self, name: &str) -> Revision {
        self.delete_if(name, Expected::Any)
            .await
            .committed()
            .expect("the key exists")
    }

    async fn delete_if(&self, name: &str, expected: Expected) -> WriteOutcome {
        let request = DeleteRequest::new(self.key(name), expected);
        self.kv.delete(request).await.expect("a delete works")
    }

    async fn revision(&self) -> Revision {
        self.kv.revision().await.expect("the store is open")
    }

    /// Returns the value of a key, at a revision or now.
    async fn value(&self, name: &str, at: Option<Revision>) -> Option<Bytes> {
        let response = self.kv.get(&self.key(name), at).await.expect("a get works");
        response.kv.map(|kv| kv.value.clone())
    }

    async fn list(&self, at: Option<Revision>, limit: Option<usize>) -> RangeResponse {
        let request = RangeRequest {
            at,
            limit,
            ..RangeRequest::new(self.all())
        };
        self.kv.range(request).await.expect("a range works")
    }

    /// Returns the names of the keys in a response, without the prefix.
    fn names(&self, response: &RangeResponse) -> Vec<String> {
        let names = response.kvs.iter().map(|kv| &kv.key[self.prefix.len()..]);
        names
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect()
    }

    /// Watches all keys below the prefix, with previous versions.
    async fn watch_from(&self, from: Revision) -> Watch {
        self.watch(WatchRangeRequest::new(self.all()).previous().from(from))
            .await
    }

    async fn watch(&self, request: WatchRangeRequest) -> Watch {
        self.kv.watch(request).await.expect("the watch starts")
    }
}

/// Returns the next batch, progress or not.
async fn next(watch: &mut Watch) -> Result<WatchBatch, WatchError> {
    let next = timeout(PATIENCE, watch.next())
        .await
        .expect("the watch delivers in time");
    next.expect("the watch has not ended")
}

/// Returns the next `count` events, and checks that they are in order of revision.
async fn events(watch: &mut Watch, count: usize) -> Vec<Arc<Event>> {
    let mut events: Vec<Arc<Event>> = Vec::new();
    for _ in 0..BATCHES_MAX {
        if events.len() >= count {
            break;
        }
        let batch = next(watch).await.expect("the watch goes on");
        let before = events.last().map_or(Revision::ZERO, |event| event.revision);
        assert!(
            batch
                .events
                .first()
                .is_none_or(|event| event.revision > before)
        );
        assert!(
            batch
                .events
                .windows(2)
                .all(|pair| pair[0].revision <= pair[1].revision)
        );
        assert!(
            batch
                .events
                .last()
                .is_none_or(|event| event.revision <= batch.revision)
        );
        events.extend(batch.events);
    }
    assert_eq!(events.len(), count, "no more events than there were writes");
    events
}

/// Generates a test for each check.
///
/// Takes the test attribute and an expression of a future that returns a fresh
/// [`Subject`](crate::conformance::Subject), or `None` where the engine is not available:
///
/// ```text
/// conformance_suite!(#[tokio::test(start_paused = true)] => subject());
/// ```
#[macro_export]
macro_rules! conformance_suite {
    (#[$test:meta] => $subject:expr) => {
        $crate::conformance_suite! { @checks #[$test] => $subject;
            compaction::compacting_again_or_ahead_is_refused,
            compaction::current_values_survive_compaction,
            compaction::reads_below_a_compaction_fail_and_at_it_work,
            compaction::watch_from_below_a_compaction_ends_with_compacted,
            compaction::watch_from_the_compacted_revision_works,
            concurrency::compare_and_set_histories_are_linearizable,
            concurrency::concurrent_increments_are_all_counted,
            concurrency::one_of_many_creates_wins,
            leases::deleted_key_is_not_deleted_again_by_its_lease,
            leases::expiry_is_an_ordinary_delete_event,
            leases::put_under_another_lease_outlives_the_first,
            leases::put_under_an_unknown_lease_is_refused,
            leases::put_without_a_lease_outlives_the_old_one,
            leases::revoking_deletes_at_once_and_only_once,
            leases::ttl_of_zero_is_refused,
            reads::absent_key_is_no_error,
            reads::count_ignores_the_limit,
            reads::get_at_an_earlier_revision_sees_the_version_of_then,
            reads::limit_of_zero_counts_only,
            reads::pages_of_one_revision_see_one_state,
            reads::range_at_an_earlier_revision_sees_the_keys_of_then,
            reads::range_is_half_open_and_in_byte_order,
            reads::range_reports_the_stores_revision_not_the_one_read,
            reads::reading_ahead_of_the_store_fails,
            reads::reads_never_move_the_revision,
            watches::delete_event_has_its_own_revision_and_the_old_value,
            watches::history_and_present_join_without_gap_or_repeat,
            watches::progress_is_never_ahead_of_events,
            watches::progress_reaches_the_revision_of_the_request,
            watches::start_is_inclusive,
            watches::watch_of_a_key_ignores_its_neighbours,
            watches::watch_of_the_future_waits_for_it,
            watches::watch_without_a_start_sees_only_what_comes,
            watches::watcher_that_reads_late_gets_everything_or_compacted,
            writes::absent_key_cannot_be_deleted,
            writes::create_of_an_existing_key_conflicts_and_reads_it,
            writes::delete_of_another_revision_conflicts_and_reads_it,
            writes::each_write_raises_the_revision_by_one,
            writes::empty_key_is_refused,
            writes::empty_value_is_a_value,
            writes::guarded_put_happens_only_while_its_guards_are_the_same,
            writes::key_put_again_after_delete_is_created_anew,
            writes::put_of_another_revision_conflicts_and_reads_it,
            writes::put_of_the_seen_revision_replaces,
            writes::refused_writes_leave_no_trace,
            writes::version_counts_the_writes_since_the_creation,
            writes::too_large_a_request_is_refused_whole,
        }
    };
    (@checks #[$test:meta] => $subject:expr; $($module:ident::$name:ident,)+) => {
        $(
            #[$test]
            async fn $name() {
                let subject: Option<$crate::conformance::Subject> = $subject.await.into();
                if let Some(subject) = subject {
                    $crate::conformance::$module::$name(&subject).await;
                }
            }
        )+
    };
}

//! Ranges: what a request names, and what of it a response has.

use crate::header::{length, message};
use crate::refusal;
use bytes::Bytes;
use kubist_etcd_api as api;
use kubist_etcd_api::{SortOrder, SortTarget};
use kubist_storage::memory::Tree;
use kubist_storage::{KeyRange, KeyValue, Revision};
use std::cmp::Ordering;
use std::sync::Arc;
use tonic::Status;

/// A response of so many keys is made apart: it takes a millisecond.
const MANY_KEYS: usize = 5_000;

/// As the end of a range, the marker for all keys from the start on.
const FROM_KEY: &[u8] = b"\0";

/// Returns the range of a key and a range end.
pub(crate) fn key_range(key: Bytes, range_end: Bytes) -> KeyRange {
    if range_end.is_empty() {
        KeyRange::key(key)
    } else if range_end == FROM_KEY {
        KeyRange::starting_at(key)
    } else {
        KeyRange::between(key, range_end)
    }
}

/// A checked request to read.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) range: KeyRange,
    /// The revision to read at; `None` for the current one.
    pub(crate) at: Option<Revision>,
    limit: Option<usize>,
    order: Option<(SortTarget, bool)>,
    keys_only: bool,
    count_only: bool,
    modified: Bounds,
    created: Bounds,
}

/// Revisions from the first to the last, inclusive.
#[derive(Clone, Copy, Debug)]
struct Bounds(u64, u64);

impl Bounds {
    /// Zero is no limit.
    fn of(min: i64, max: i64) -> Self {
        let unsigned = |number| u64::try_from(number).unwrap_or(0);
        let max = if max == 0 { u64::MAX } else { unsigned(max) };
        Self(unsigned(min), max)
    }

    fn are_any(self) -> bool {
        self.0 == 0 && self.1 == u64::MAX
    }

    fn contain(self, revision: Revision) -> bool {
        (self.0..=self.1).contains(&revision.0)
    }
}

impl Reading {
    pub(crate) fn of(request: api::RangeRequest) -> Result<Self, Status> {
        if request.key.is_empty() {
            return Err(refusal::empty_key());
        }
        let order = SortOrder::try_from(request.sort_order);
        let target = SortTarget::try_from(request.sort_target);
        let (Ok(order), Ok(target)) = (order, target) else {
            return Err(refusal::invalid_sort());
        };
        let order = match (order, target) {
            (SortOrder::None | SortOrder::Ascend, SortTarget::Key) => None,
            (SortOrder::Descend, target) => Some((target, true)),
            // A target without an order is ascending.
            (_, target) => Some((target, false)),
        };
        Ok(Self {
            range: key_range(request.key, request.range_end),
            at: u64::try_from(request.revision)
                .ok()
                .filter(|it| *it > 0)
                .map(Revision),
            limit: usize::try_from(request.limit).ok().filter(|it| *it > 0),
            order,
            keys_only: request.keys_only,
            count_only: request.count_only,
            modified: Bounds::of(request.min_mod_revision, request.max_mod_revision),
            created: Bounds::of(request.min_create_revision, request.max_create_revision),
        })
    }

    /// Returns how many versions have to be read; `None` for all.
    pub(crate) fn read_max(&self) -> Option<usize> {
        if self.count_only {
            return Some(0);
        }
        let reads_all = self.order.is_some() || !self.modified.are_any() || !self.created.are_any();
        if reads_all { None } else { self.limit }
    }

    /// How many keys of a state have to be read.
    pub(crate) fn keys(&self, tree: &Tree) -> usize {
        let read_max = self.read_max().unwrap_or(usize::MAX);
        tree.count(&self.range).min(read_max)
    }

    /// The response from a state.
    pub(crate) fn of_tree(&self, tree: &Tree) -> api::RangeResponse {
        let read_max = self.read_max().unwrap_or(usize::MAX);
        let kvs = tree.range(&self.range).take(read_max).cloned().collect();
        self.response(kvs, tree.count(&self.range))
    }

    /// The response from the first versions of the range, as many as have to be read.
    pub(crate) fn response(&self, mut kvs: Vec<Arc<KeyValue>>, count: usize) -> api::RangeResponse {
        kvs.retain(|kv| {
            self.modified.contain(kv.mod_revision) && self.created.contain(kv.create_revision)
        });
        if let Some((target, descends)) = self.order {
            kvs.sort_by(|a, b| {
                let order = compare(target, a, b);
                if descends { order.reverse() } else { order }
            });
        }
        let found = if self.read_max().is_none() {
            kvs.len()
        } else {
            count
        };
        kvs.truncate(self.limit.unwrap_or(usize::MAX));
        let more = !self.count_only && self.limit.is_some() && kvs.len() < found;
        let message = |kv: &Arc<KeyValue>| {
            let mut kv = message(kv);
            if self.keys_only {
                kv.value = Bytes::new();
            }
            kv
        };
        api::RangeResponse {
            header: None,
            kvs: kvs.iter().map(message).collect(),
            more,
            count: length(count),
        }
    }
}

/// Makes a response of so many keys; of many, on a thread of its own.
pub(crate) async fn made_of(
    keys: usize,
    make: impl FnOnce() -> api::RangeResponse + Send + 'static,
) -> Result<api::RangeResponse, Status> {
    if keys < MANY_KEYS {
        return Ok(make());
    }
    let made = tokio::task::spawn_blocking(make).await;
    made.map_err(|_| refusal::stopped())
}

fn compare(target: SortTarget, a: &KeyValue, b: &KeyValue) -> Ordering {
    match target {
        SortTarget::Key => a.key.cmp(&b.key),
        SortTarget::Version => a.version.cmp(&b.version),
        SortTarget::Create => a.create_revision.cmp(&b.create_revision),
        SortTarget::Mod => a.mod_revision.cmp(&b.mod_revision),
        SortTarget::Value => a.value.cmp(&b.value),
    }
}

//! Consistency checks of a cache: at intervals, cache and storage are read at one revision, and the
//! digests of their keys and versions are compared.
//!
//! A cache that differs serves no reads until it matches again or is rebuilt; storage serves them.
//! Its watches go on: the events that they missed are unknown.

use super::Shared;
use super::reading::View;
use crate::storage::error::StorageError;
use crate::storage::reader::{KvReader, Reader};
use kubist_storage::{KeyRange, KeyValue, RangeRequest, ReadError, Revision};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::yield_now;
use tokio::time::sleep;

/// Objects examined without a pause, as upstream's page size.
const PAGE: usize = 10_000;
/// The maximum jitter of the interval in percent, as upstream: caches that started together must
/// not all read storage at once.
const JITTER_PERCENT: u32 = 50;

/// A digest of ordered keys and versions: 64-bit FNV-1a, as upstream. It detects errors, not
/// forgery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Digest(u64);

impl Digest {
    const START: Self = Self(0xcbf2_9ce4_8422_2325);

    fn add(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
    }

    fn add_object(&mut self, kv: &KeyValue) {
        self.add(&kv.key);
        // No key contains this byte, so keys cannot be confused with versions.
        self.add(&[0]);
        self.add(&kv.mod_revision.0.to_be_bytes());
    }
}

/// Runs the checks at intervals; never returns.
pub(super) async fn run(shared: &Shared) {
    let Some(every) = shared.config.consistency_every else {
        return std::future::pending().await;
    };
    let mut round = 0;
    loop {
        sleep(jittered(
            every,
            shared.raw.codec.keys().range("").start(),
            round,
        ))
        .await;
        round += 1;
        shared.check().await;
    }
}

/// Returns the interval plus a jitter that depends on the resource and the round.
fn jittered(every: Duration, resource: &[u8], round: u64) -> Duration {
    const STEPS: u32 = 1 << 10;
    let mut digest = Digest::START;
    digest.add(resource);
    digest.add(&round.to_be_bytes());
    let step = u32::try_from(digest.0 % u64::from(STEPS)).unwrap_or_default();
    let longest = every.saturating_mul(JITTER_PERCENT) / 100;
    every.saturating_add(longest.saturating_mul(step) / STEPS)
}

impl Shared {
    /// Runs one check.
    pub(super) async fn check(&self) {
        let prefix = self.raw.codec.keys().range_prefix("");
        match self.compare().await {
            Ok((true, generation)) => {
                self.counted().checks_passed.add(1);
                self.trust(true, generation);
            }
            Ok((false, generation)) => {
                self.counted().checks_failed.add(1);
                self.trust(false, generation);
                tracing::error!(
                    prefix,
                    "the watch cache differs from storage, which serves reads until they match"
                );
            }
            Err(error) => {
                self.counted().checks_without_result.add(1);
                let error: &dyn std::error::Error = &error;
                tracing::warn!(
                    prefix,
                    error,
                    "the watch cache cannot be compared with storage"
                );
            }
        }
    }

    /// Reports whether the cache of this generation matches storage.
    async fn compare(&self) -> Result<(bool, u64), StorageError> {
        let (view, generation) = {
            let state = self.state.lock();
            let Some(content) = &state.content else {
                drop(state);
                return Err(StorageError::NotReady { retry_after: 1 });
            };
            let view = View {
                tree: content.tree().clone(),
                revision: content.revision(),
                index: Arc::clone(&self.index),
            };
            (view, state.generation)
        };
        let range = self.raw.codec.keys().range("");
        let at = Revision(view.revision);
        let cached = digest(&view, range.clone(), at).await?;
        let storage = KvReader {
            kv: Arc::clone(&self.raw.kv),
            index: None,
        };
        let stored = digest(&storage, range, at).await?;
        Ok((cached == stored, generation))
    }

    fn trust(&self, trusted: bool, generation: u64) {
        let mut state = self.state.lock();
        // After a rebuild, the result does not apply.
        if state.generation == generation {
            state.trusted = trusted;
        }
    }

    /// Reports whether the cache may serve reads.
    pub(super) fn is_trusted(&self) -> bool {
        self.state.lock().trusted
    }
}

async fn digest(
    reader: &dyn Reader,
    mut range: KeyRange,
    at: Revision,
) -> Result<Digest, ReadError> {
    let mut digest = Digest::START;
    loop {
        let request = RangeRequest {
            range: range.clone(),
            at: Some(at),
            limit: Some(PAGE),
        };
        let page = reader.range(request).await?;
        for kv in &page.kvs {
            digest.add_object(kv);
        }
        match page.kvs.last() {
            Some(last) if page.more => {
                let mut next = last.key.to_vec();
                next.push(0);
                range = range.resumed_at(next);
            }
            _ => return Ok(digest),
        }
        yield_now().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_longer_by_up_to_a_half_and_differ() {
        let every = Duration::from_secs(300);
        let of = |resource: &str, round| jittered(every, resource.as_bytes(), round);
        let all: Vec<_> = (0..50).map(|round| of("/registry/pods/", round)).collect();
        assert!(all.iter().all(|it| (every..every * 3 / 2).contains(it)));
        assert_ne!(of("/registry/pods/", 0), of("/registry/minions/", 0));
        assert_ne!(all[0], all[1]);
    }

    #[test]
    fn digests_tell_keys_and_versions_apart() {
        let of = |key: &str, revision| {
            let mut digest = Digest::START;
            digest.add_object(&KeyValue {
                key: key.to_owned().into(),
                value: bytes::Bytes::new(),
                create_revision: Revision(1),
                mod_revision: Revision(revision),
                version: 1,
                lease: None,
                note: kubist_storage::Note::default(),
            });
            digest
        };
        assert_eq!(of("a", 7), of("a", 7));
        assert_ne!(of("a", 7), of("a", 8));
        assert_ne!(of("a", 7), of("b", 7));
    }
}

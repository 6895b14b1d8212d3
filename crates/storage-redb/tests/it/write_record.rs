//! Writers, and the record of acknowledged writes.
//!
//! What worker `w` does in step `n` follows from the seed, so that a test in another process can
//! derive it from the numbers.

use crate::random::Random;
use bytes::Bytes;
use kubist_storage::journal::JournaledKv;
use kubist_storage::{DeleteRequest, Expected, PutRequest, Revision, WriteError};
use kubist_storage::{KvRead, KvWrite};
use std::collections::BTreeMap;

/// Keys per worker.
const KEYS: u64 = 12;
const VALUE_BYTES_MAX: u64 = 6000;

/// A step of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) worker: u64,
    pub(crate) number: u64,
}

impl Step {
    /// Returns the key and its new value; `None` to delete it.
    pub(crate) fn change(self) -> (Bytes, Option<Bytes>) {
        let mut random = Random::new(self.worker << 32 | self.number);
        let key = format!("/{}/{}", self.worker, random.below(KEYS));
        if random.below(5) == 0 {
            return (key.into(), None);
        }
        let len = usize::try_from(random.below(VALUE_BYTES_MAX)).unwrap();
        let mut value = format!("{}:", self.number).into_bytes();
        while value.len() < len {
            value.extend_from_slice(&random.next().to_le_bytes());
        }
        (key.into(), Some(value.into()))
    }

    /// Takes the step. The revision is zero if there was nothing to delete.
    pub(crate) async fn take(self, kv: &JournaledKv) -> Result<Revision, WriteError> {
        let (key, value) = self.change();
        let outcome = match value {
            Some(value) => kv.put(PutRequest::new(key, value, Expected::Any)).await,
            None => kv.delete(DeleteRequest::new(key, Expected::Any)).await,
        };
        Ok(outcome?.committed().unwrap_or_default())
    }
}

/// Acknowledged writes, and those that may have happened.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteRecord {
    answered: BTreeMap<Bytes, Option<Bytes>>,
    /// The pending step of each worker.
    begun: BTreeMap<u64, Step>,
    newest: Revision,
    pub(crate) answers: u64,
}

impl WriteRecord {
    pub(crate) fn begins(&mut self, step: Step) {
        self.begun.insert(step.worker, step);
    }

    pub(crate) fn answered(&mut self, step: Step, revision: Revision) {
        assert_eq!(self.begun.remove(&step.worker), Some(step));
        let (key, value) = step.change();
        self.answered.insert(key, value);
        self.newest = self.newest.max(revision);
        self.answers += 1;
    }

    /// Checks that everything acknowledged is there, and nothing else except pending steps, whose
    /// outcome is then known.
    pub(crate) async fn check(&mut self, kv: &JournaledKv) {
        let revision = kv.revision().await.unwrap();
        assert!(revision >= self.newest, "{revision} < {}", self.newest);
        let ahead = revision.0.saturating_sub(self.newest.0.max(1));
        assert!(ahead <= self.begun.len() as u64, "nobody wrote so much");
        self.newest = revision;
        let begun: BTreeMap<Bytes, Option<Bytes>> =
            self.begun.values().map(|step| step.change()).collect();
        let mut keys = 0;
        for key in begun.keys() {
            self.answered.entry(key.clone()).or_default();
        }
        for (key, value) in &mut self.answered {
            let found = kv.get(key, None).await.unwrap().kv;
            let found = found.map(|kv| kv.value.clone());
            keys += usize::from(found.is_some());
            let expected = found == *value || begun.get(key) == Some(&found);
            assert!(expected, "{key:?} is not what was written to it");
            *value = found;
        }
        assert_eq!(kv.stats().keys, keys, "there are no other keys");
        self.begun.clear();
    }
}

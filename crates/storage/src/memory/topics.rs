//! `Topics`: all topics, indexed by key, so that a write only visits the topics that contain its
//! key.
//!
//! A look-up costs one probe for the key, and one for each length of a watched prefix; only other
//! ranges are compared one by one.

use super::topic::Topic;
use crate::{Event, KeyRange, Revision};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::Waker;

#[derive(Debug, Default)]
pub(crate) struct Topics {
    keys: BTreeMap<Bytes, Arc<Topic>>,
    /// By length of the prefix, then by prefix.
    prefixes: BTreeMap<usize, BTreeMap<Bytes, Arc<Topic>>>,
    others: BTreeMap<KeyRange, Arc<Topic>>,
}

impl Topics {
    /// Returns the topic of a range; a new one begins after `head`.
    pub(crate) fn join(&mut self, range: KeyRange, head: Revision) -> Arc<Topic> {
        let topic = || Arc::new(Topic::new(range.clone(), head));
        let topic = if let Some(key) = range.as_key() {
            self.keys.entry(key.clone()).or_insert_with(topic)
        } else if let Some(prefix) = range.as_prefix() {
            let same_length = self.prefixes.entry(prefix.len()).or_default();
            same_length.entry(prefix.clone()).or_insert_with(topic)
        } else {
            self.others.entry(range.clone()).or_insert_with(topic)
        };
        Arc::clone(topic)
    }

    /// Removes the topic of a range that is no longer watched.
    pub(crate) fn remove(&mut self, range: &KeyRange) {
        if let Some(key) = range.as_key() {
            self.keys.remove(key);
        } else if let Some(prefix) = range.as_prefix() {
            if let Some(same_length) = self.prefixes.get_mut(&prefix.len()) {
                same_length.remove(prefix);
                if same_length.is_empty() {
                    self.prefixes.remove(&prefix.len());
                }
            }
        } else {
            self.others.remove(range);
        }
    }

    /// Adds an event to the topics of its key.
    pub(crate) fn publish(&self, event: &Arc<Event>, wakers: &mut Vec<Waker>) {
        self.of_key(&event.key)
            .for_each(|topic| topic.push(event, wakers));
    }

    /// Drops an event from the topics of its key.
    pub(crate) fn retract(&self, event: &Event) {
        self.of_key(&event.key)
            .for_each(|topic| topic.drop_before(event.revision.next()));
    }

    /// Drops events below `revision` from all topics.
    pub(crate) fn drop_before(&self, revision: Revision) {
        self.all().for_each(|topic| topic.drop_before(revision));
    }

    /// Closes all topics.
    pub(crate) fn close(&self, wakers: &mut Vec<Waker>) {
        self.all().for_each(|topic| topic.close(wakers));
    }

    pub(crate) fn len(&self) -> usize {
        self.all().count()
    }

    fn of_key(&self, key: &[u8]) -> impl Iterator<Item = &Arc<Topic>> {
        let prefixes = self.prefixes.range(..=key.len());
        let prefixes = prefixes.filter_map(move |(len, topics)| topics.get(&key[..*len]));
        let others = self
            .others
            .values()
            .filter(move |topic| topic.range().contains(key));
        self.keys.get(key).into_iter().chain(prefixes).chain(others)
    }

    fn all(&self) -> impl Iterator<Item = &Arc<Topic>> {
        let prefixes = self.prefixes.values().flat_map(BTreeMap::values);
        self.keys
            .values()
            .chain(prefixes)
            .chain(self.others.values())
    }
}

//! `ExpiringCache`: answers of webhooks that count for a while.
//!
//! Keys are digests, so that no token is kept. It has a bound: beyond it, the oldest answer goes
//! first. It asks nobody itself; [`ExpiringCache::turn`] lets only one caller ask about a key.

use hashbrown::HashMap;
use parking_lot::Mutex;
use ring::digest::{Context, SHA256};
use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};
use tokio::time::Instant;

/// The most answers, as many as upstream keeps for its authorization webhook.
pub(crate) const ANSWERS_MAX: usize = 8192;

/// The digest of what is asked.
pub(crate) type Key = [u8; 32];

/// Answers by what was asked.
#[derive(Debug)]
pub(crate) struct ExpiringCache<V> {
    state: Mutex<State<V>>,
}

#[derive(Debug)]
struct State<V> {
    answers: HashMap<Key, Answer<V>>,
    /// In the order of their insertion; an answer that was replaced is in it twice.
    order: VecDeque<(Instant, Key)>,
    turns: HashMap<Key, Weak<Turn<()>>>,
}

#[derive(Debug)]
struct Answer<V> {
    value: V,
    until: Instant,
    /// When it was inserted.
    since: Instant,
}

impl<V> Default for ExpiringCache<V> {
    fn default() -> Self {
        Self {
            state: Mutex::new(State {
                answers: HashMap::new(),
                order: VecDeque::new(),
                turns: HashMap::new(),
            }),
        }
    }
}

/// Returns the key of texts in an order.
pub(crate) fn key<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> Key {
    let mut digest = Context::new(&SHA256);
    for text in texts {
        // The length keeps "ab", "c" and "a", "bc" apart.
        digest.update(&(text.len() as u64).to_be_bytes());
        digest.update(text);
    }
    let mut key = [0; 32];
    key.copy_from_slice(digest.finish().as_ref());
    key
}

impl<V: Clone> ExpiringCache<V> {
    /// Returns an answer that still counts.
    pub(crate) fn get(&self, key: &Key) -> Option<V> {
        let now = Instant::now();
        let state = self.state.lock();
        let answer = state.answers.get(key).filter(|it| now < it.until)?;
        Some(answer.value.clone())
    }

    /// Keeps an answer for this long; for zero, not at all.
    pub(crate) fn put(&self, key: Key, value: V, ttl: Duration) {
        if ttl.is_zero() {
            return;
        }
        let now = Instant::now();
        let mut state = self.state.lock();
        let state = &mut *state;
        let answer = Answer {
            value,
            until: now + ttl,
            since: now,
        };
        state.answers.insert(key, answer);
        state.order.push_back((now, key));
        while state.order.len() > ANSWERS_MAX {
            let Some((since, key)) = state.order.pop_front() else {
                break;
            };
            if state.answers.get(&key).is_some_and(|it| it.since == since) {
                state.answers.remove(&key);
            }
        }
    }

    /// Waits until nobody else asks about a key. Whoever has the turn looks into the cache again.
    ///
    /// Cancel safe: the turn goes to the next.
    pub(crate) async fn turn(&self, key: &Key) -> OwnedMutexGuard<()> {
        let turn = {
            let mut state = self.state.lock();
            if state.turns.len() > ANSWERS_MAX {
                state.turns.retain(|_, it| it.strong_count() > 0);
            }
            let known = state.turns.get(key).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let turn = Arc::new(Turn::new(()));
                state.turns.insert(*key, Arc::downgrade(&turn));
                turn
            })
        };
        turn.lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn answers_count_for_a_while() {
        let cache = ExpiringCache::default();
        let a = key([&b"a"[..]]);
        cache.put(a, 1, Duration::from_secs(10));
        assert_eq!(cache.get(&a), Some(1));
        assert_eq!(cache.get(&key([&b"b"[..]])), None);
        tokio::time::advance(Duration::from_secs(10)).await;
        assert_eq!(cache.get(&a), None);
        cache.put(a, 2, Duration::ZERO);
        assert_eq!(cache.get(&a), None);
    }

    #[tokio::test(start_paused = true)]
    async fn the_oldest_answer_goes_first() {
        let cache = ExpiringCache::default();
        let of = |it: usize| key([&it.to_be_bytes()[..]]);
        for it in 0..=ANSWERS_MAX {
            cache.put(of(it), it, Duration::from_secs(10));
            tokio::time::advance(Duration::from_nanos(1)).await;
        }
        assert_eq!(cache.get(&of(0)), None);
        assert_eq!(cache.get(&of(1)), Some(1));
        assert_eq!(cache.get(&of(ANSWERS_MAX)), Some(ANSWERS_MAX));
    }

    #[tokio::test]
    async fn only_one_asks_about_a_key() {
        let cache = ExpiringCache::<u8>::default();
        let (a, b) = (key([&b"a"[..]]), key([&b"b"[..]]));
        let turn = cache.turn(&a).await;
        let other = tokio::time::timeout(Duration::from_millis(10), cache.turn(&a)).await;
        assert!(other.is_err(), "it waits");
        drop(cache.turn(&b).await);
        drop(turn);
        drop(cache.turn(&a).await);
    }

    #[test]
    fn keys_tell_texts_apart() {
        let pair = |a: &'static str, b: &'static str| key([a.as_bytes(), b.as_bytes()]);
        assert_ne!(pair("ab", "c"), pair("a", "bc"));
    }
}

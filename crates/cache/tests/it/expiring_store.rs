//! Objects that expire.

use crate::object;
use kubist_apimachinery::{ObjectMeta, ObjectName};
use kubist_cache::ExpiringStore;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

#[expect(
    clippy::disallowed_methods,
    reason = "any moment will do: time is counted from it"
)]
fn start() -> Instant {
    Instant::now()
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Contract CACHE-17.
#[test]
fn an_object_is_seen_until_its_time_is_over_and_dropped_then() {
    let start = start();
    let mut store = ExpiringStore::<ObjectMeta>::new(seconds(10));
    let name = ObjectName::new("a", "x");
    store.put(object("a/x@1"), start);
    store.put(object("a/y@1"), start + seconds(5));
    assert!(store.get(&name, start + seconds(10)).is_some());
    assert_eq!(store.next_end(), Some(start + seconds(10)));
    assert_eq!(store.list(start + seconds(11)).len(), 1);
    assert_eq!(store.len(), 1, "it is dropped, not only hidden");
    assert_eq!(store.names(start + seconds(16)), []);
    assert_eq!(store.next_end(), None);
}

#[test]
fn putting_an_object_again_begins_its_time_anew_and_an_expired_one_is_not_given_back() {
    let start = start();
    let mut store = ExpiringStore::<ObjectMeta>::new(seconds(10));
    assert!(store.put(object("x@1"), start).is_none());
    assert!(store.put(object("x@2"), start + seconds(8)).is_some());
    assert!(
        store
            .get(&ObjectName::cluster("x"), start + seconds(18))
            .is_some()
    );
    assert!(store.put(object("x@3"), start + seconds(19)).is_none());
    assert!(store.remove(&ObjectName::cluster("x")).is_some());
    assert!(store.is_empty() && store.next_end().is_none());
    store.replace([object("y@1")], start);
    assert_eq!(store.expire(start + seconds(11)).len(), 1);
}

proptest! {
    /// Contract CACHE-17.
    #[test]
    fn it_is_a_map_without_what_is_too_old(
        steps in prop::collection::vec((0u64..8, 0u64..5, 0u8..6), 0..100),
    ) {
        let start = start();
        // Objects live as long as their name says; 0 is for ever.
        let ttl = |name: u64| (name > 0).then_some(name * 2);
        let mut store = ExpiringStore::with_policy(move |it: &ObjectMeta| {
            let name: u64 = it.name.parse().expect("a number");
            ttl(name).map(seconds)
        });
        let mut model: BTreeMap<u64, u64> = BTreeMap::new();
        let mut now = 0;
        for (name, pause, action) in steps {
            now += pause;
            model.retain(|name, put| ttl(*name).is_none_or(|ttl| now - *put <= ttl));
            let (key, at) = (ObjectName::cluster(name.to_string()), start + seconds(now));
            match action {
                0..3 => {
                    let old = store.put(object(&format!("{name}@1")), at);
                    prop_assert_eq!(old.is_some(), model.insert(name, now).is_some());
                }
                3 => {
                    store.expire(at);
                    prop_assert_eq!(store.remove(&key).is_some(), model.remove(&name).is_some());
                }
                4 => prop_assert_eq!(store.get(&key, at).is_some(), model.contains_key(&name)),
                _ => {
                    store.replace([object(&format!("{name}@1"))], at);
                    model = [(name, now)].into();
                }
            }
            let mut names: Vec<u64> = Vec::new();
            for object in store.list(at) {
                names.push(object.name.parse().expect("a number"));
            }
            names.sort_unstable();
            prop_assert!(names.iter().eq(model.keys()));
            prop_assert_eq!(store.len(), model.len());
        }
    }
}

//! The hand-over between an informer and one handler loses no event and no wake-up.

use super::*;
use crate::{Delivery, Overflow};
use kubist_apimachinery::ObjectMeta;
use kubist_cache::Deleted;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::task::Wake;

/// Counts wake-ups.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn object(name: usize, version: u64) -> Arc<ObjectMeta> {
    Arc::new(ObjectMeta {
        name: name.to_string().into(),
        uid: name.to_string().into(),
        resource_version: version.to_string().into(),
        ..ObjectMeta::default()
    })
}

fn listener(delivery: Delivery) -> Arc<Listener<ObjectMeta>> {
    let config = HandlerConfig {
        delivery,
        ..HandlerConfig::default()
    };
    Listener::new(config, None, Arc::default())
}

fn push(listener: &Listener<ObjectMeta>, change: &ResourceEvent<ObjectMeta>) -> bool {
    listener.push(&Arc::new(Batch::new(vec![change.clone()])))
}

/// A store whose changes are delivered as an informer would.
#[derive(Default)]
struct Store {
    objects: BTreeMap<usize, Arc<ObjectMeta>>,
    version: u64,
}

impl Store {
    fn change(
        &mut self,
        name: usize,
        delete: bool,
        initial: bool,
    ) -> Option<ResourceEvent<ObjectMeta>> {
        self.version += 1;
        if delete {
            let old = self.objects.remove(&name)?;
            return Some(ResourceEvent::Deleted(Deleted::Known(old)));
        }
        let object = object(name, self.version);
        Some(match self.objects.insert(name, Arc::clone(&object)) {
            Some(old) => ResourceEvent::Updated { old, new: object },
            None => ResourceEvent::Added { object, initial },
        })
    }
}

fn record(
    observed: &mut BTreeMap<String, Arc<ObjectMeta>>,
    changes: Vec<ResourceEvent<ObjectMeta>>,
) -> usize {
    let mut initial = 0;
    for change in changes {
        let name = change.object_name().name.to_string();
        match change {
            ResourceEvent::Added {
                object,
                initial: first,
            } => {
                initial += usize::from(first);
                assert!(observed.insert(name, object).is_none());
            }
            ResourceEvent::Updated { old, new } => {
                assert_eq!(observed.insert(name, new), Some(old));
            }
            ResourceEvent::Deleted(_) => assert!(observed.remove(&name).is_some()),
            ResourceEvent::Resynced(_) => assert!(observed.contains_key(&name)),
        }
    }
    initial
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// An object changes, or is deleted.
    Change(usize, bool),
    /// The first list is complete.
    Fill,
    /// The handler takes and handles events.
    Look(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..5usize, any::<bool>()).prop_map(|(name, delete)| Step::Change(name, delete)),
        1 => Just(Step::Fill),
        4 => (1..4usize).prop_map(Step::Look),
    ]
}

fn delivery() -> impl Strategy<Value = Delivery> {
    let pending_max = 4;
    let on_overflow = Overflow::Snapshot;
    prop_oneof![
        Just(Delivery::Coalesced),
        Just(Delivery::EveryEvent { pending_max: 1_000 }),
        Just(Delivery::Bounded {
            pending_max,
            on_overflow
        }),
    ]
}

proptest! {
    /// Contract INF-4. A handler that found nothing is woken by the next event; it has synced
    /// exactly when the whole first list was handled; it ends with the state of the store.
    #[test]
    fn a_handler_is_woken_synced_and_ends_with_the_store(
        delivery in delivery(),
        steps in prop::collection::vec(step(), 0..150),
    ) {
        let listener = listener(delivery);
        let (mut store, mut observed) = (Store::default(), BTreeMap::new());
        let bell = Arc::new(Bell::default());
        let waker = Waker::from(Arc::clone(&bell));
        let cx = Context::from_waker(&waker);
        // The expected number of wake-ups, once the handler found nothing.
        let mut expected_rings = None;
        let mut filled = false;
        let look = |limit: usize, observed: &mut BTreeMap<_, _>| {
            let Poll::Ready(changes) = listener.poll_take(limit, &cx) else {
                return false;
            };
            let initial = record(observed, changes.expect("it has not ended"));
            listener.note_progress(initial);
            true
        };
        for step in steps {
            match step {
                Step::Change(name, delete) => {
                    if let Some(change) = store.change(name, delete, !filled) {
                        prop_assert!(push(&listener, &change));
                        if let Some(rings) = expected_rings.take() {
                            prop_assert_eq!(bell.0.load(Ordering::SeqCst), rings);
                        }
                    }
                }
                Step::Fill => {
                    listener.fill();
                    filled = true;
                }
                Step::Look(limit) => {
                    if !look(limit, &mut observed) {
                        prop_assert_eq!(listener.waiting(), 0);
                        prop_assert_eq!(listener.current() == HandlerState::Synced, filled);
                        expected_rings = Some(bell.0.load(Ordering::SeqCst) + 1);
                    }
                }
            }
            if listener.current() == HandlerState::Synced {
                prop_assert!(filled);
            }
        }
        while look(3, &mut observed) {}
        let observed: Vec<_> = observed.into_values().collect();
        let held: Vec<_> = store.objects.into_values().collect();
        prop_assert_eq!(observed, held);
        let rings = bell.0.load(Ordering::SeqCst);
        listener.end(HandlerState::Stopped);
        prop_assert_eq!(bell.0.load(Ordering::SeqCst), rings + 1, "the end wakes too");
        prop_assert!(matches!(listener.poll_take(1, &cx), Poll::Ready(None)));
    }
}

/// Wakes a thread.
struct Unpark(std::thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[test]
fn two_threads_hand_over_without_a_lost_wake_up() {
    for delivery in [
        Delivery::Coalesced,
        Delivery::EveryEvent {
            pending_max: 100_000,
        },
    ] {
        let listener = listener(delivery);
        let informer = Arc::clone(&listener);
        let writer = std::thread::spawn(move || {
            let mut store = Store::default();
            for number in 0..20_000usize {
                let change = store.change(number % 7, number.is_multiple_of(5), number < 7);
                assert!(change.is_none_or(|it| push(&informer, &it)));
                if number == 7 {
                    informer.fill();
                }
            }
            let last = store.change(100, false, false).expect("it is new");
            assert!(push(&informer, &last));
            store.objects
        });
        // The reader parks whenever it finds nothing; a lost wake-up would leave it parked.
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let cx = Context::from_waker(&waker);
        let mut observed = BTreeMap::new();
        while !observed.contains_key("100") {
            match listener.poll_take(16, &cx) {
                Poll::Ready(changes) => {
                    let initial = record(&mut observed, changes.expect("it has not ended"));
                    listener.note_progress(initial);
                }
                Poll::Pending => std::thread::park(),
            }
        }
        let held = writer.join().expect("it does not panic");
        let held: BTreeMap<_, _> = held.into_iter().map(|(k, v)| (k.to_string(), v)).collect();
        assert_eq!(observed, held);
        assert_eq!(listener.current(), HandlerState::Synced);
    }
}

#[test]
fn a_seat_that_ends_lets_go_of_the_informer() {
    let users = crate::usage::Users::new();
    let usage = users.acquire().expect("it is new");
    let listener =
        Listener::<ObjectMeta>::new(HandlerConfig::default(), Some(usage), Arc::default());
    assert!(!users.retire(1));
    listener.end(HandlerState::Removed);
    assert!(!users.retire(0), "it was used since");
    assert!(users.retire(1) && users.acquire().is_none());
}

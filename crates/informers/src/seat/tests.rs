//! The hand-over between an informer and one handler: nothing is lost, nobody sleeps through it.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::task::Wake;

use kubist_apimachinery::ObjectMeta;
use kubist_cache::Deleted;
use proptest::prelude::*;

use super::*;
use crate::{Delivery, Overflow};

/// Counts how often it was woken.
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

fn seat(delivery: Delivery) -> Arc<Seat<ObjectMeta>> {
    let config = HandlerConfig {
        delivery,
        ..HandlerConfig::default()
    };
    Seat::new(config, None, Arc::default())
}

fn push(seat: &Seat<ObjectMeta>, change: &Change<ObjectMeta>) -> bool {
    seat.push(std::iter::once((NameHash::of(change), change)))
}

/// A store that changes, as an informer would tell of it.
#[derive(Default)]
struct Store {
    objects: BTreeMap<usize, Arc<ObjectMeta>>,
    version: u64,
}

impl Store {
    fn change(&mut self, name: usize, delete: bool, initial: bool) -> Option<Change<ObjectMeta>> {
        self.version += 1;
        if delete {
            let old = self.objects.remove(&name)?;
            return Some(Change::Deleted(Deleted::Known(old)));
        }
        let object = object(name, self.version);
        Some(match self.objects.insert(name, Arc::clone(&object)) {
            Some(old) => Change::Updated { old, new: object },
            None => Change::Added { object, initial },
        })
    }
}

fn hear(told: &mut BTreeMap<String, Arc<ObjectMeta>>, changes: Vec<Change<ObjectMeta>>) -> usize {
    let mut initial = 0;
    for change in changes {
        let name = change.object_name().name.to_string();
        match change {
            Change::Added {
                object,
                initial: first,
            } => {
                initial += usize::from(first);
                assert!(told.insert(name, object).is_none());
            }
            Change::Updated { old, new } => assert_eq!(told.insert(name, new), Some(old)),
            Change::Deleted(_) => assert!(told.remove(&name).is_some()),
            Change::Resynced(_) => assert!(told.contains_key(&name)),
        }
    }
    initial
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// An object changes, or goes.
    Change(usize, bool),
    /// The first list is complete.
    Fill,
    /// The handler looks, and handles what it finds.
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
    /// Contract INF-4.
    /// Whoever found nothing is woken by the next change; synced comes when, and only when, the
    /// whole first list was handled; in the end the handler knows what the store has.
    #[test]
    fn a_handler_is_woken_synced_and_ends_with_the_store(
        delivery in delivery(),
        steps in prop::collection::vec(step(), 0..150),
    ) {
        let seat = seat(delivery);
        let (mut store, mut told) = (Store::default(), BTreeMap::new());
        let bell = Arc::new(Bell::default());
        let waker = Waker::from(Arc::clone(&bell));
        let cx = Context::from_waker(&waker);
        // How often the bell must have rung, once the handler found nothing.
        let mut expected_rings = None;
        let mut filled = false;
        let look = |limit: usize, told: &mut BTreeMap<_, _>| {
            let Poll::Ready(changes) = seat.poll_take(limit, &cx) else {
                return false;
            };
            let initial = hear(told, changes.expect("it has not ended"));
            seat.note_progress(initial);
            true
        };
        for step in steps {
            match step {
                Step::Change(name, delete) => {
                    if let Some(change) = store.change(name, delete, !filled) {
                        prop_assert!(push(&seat, &change));
                        if let Some(rings) = expected_rings.take() {
                            prop_assert_eq!(bell.0.load(Ordering::SeqCst), rings);
                        }
                    }
                }
                Step::Fill => {
                    seat.fill();
                    filled = true;
                }
                Step::Look(limit) => {
                    if !look(limit, &mut told) {
                        prop_assert_eq!(seat.waiting(), 0);
                        prop_assert_eq!(seat.current() == HandlerState::Synced, filled);
                        expected_rings = Some(bell.0.load(Ordering::SeqCst) + 1);
                    }
                }
            }
            if seat.current() == HandlerState::Synced {
                prop_assert!(filled);
            }
        }
        while look(3, &mut told) {}
        let told: Vec<_> = told.into_values().collect();
        let held: Vec<_> = store.objects.into_values().collect();
        prop_assert_eq!(told, held);
        let rings = bell.0.load(Ordering::SeqCst);
        seat.end(HandlerState::Stopped);
        prop_assert_eq!(bell.0.load(Ordering::SeqCst), rings + 1, "the end wakes too");
        prop_assert!(matches!(seat.poll_take(1, &cx), Poll::Ready(None)));
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
        let seat = seat(delivery);
        let informer = Arc::clone(&seat);
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
        // The reader sleeps whenever it finds nothing; a lost wake-up would leave it asleep.
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let cx = Context::from_waker(&waker);
        let mut told = BTreeMap::new();
        while !told.contains_key("100") {
            match seat.poll_take(16, &cx) {
                Poll::Ready(changes) => {
                    let initial = hear(&mut told, changes.expect("it has not ended"));
                    seat.note_progress(initial);
                }
                Poll::Pending => std::thread::park(),
            }
        }
        let held = writer.join().expect("it does not panic");
        let held: BTreeMap<_, _> = held.into_iter().map(|(k, v)| (k.to_string(), v)).collect();
        assert_eq!(told, held);
        assert_eq!(seat.current(), HandlerState::Synced);
    }
}

#[test]
fn a_seat_that_ends_lets_go_of_the_informer() {
    let users = crate::usage::Users::new();
    let usage = users.acquire().expect("it is new");
    let seat = Seat::<ObjectMeta>::new(HandlerConfig::default(), Some(usage), Arc::default());
    assert!(!users.retire(1));
    seat.end(HandlerState::Removed);
    assert!(!users.retire(0), "it was used since");
    assert!(users.retire(1) && users.acquire().is_none());
}

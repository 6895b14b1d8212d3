//! Which events a mailbox keeps, merges and drops.

use super::*;
use kubist_apimachinery::ObjectMeta;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn object(name: &str, uid: u32, version: u32) -> Arc<ObjectMeta> {
    Arc::new(ObjectMeta {
        name: name.into(),
        uid: uid.to_string().into(),
        resource_version: version.to_string().into(),
        ..ObjectMeta::default()
    })
}

fn added(name: &str, version: u32) -> ResourceEvent<ObjectMeta> {
    ResourceEvent::Added {
        object: object(name, 1, version),
        initial: true,
    }
}

fn updated(name: &str, from: u32, to: u32) -> ResourceEvent<ObjectMeta> {
    ResourceEvent::Updated {
        old: object(name, 1, from),
        new: object(name, 1, to),
    }
}

/// An update to another object of the same name.
fn replaced(name: &str, from: u32, to: u32) -> ResourceEvent<ObjectMeta> {
    ResourceEvent::Updated {
        old: object(name, 1, from),
        new: object(name, 2, to),
    }
}

fn deleted(name: &str, version: u32) -> ResourceEvent<ObjectMeta> {
    ResourceEvent::Deleted(Deleted::Known(object(name, 1, version)))
}

fn push(
    mailbox: &mut Mailbox<ObjectMeta>,
    change: ResourceEvent<ObjectMeta>,
) -> Result<(), Overflowed> {
    mailbox.push(&Arc::new(Batch::new(vec![change])))
}

/// Pushes all events, then takes all.
fn merged(changes: Vec<ResourceEvent<ObjectMeta>>) -> String {
    let mut mailbox = Mailbox::new(Delivery::Coalesced);
    for change in changes {
        push(&mut mailbox, change).expect("it does not overflow");
    }
    let initial = mailbox.initial;
    format!("{:?} {initial}", mailbox.take(usize::MAX))
}

/// Contract INF-5.
#[test]
fn what_waits_for_one_object_merges() {
    let reborn = || ResourceEvent::Added {
        object: object("a", 2, 9),
        initial: false,
    };
    for (changes, expected) in [
        (
            vec![added("a", 1), updated("a", 1, 2)],
            "[Added(a@2, initial)] 1",
        ),
        (vec![added("a", 1), deleted("a", 2)], "[] 0"),
        (
            vec![updated("a", 1, 2), updated("a", 2, 3)],
            "[Updated(a@1->3)] 0",
        ),
        (vec![updated("a", 1, 2), deleted("a", 3)], "[Known(a)] 0"),
        (vec![deleted("a", 3), reborn()], "[Known(a), Added(a@9)] 0"),
        (
            vec![deleted("a", 3), reborn(), deleted("a", 10)],
            "[Known(a)] 0",
        ),
        (
            // The second object of the name was added and deleted unseen.
            vec![
                replaced("a", 1, 2),
                ResourceEvent::Deleted(Deleted::Known(object("a", 2, 3))),
            ],
            "[FinalStateUnknown(a)] 0",
        ),
        (
            vec![
                ResourceEvent::Resynced(object("a", 1, 1)),
                updated("a", 1, 2),
            ],
            "[Updated(a@1->2)] 0",
        ),
        (
            vec![
                updated("a", 1, 2),
                ResourceEvent::Resynced(object("a", 1, 2)),
            ],
            "[Updated(a@1->2)] 0",
        ),
        (
            vec![updated("b", 1, 2), added("a", 1), updated("b", 2, 3)],
            "[Updated(b@1->3), Added(a@1, initial)] 1",
        ),
    ] {
        let observed = format!("{changes:?}");
        assert_eq!(merged(changes), expected, "{observed}");
    }
}

#[test]
fn an_object_that_left_and_came_back_is_reported_as_both_even_with_one_uid() {
    assert_eq!(
        merged(vec![
            updated("a", 1, 2),
            deleted("a", 3),
            added("a", 4),
            updated("a", 4, 5)
        ]),
        "[Known(a), Added(a@5)] 0"
    );
}

#[test]
fn an_object_that_comes_and_goes_unseen_leaves_nothing_behind() {
    let mut mailbox = Mailbox::new(Delivery::Coalesced);
    for version in 0..10_000 {
        push(&mut mailbox, added("a", version)).expect("it does not overflow");
        push(&mut mailbox, deleted("a", version)).expect("it does not overflow");
    }
    assert_eq!(mailbox.len(), 0);
    assert!(mailbox.merged.len() <= GAPS_MAX + 1 && !mailbox.has_initial());
}

/// Contract INF-6.
#[test]
fn every_event_keeps_order_and_overflows_with_an_error() {
    let mut mailbox = Mailbox::new(Delivery::EveryEvent { pending_max: 2 });
    assert_eq!(push(&mut mailbox, added("a", 1)), Ok(()));
    assert_eq!(push(&mut mailbox, updated("a", 1, 2)), Ok(()));
    assert_eq!(push(&mut mailbox, updated("a", 2, 3)), Err(Overflowed));
    let taken = format!("{:?}", mailbox.take(10));
    assert_eq!(taken, "[Added(a@1, initial), Updated(a@1->2)]");
}

/// Contract INF-7.
#[test]
fn a_bounded_mailbox_may_merge_instead_until_it_is_empty() {
    let on_overflow = Overflow::Snapshot;
    let mut mailbox = Mailbox::new(Delivery::Bounded {
        pending_max: 2,
        on_overflow,
    });
    for version in 1..5 {
        assert_eq!(
            push(&mut mailbox, updated("a", version, version + 1)),
            Ok(())
        );
    }
    assert_eq!(format!("{:?}", mailbox.take(10)), "[Updated(a@1->5)]");
    for version in 5..7 {
        assert_eq!(
            push(&mut mailbox, updated("a", version, version + 1)),
            Ok(())
        );
    }
    assert_eq!(mailbox.take(10).len(), 2);
}

proptest! {
    /// Contract INF-5. However slow a handler is, it ends with the final state, and receives each
    /// deletion of an object that it knows exactly once.
    #[test]
    fn a_handler_ends_with_the_final_state(
        steps in prop::collection::vec((0u8..6, 0u8..5, 0usize..4), 0..200),
    ) {
        let mut mailbox = Mailbox::new(Delivery::Coalesced);
        let mut store: BTreeMap<String, Arc<ObjectMeta>> = BTreeMap::new();
        let mut observed: BTreeMap<String, Arc<ObjectMeta>> = BTreeMap::new();
        let mut record = |taken: Vec<ResourceEvent<ObjectMeta>>| {
            for change in taken {
                let name = change.object_name().to_string();
                match change {
                    ResourceEvent::Added { object, .. } => assert!(observed.insert(name, object).is_none()),
                    ResourceEvent::Updated { old, new } => {
                        let before = observed.insert(name, new).expect("it was added before");
                        assert_eq!(before, old);
                    }
                    ResourceEvent::Deleted(deleted) => {
                        let before = observed.remove(&name).expect("it was added before");
                        assert_eq!(before.uid, deleted.object().expect("it is known").uid);
                    }
                    ResourceEvent::Resynced(_) => assert!(observed.contains_key(&name)),
                }
            }
            observed.clone()
        };
        let mut uid = 0;
        for (version, (name, action, reads)) in (1u32..).zip(steps) {
            let name = name.to_string();
            let held = store.get(&name).cloned();
            let change = match (held, action) {
                (None, _) => {
                    uid += 1;
                    let object = object(&name, uid, version);
                    store.insert(name.clone(), Arc::clone(&object));
                    ResourceEvent::Added { object, initial: false }
                }
                (Some(old), 0) => {
                    store.remove(&name);
                    ResourceEvent::Deleted(Deleted::Known(old))
                }
                (Some(old), 1) => ResourceEvent::Resynced(old),
                (Some(old), action) => {
                    // A list may contain another object of the same name.
                    uid += u32::from(action == 2);
                    let old_uid: u32 = old.uid.parse().expect("a number");
                    let new = object(&name, if action == 2 { uid } else { old_uid }, version);
                    store.insert(name.clone(), Arc::clone(&new));
                    ResourceEvent::Updated { old, new }
                }
            };
            push(&mut mailbox, change).expect("it does not overflow");
            record(mailbox.take(reads));
        }
        prop_assert_eq!(record(mailbox.take(usize::MAX)), store);
    }
}

/// The state of one object as the handler knows it, and its current state.
#[derive(Clone, Default)]
struct Model {
    observed: Option<Arc<ObjectMeta>>,
    now: Option<Arc<ObjectMeta>>,
    /// It was deleted since the last event.
    left: bool,
    /// The deleted object was another one of its name, which the handler never received.
    replaced: bool,
    resynced: bool,
    /// It is in the first list and was not delivered.
    initial: bool,
}

impl Model {
    /// The events that the handler must receive.
    fn waits(&self) -> Vec<String> {
        let added = |it: &Arc<ObjectMeta>| {
            let initial = if self.initial { ", initial" } else { "" };
            format!("Added({}@{}{initial})", it.name, it.resource_version)
        };
        let deleted = |it: &Arc<ObjectMeta>| {
            let kind = if self.replaced {
                "FinalStateUnknown"
            } else {
                "Known"
            };
            format!("{kind}({})", it.name)
        };
        match (&self.observed, &self.now) {
            (None, Some(now)) => vec![added(now)],
            (Some(observed), None) => vec![deleted(observed)],
            (Some(observed), Some(now)) if self.left => vec![deleted(observed), added(now)],
            (Some(observed), Some(now)) if observed.resource_version != now.resource_version => {
                let (old, new) = (&observed.resource_version, &now.resource_version);
                vec![format!("Updated({}@{old}->{new})", now.name)]
            }
            (Some(observed), Some(_)) if self.resynced => {
                vec![format!(
                    "Resynced({}@{})",
                    observed.name, observed.resource_version
                )]
            }
            _ => Vec::new(),
        }
    }

    fn change(
        &mut self,
        name: &str,
        action: u8,
        version: u32,
        initial: bool,
    ) -> ResourceEvent<ObjectMeta> {
        match (self.now.clone(), action) {
            (None, _) => {
                let object = object(name, u32::from(action % 2), version);
                self.now = Some(Arc::clone(&object));
                self.initial = initial && !self.left;
                ResourceEvent::Added { object, initial }
            }
            (Some(old), 0 | 1) => {
                self.now = None;
                if let Some(observed) = self.observed.as_ref().filter(|_| !self.left) {
                    self.left = true;
                    self.replaced = observed.uid != old.uid;
                }
                (self.resynced, self.initial) = (false, false);
                ResourceEvent::Deleted(Deleted::Known(old))
            }
            (Some(object), 2) => {
                self.resynced = true;
                ResourceEvent::Resynced(object)
            }
            (Some(old), _) => {
                let new = object(name, 0, version);
                self.now = Some(Arc::clone(&new));
                ResourceEvent::Updated { old, new }
            }
        }
    }
}

proptest! {
    /// Contract INF-5. At any time exactly those events are pending that bring the handler to the
    /// current state, in the order in which their objects became pending.
    #[test]
    fn pending_events_are_the_difference_between_the_delivered_and_the_current_state(
        steps in prop::collection::vec((0usize..4, 0u8..6, 0usize..5), 0..150),
    ) {
        let mut mailbox = Mailbox::new(Delivery::Coalesced);
        let mut models = vec![Model::default(); 4];
        let mut order: Vec<usize> = Vec::new();
        for (version, (name, action, reads)) in (1u32..).zip(steps) {
            let text = name.to_string();
            let change = models[name].change(&text, action, version, version < 40);
            push(&mut mailbox, change).expect("it does not overflow");
            order.retain(|it| !models[*it].waits().is_empty());
            if !order.contains(&name) && !models[name].waits().is_empty() {
                order.push(name);
            }
            prop_assert_eq!(mailbox.len(), order.len());
            let initial = models.iter().filter(|it| it.now.is_some() && it.initial).count();
            prop_assert_eq!(mailbox.initial, initial);
            // The handler reads some objects, each with one or two events.
            if reads == 0 {
                let expected: Vec<_> = order.iter().flat_map(|it| models[*it].waits()).collect();
                let taken: Vec<_> = mailbox.take(usize::MAX);
                for change in &taken {
                    if matches!(change, ResourceEvent::Added { initial: true, .. }) {
                        mailbox.initial_handled();
                    }
                }
                let taken: Vec<_> = taken.iter().map(|it| format!("{it:?}")).collect();
                prop_assert_eq!(taken, expected);
                for model in &mut models {
                    model.observed = model.now.clone();
                    (model.left, model.resynced, model.initial) = (false, false, false);
                }
                order.clear();
            }
        }
    }
}

proptest! {
    /// A batch that stays shared is delivered as its events would be one by one, wherever the
    /// handler looks in between, and overflows where they would.
    #[test]
    fn a_batch_is_the_same_as_its_events_one_by_one(
        mode in 0usize..4,
        pending_max in 1usize..10,
        batches in prop::collection::vec(
            (prop::collection::vec((0usize..6, 0u8..6), 1..8), 0usize..10),
            0..40,
        ),
    ) {
        let delivery = [
            Delivery::Coalesced,
            Delivery::EveryEvent { pending_max },
            Delivery::Bounded { pending_max, on_overflow: Overflow::Snapshot },
            Delivery::Bounded { pending_max, on_overflow: Overflow::End },
        ][mode];
        let (mut shared, mut single) = (Mailbox::new(delivery), Mailbox::new(delivery));
        let mut models = vec![Model::default(); 6];
        let mut version = 0;
        for (batch, reads) in batches {
            let changes = batch.into_iter().map(|(name, action)| {
                version += 1;
                models[name].change(&name.to_string(), action, version, version < 60)
            });
            let changes: Vec<_> = changes.collect();
            let mut one_by_one = changes.iter().cloned();
            let expected = one_by_one.try_for_each(|it| push(&mut single, it));
            let pushed = shared.push(&Arc::new(Batch::new(changes)));
            prop_assert_eq!(&pushed, &expected);
            if pushed.is_err() {
                break;
            }
            prop_assert_eq!(shared.len(), single.len());
            prop_assert_eq!(shared.initial, single.initial);
            let (taken, expected) = (shared.take(reads), single.take(reads));
            prop_assert_eq!(format!("{taken:?}"), format!("{expected:?}"));
        }
        let (rest, expected) = (shared.take(usize::MAX), single.take(usize::MAX));
        prop_assert_eq!(format!("{rest:?}"), format!("{expected:?}"));
    }
}

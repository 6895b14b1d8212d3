//! The overlay against a server of which the store has seen a part: for each name it always shows
//! the later of the stored state and the own write.

use crate::object;
use kubist_apimachinery::{ObjectMeta, ObjectName};
use kubist_cache::{Deleted, Delta, Index, Indexer, Overlay, Replacement};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug)]
enum Step {
    /// A write: name, app, whether it is an own write, and whether its answer arrives late.
    Save(u8, u8, bool, bool),
    Delete(u8, bool, bool),
    /// The watch delivers this many events.
    Deliver(u8),
    Bookmark,
    Relist,
    /// A late answer arrives.
    Answer(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0u8..4, 0u8..4, any::<bool>(), any::<bool>())
            .prop_map(|(name, app, own, late)| Step::Save(name, app, own, late)),
        3 => (0u8..4, any::<bool>(), any::<bool>())
            .prop_map(|(name, own, late)| Step::Delete(name, own, late)),
        4 => (1u8..4).prop_map(Step::Deliver),
        1 => Just(Step::Bookmark),
        1 => Just(Step::Relist),
        2 => any::<u8>().prop_map(Step::Answer),
    ]
}

/// One change on the server.
#[derive(Clone, Debug)]
struct Event {
    version: u64,
    name: u8,
    /// `None` if deleted.
    object: Option<Arc<ObjectMeta>>,
    /// The previous state.
    before: Option<Arc<ObjectMeta>>,
}

struct World {
    events: Vec<Event>,
    objects: BTreeMap<u8, Arc<ObjectMeta>>,
    delivered: usize,
    indexer: Indexer<ObjectMeta>,
    overlay: Overlay<ObjectMeta>,
    /// Own events, answered and not.
    answered: Vec<Event>,
    late: Vec<Event>,
    filtered: bool,
}

/// What a filtered store selects.
fn is_selected(object: &ObjectMeta) -> bool {
    object.labels["app"] != *"3"
}

fn key(name: u8) -> ObjectName {
    ObjectName::new("a", name.to_string())
}

impl World {
    fn new(filtered: bool) -> Self {
        let mut indexer = Indexer::new();
        indexer.bookmark("1".into());
        indexer.publish();
        let mut overlay = Overlay::new(indexer.lister());
        if filtered {
            overlay = overlay.selecting(is_selected);
        }
        Self {
            events: Vec::new(),
            objects: BTreeMap::new(),
            delivered: 0,
            indexer,
            overlay,
            answered: Vec::new(),
            late: Vec::new(),
            filtered,
        }
    }

    fn has(&self, object: &ObjectMeta) -> bool {
        !self.filtered || is_selected(object)
    }

    fn write(&mut self, name: u8, app: Option<u8>, own: bool, late: bool) {
        let version = self.events.len() as u64 + 2;
        let before = self.objects.get(&name).cloned();
        let object = app.map(|app| {
            let mut made = (*object(&format!("{}@{version} app={app}", key(name)))).clone();
            made.uid = match &before {
                Some(before) => before.uid.clone(),
                None => format!("uid-{version}").into(),
            };
            Arc::new(made)
        });
        match &object {
            Some(object) => drop(self.objects.insert(name, Arc::clone(object))),
            None if before.is_none() => return,
            None => drop(self.objects.remove(&name)),
        }
        let event = Event {
            version,
            name,
            object,
            before,
        };
        self.events.push(event.clone());
        if own && late {
            self.late.push(event);
        } else if own {
            self.answer(event);
        }
    }

    fn answer(&mut self, event: Event) {
        match (&event.object, &event.before) {
            (Some(object), _) => self.overlay.saved(Arc::clone(object)),
            (None, Some(before)) => self.overlay.deleted_object(before),
            (None, None) => {}
        }
        self.answered.push(event);
    }

    fn deliver(&mut self) {
        let Some(event) = self.events.get(self.delivered) else {
            return;
        };
        self.delivered += 1;
        let was = event.before.as_ref().is_some_and(|it| self.has(it));
        let is = event.object.as_ref().filter(|it| self.has(it));
        let delta = match (was, is, &event.before) {
            (false, Some(object), _) => Delta::Added(Arc::clone(object)),
            (true, Some(object), _) => Delta::Updated(Arc::clone(object)),
            (true, None, Some(before)) => {
                let last = event.object.as_ref().unwrap_or(before);
                let mut last = (**last).clone();
                last.resource_version = event.version.to_string().into();
                Delta::Deleted(Deleted::Known(Arc::new(last)))
            }
            _ => return,
        };
        self.indexer.apply(delta, &mut Vec::new());
        self.indexer.publish();
    }

    fn relist(&mut self) {
        self.delivered = self.events.len();
        let all = Replacement {
            resource_version: (self.events.len() as u64 + 1).into(),
            objects: self
                .objects
                .values()
                .filter(|it| self.has(it))
                .cloned()
                .collect(),
            unreadable: Vec::new(),
        };
        self.indexer.apply(Delta::ReplacedAll(all), &mut Vec::new());
        self.indexer.publish();
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Save(name, app, own, late) => self.write(name, Some(app), own, late),
            Step::Delete(name, own, late) => self.write(name, None, own, late),
            Step::Deliver(count) => (0..count).for_each(|_| self.deliver()),
            Step::Bookmark => {
                let version = self.delivered as u64 + 1;
                self.indexer.bookmark(version.into());
                self.indexer.publish();
            }
            Step::Relist => self.relist(),
            Step::Answer(which) => {
                if !self.late.is_empty() {
                    let event = self.late.remove(usize::from(which) % self.late.len());
                    self.answer(event);
                }
            }
        }
    }

    fn expected(&self, name: u8) -> Option<Arc<ObjectMeta>> {
        let snapshot = self.indexer.lister().snapshot();
        let seen = snapshot.resource_version().to_u64().unwrap_or_default();
        let of_name = self.answered.iter().filter(|event| event.name == name);
        match of_name.max_by_key(|event| event.version) {
            Some(own) if own.version > seen => {
                own.object.as_ref().filter(|it| self.has(it)).cloned()
            }
            _ => snapshot.get(&key(name)),
        }
    }
}

proptest! {
    /// Contract CACHE-16.
    #[test]
    fn it_shows_the_later_of_the_stores_and_ones_own(
        filtered: bool,
        steps in prop::collection::vec(step(), 0..80),
    ) {
        let mut world = World::new(filtered);
        let app = world.indexer.add_index(Index::label("app"));
        world.indexer.publish();
        for step in steps {
            world.take(step);
            let expected: Vec<_> = (0..4).map(|name| world.expected(name)).collect();
            for (name, expected) in (0..4).zip(&expected) {
                prop_assert_eq!(&world.overlay.get(&key(name)), expected);
            }
            let mut expected: Vec<_> = expected.into_iter().flatten().collect();
            let mut all = world.overlay.list();
            all.sort_by(|left, right| left.name.cmp(&right.name));
            prop_assert_eq!(&all, &expected);
            expected.retain(|it| it.labels["app"] == *"1");
            let mut filed = world.overlay.by_index(&app, "1");
            filed.sort_by(|left, right| left.name.cmp(&right.name));
            prop_assert_eq!(&filed, &expected);
            let selector = "app=1".parse().expect("valid");
            prop_assert_eq!(world.overlay.select(None, &selector).len(), expected.len());
        }
        world.relist();
        world.late.clear();
        prop_assert_eq!(world.overlay.unseen_len(), 0);
    }
}

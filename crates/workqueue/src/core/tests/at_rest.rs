//! Items at rest whose slots are released later, while others are ready.

use super::*;
use std::hash::Hasher;

/// An item that is equal to others of its name.
#[derive(Debug, Clone)]
struct Named {
    name: u64,
    instance: Arc<u32>,
}

impl PartialEq for Named {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Named {}

impl std::hash::Hash for Named {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.name.hash(hasher);
    }
}

fn add(core: &mut Core<Named>, name: u64, instance: u32) -> Arc<u32> {
    let instance = Arc::new(instance);
    let held = Arc::clone(&instance);
    core.add(ZERO, name, Named { name, instance }, Lane::Normal);
    held
}

/// Takes the next item and completes it; returns its instance.
fn run_one(core: &mut Core<Named>) -> u32 {
    let Take::Item { slot, item, .. } = core.take(ZERO) else {
        panic!("it is ready")
    };
    core.finish(ZERO, slot, Outcome::Succeeded);
    *item.instance
}

#[test]
fn an_item_that_is_added_again_is_the_new_one() {
    let mut core = Core::new(Config::default());
    let first = add(&mut core, 1, 10);
    add(&mut core, 2, 20);
    add(&mut core, 3, 30);
    assert_eq!(run_one(&mut core), 10);
    assert_eq!(Arc::strong_count(&first), 2, "it rests in its slot");
    add(&mut core, 1, 11);
    assert_eq!(Arc::strong_count(&first), 1, "another instance is there");
    let rest = [run_one(&mut core), run_one(&mut core), run_one(&mut core)];
    assert_eq!(rest, [20, 30, 11]);
    assert_eq!(core.slots.len(), 0);
}

#[test]
fn slots_are_released_once_there_are_enough_or_nothing_is_ready() {
    let mut core = Core::new(Config::default());
    let items: Vec<_> = (0..10).map(|it| add(&mut core, it, 0)).collect();
    let held = |items: &[Arc<u32>]| items.iter().filter(|it| Arc::strong_count(it) > 1).count();
    for done in 1..items.len() {
        run_one(&mut core);
        assert!(held(&items) < items.len() - done + IDLE_MAX);
    }
    assert_eq!(held(&items[..9]), 0, "the last one is taken next");
    run_one(&mut core);
    assert_eq!(held(&items), 0);
}

#[test]
fn a_slot_that_another_item_has_by_now_is_not_released() {
    let mut core = Core::new(Config::default());
    for name in 0..3 {
        add(&mut core, name, 0);
    }
    run_one(&mut core);
    // Its slot is in the list twice: it comes to rest again before the list is full.
    add(&mut core, 0, 1);
    run_one(&mut core);
    for name in 10..20 {
        add(&mut core, name, 2);
    }
    let others: Vec<_> = (0..12).map(|_| run_one(&mut core)).collect();
    assert_eq!(others, [&[0, 1][..], &[2; 10]].concat());
    assert_eq!((core.slots.len(), core.idle.len()), (0, 0));
}

#[test]
fn a_shutdown_with_items_at_rest_returns_what_is_ready() {
    for drain in [false, true] {
        let mut core = Core::new(Config::default());
        for name in 0..3 {
            add(&mut core, name, 0);
        }
        run_one(&mut core);
        core.shut_down(ZERO, drain);
        add(&mut core, 0, 1);
        run_one(&mut core);
        run_one(&mut core);
        assert!(matches!(core.take(ZERO), Take::Closed));
        assert_eq!(core.slots.len(), 0);
    }
}

#[test]
fn forgetting_an_item_at_rest_reaches_the_limiter() {
    #[derive(Debug, Default)]
    struct Forgets(Arc<parking_lot::Mutex<Vec<u64>>>);
    impl RateLimiter<Named> for Forgets {
        fn delay(&mut self, _: &Named, _: u32, _: Duration) -> Duration {
            ZERO
        }
        fn forget(&mut self, item: &Named) {
            self.0.lock().push(item.name);
        }
    }
    let forgotten = Arc::default();
    let mut core = Core::new(Config {
        limiter: Box::new(Forgets(Arc::clone(&forgotten))),
        ..Config::default()
    });
    let instance = add(&mut core, 1, 0);
    add(&mut core, 2, 0);
    run_one(&mut core);
    core.forget(1, &Named { name: 1, instance });
    assert_eq!(*forgotten.lock(), [1]);
}

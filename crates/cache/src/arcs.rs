//! `Arcs`: makes `Arc`s whose counts lie side by side in memory.
//!
//! An object that arrives is allocated between its own strings or bytes, so that each has a page of
//! its own, and whoever counts a reference to one of many waits for the page, not only for the
//! line. Here the places of some objects are allocated together, before they are needed. It changes
//! where objects are, and nothing else.

use kubist_apimachinery::Object;
use std::fmt;
use std::sync::Arc;

/// The most places that are allocated together, and the most bytes that they take.
const PLACES_MAX: usize = 64;
const BYTES_MAX: usize = 16 << 10;

/// Makes `Arc`s of objects of one kind.
///
/// The first is allocated alone, and each further batch is twice as large as the one before, up to
/// 64 places or 16 kB, which is what it holds in advance at most.
///
/// ```
/// use kubist_apimachinery::{Object as _, ObjectMeta};
/// use kubist_cache::Arcs;
///
/// let mut arcs = Arcs::new();
/// let web = arcs.share(ObjectMeta { name: "web".into(), ..Default::default() });
/// assert_eq!(web.name(), "web");
/// ```
pub struct Arcs<K> {
    vacant: Vec<Arc<K>>,
    batch: usize,
}

impl<K> Arcs<K> {
    /// Has no places yet.
    pub fn new() -> Self {
        Self {
            vacant: Vec::new(),
            batch: 0,
        }
    }
}

impl<K: Object> Arcs<K> {
    /// Puts an object into a place.
    pub fn share(&mut self, object: K) -> Arc<K> {
        if self.vacant.is_empty() {
            self.refill();
        }
        let Some(mut place) = self.vacant.pop() else {
            return Arc::new(object);
        };
        match Arc::get_mut(&mut place) {
            Some(vacant) => *vacant = object,
            // Nobody else has it.
            None => return Arc::new(object),
        }
        place
    }

    fn refill(&mut self) {
        let fitting = (BYTES_MAX / size_of::<K>().max(1)).clamp(1, PLACES_MAX);
        self.batch = (self.batch * 2).clamp(1, fitting);
        let places = (0..self.batch).map_while(|_| K::vacant().map(Arc::new));
        self.vacant.extend(places);
    }
}

impl<K> Default for Arcs<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> fmt::Debug for Arcs<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Arcs({} vacant)", self.vacant.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::{KeyValues, ObjectMeta, Owners};

    fn named(name: usize) -> ObjectMeta {
        ObjectMeta {
            name: name.to_string().into(),
            ..Default::default()
        }
    }

    #[test]
    fn each_object_has_a_place_of_its_own() {
        let mut arcs = Arcs::new();
        let all: Vec<_> = (0..300).map(|it| arcs.share(named(it))).collect();
        for (number, object) in all.iter().enumerate() {
            assert_eq!(object.name(), number.to_string());
            assert_eq!(Arc::strong_count(object), 1);
        }
    }

    #[test]
    fn few_objects_take_few_places_and_many_take_no_more_than_a_batch() {
        let mut arcs = Arcs::new();
        let held: Vec<_> = [0, 1, 2].map(|it| arcs.share(named(it))).into();
        assert_eq!(held.len(), 3);
        assert!(arcs.vacant.len() <= 3, "{arcs:?}");
        let many: Vec<_> = (0..1_000).map(|it| arcs.share(named(it))).collect();
        assert_eq!(many.len(), 1_000);
        assert!(arcs.batch * size_of::<ObjectMeta>() <= BYTES_MAX);
    }

    struct Foreign;

    impl Object for Foreign {
        fn name(&self) -> &'static str {
            "foreign"
        }
        fn namespace(&self) -> &'static str {
            ""
        }
        fn uid(&self) -> &'static str {
            ""
        }
        fn resource_version(&self) -> &'static str {
            ""
        }
        fn labels(&self) -> KeyValues<'_> {
            KeyValues::Empty
        }
        fn annotations(&self) -> KeyValues<'_> {
            KeyValues::Empty
        }
        fn owners(&self) -> Owners<'_> {
            Owners::List(&[])
        }
        fn is_terminating(&self) -> bool {
            false
        }
    }

    #[test]
    fn a_form_without_vacant_objects_is_allocated_one_by_one() {
        let mut arcs = Arcs::new();
        assert_eq!(arcs.share(Foreign).name(), "foreign");
        assert!(arcs.vacant.is_empty());
    }
}

//! What operations of a store cost at least: the same memory is touched, and nothing else is done.
//!
//! The objects are those of [`cache`](crate::cache), so a limit holds for their form and for the
//! machine. A store that publishes snapshots and keeps indexes does more than each of these; but
//! its tables are others than a map's, and may be in fewer lines of memory.

use crate::cache::{GETS, LOOKUPS, Objects, STRIDE, handed, print as case, readers_beside_writer};
use hashbrown::HashMap;
use kubist_apimachinery::ObjectName;
use kubist_apimachinery::wire::ScalarField;
use kubist_cache::FieldLookup;
use meter::{cpu, each};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

/// A map from names to objects, as a program without a store has it: the standard library's table,
/// with the hash function that the store uses, which is a faster one.
type Plain<F> = HashMap<ObjectName, Arc<F>>;

pub(crate) fn print<F: FieldLookup>(all: &Objects<F>) {
    known(all);
    plain_look_ups(all);
}

/// The object is known, and only counted, or only read. The next one depends on what was read, as
/// it does for whoever looks at an object before the next: the processor cannot fetch ahead.
fn known<F: FieldLookup>(all: &Objects<F>) {
    let count = all.first.len();
    case("known, get", || {
        let (start, mut behind) = (cpu(), 0);
        for number in 0..GETS {
            let object = Arc::clone(&all.first[(number * STRIDE + behind) % count]);
            // Always 0, which the compiler cannot know.
            behind = black_box(Arc::strong_count(&object)) >> 60;
        }
        each(start, GETS)
    });
    case("known, read", || {
        let (start, mut read, mut behind) = (cpu(), 0, 0);
        for number in 0..GETS {
            let version = all.first[(number * STRIDE + behind) % count].resource_version();
            read += version.len();
            behind = black_box(version.len()) >> 60;
        }
        assert!(black_box(read) > 0);
        each(start, GETS)
    });
}

/// The names are those of the objects, as a store has them; whoever asks has his own.
fn plain<F: FieldLookup>(objects: &[Arc<F>]) -> Plain<F> {
    let named = objects.iter().map(|it| (it.object_name(), Arc::clone(it)));
    named.collect()
}

fn plain_look_ups<F: FieldLookup>(all: &Objects<F>) {
    let map = plain(&all.first);
    let name = |number: usize| &all.names[number * STRIDE % all.names.len()];
    case("plain, get", || {
        let start = cpu();
        for number in 0..GETS {
            assert!(black_box(map.get(name(number)).map(Arc::clone)).is_some());
        }
        each(start, GETS)
    });
    case("plain, find", || {
        let start = cpu();
        for number in 0..GETS {
            assert!(black_box(map.get(name(number))).is_some());
        }
        each(start, GETS)
    });
    case("plain, read", || {
        let (start, mut read) = (cpu(), 0);
        for number in 0..GETS {
            let found = map.get(name(number));
            read += found.map_or(0, |it| it.resource_version().len());
        }
        assert!(black_box(read) > 0);
        each(start, GETS)
    });
}

/// Objects are put into the map, after the field that an index is by, and the version that decides
/// about an event, were read; for an update, from the old object too.
pub(crate) fn plain_writes<F: FieldLookup>(all: &Objects<F>) -> impl FnOnce() {
    let (mut adding, mut updating) = (handed(&all.first), handed(&all.second));
    move || {
        let Ok(path) = ScalarField::new(F::schema(), "spec.nodeName") else {
            return;
        };
        let look = |object: &F| object.field(&path).len() + object.resource_version().len();
        case("plain, add", || {
            let objects = adding();
            let (start, mut map, mut read) = (cpu(), Plain::new(), 0);
            for object in objects {
                read += look(&object);
                map.insert(object.object_name(), object);
            }
            assert!(black_box(read) > 0);
            each(start, all.first.len())
        });
        case("plain, update", || {
            let (mut map, objects) = (plain(&all.first), updating());
            let (start, mut read) = (cpu(), 0);
            for object in objects {
                read += look(&object);
                let old = map.insert(object.object_name(), object);
                read += old.map_or(0, |it| it.resource_version().len());
            }
            assert!(black_box(read) > 0);
            each(start, all.second.len())
        });
    }
}

/// Lists that are known are copied, as whoever asks for objects gets a list of his own.
pub(crate) fn print_lists<F>(name: &str, lists: &[Vec<Arc<F>>]) {
    case(name, || {
        let (start, mut copied) = (cpu(), 0);
        for _ in 0..LOOKUPS {
            for list in lists {
                copied += black_box(list.clone()).len();
            }
        }
        assert!(copied > 0);
        each(start, LOOKUPS * lists.len())
    });
}

/// Two readers of one map that nobody writes, and a writer of another: they share nothing but the
/// objects.
pub(crate) fn print_readers<F: FieldLookup>(all: &Objects<F>, limit: Duration) {
    let Ok(path) = ScalarField::new(F::schema(), "spec.nodeName") else {
        return;
    };
    let (read, mut written) = (plain(&all.first), plain(&all.first));
    let mut write = |object: Arc<F>| {
        black_box(object.field(&path).len() + object.resource_version().len());
        let old = written.insert(object.object_name(), object);
        black_box(old.map_or(0, |it| it.resource_version().len()));
    };
    let read = &read;
    let get = || |name: &ObjectName| read.get(name).map(Arc::clone).is_some();
    readers_beside_writer("plain, readers", all, limit, get, &mut write);
    let find = || |name: &ObjectName| read.get(name).is_some();
    readers_beside_writer("plain, readers in place", all, limit, find, write);
}

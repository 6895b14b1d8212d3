//! The default among classes that are marked by an annotation.

use kubist_apimachinery::{AnyObject, Str, Time};
use std::cmp::Reverse;
use std::sync::Arc;

/// Returns the name of the newest class with one of these annotations; among equally new ones, the
/// first by name.
pub(crate) fn newest_default(classes: &[Arc<dyn AnyObject>], marks: &[&str]) -> Option<Str> {
    let is_marked = |class: &&Arc<dyn AnyObject>| {
        let annotations = &class.meta().annotations;
        let mut values = marks.iter().filter_map(|it| annotations.get(*it));
        values.any(|it| *it == "true")
    };
    let newest = classes.iter().filter(is_marked).min_by_key(|class| {
        let meta = class.meta();
        let created = meta.creation_timestamp.map_or(0, Time::unix);
        (Reverse(created), meta.name.clone())
    });
    Some(newest?.meta().name.clone())
}

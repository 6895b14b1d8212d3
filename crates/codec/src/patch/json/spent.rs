//! `Spent`: what the operations of a patch have done so far that has a limit.

use super::{DEPTH_MAX, Failure, MOVED_ITEMS_MAX};
use serde_json::Value;

/// What the operations of a patch have done so far that has a limit.
#[derive(Default)]
pub(super) struct Spent {
    pub(super) copied_bytes: usize,
    moved_items: usize,
}

impl Spent {
    /// Notes that all items from `at` on move.
    pub(super) fn move_from(&mut self, at: usize, list: &[Value]) -> Result<(), Failure> {
        self.moved_items = self
            .moved_items
            .saturating_add(list.len().saturating_sub(at));
        if self.moved_items > MOVED_ITEMS_MAX {
            return Err(Failure::TooManyMoves);
        }
        Ok(())
    }

    /// Notes a value that is put below so many others, and that it does not lie too deep there.
    pub(super) fn put(&mut self, value: &Value, below: usize) -> Result<(), Failure> {
        let levels = DEPTH_MAX.saturating_sub(below);
        if !fits(value, levels, &mut self.moved_items) {
            return Err(format!("more than {DEPTH_MAX} levels").into());
        }
        self.move_from(0, &[])
    }
}

/// Whether a value has no more levels than these. Counts what it looks at.
fn fits(value: &Value, levels: usize, seen: &mut usize) -> bool {
    *seen = seen.saturating_add(1);
    match value {
        Value::Array(list) => levels > 0 && list.iter().all(|it| fits(it, levels - 1, seen)),
        Value::Object(map) => levels > 0 && map.values().all(|it| fits(it, levels - 1, seen)),
        _ => true,
    }
}

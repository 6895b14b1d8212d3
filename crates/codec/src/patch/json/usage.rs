//! `Usage`: the limited resources that a patch has used.

use super::{DEPTH_MAX, Failure, MOVED_ITEMS_MAX};
use serde_json::Value;

/// The limited resources that the operations of a patch have used.
#[derive(Default)]
pub(super) struct Usage {
    pub(super) copied_bytes: usize,
    moved_items: usize,
}

impl Usage {
    /// Counts the items from `at` on as moved.
    pub(super) fn move_from(&mut self, at: usize, list: &[Value]) -> Result<(), Failure> {
        self.moved_items = self
            .moved_items
            .saturating_add(list.len().saturating_sub(at));
        if self.moved_items > MOVED_ITEMS_MAX {
            return Err(Failure::TooManyMoves);
        }
        Ok(())
    }

    /// Checks the depth of a value that is put `depth` levels deep.
    pub(super) fn put(&mut self, value: &Value, below: usize) -> Result<(), Failure> {
        let levels = DEPTH_MAX.saturating_sub(below);
        if !fits(value, levels, &mut self.moved_items) {
            return Err(format!("more than {DEPTH_MAX} levels").into());
        }
        self.move_from(0, &[])
    }
}

/// Reports whether a value has at most this many levels. Counts the values it visits.
fn fits(value: &Value, levels: usize, seen: &mut usize) -> bool {
    *seen = seen.saturating_add(1);
    match value {
        Value::Array(list) => levels > 0 && list.iter().all(|it| fits(it, levels - 1, seen)),
        Value::Object(map) => levels > 0 && map.values().all(|it| fits(it, levels - 1, seen)),
        _ => true,
    }
}

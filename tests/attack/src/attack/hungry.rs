//! A mix of everything that costs CPU time: each client begins elsewhere in it, so that eight
//! clients do different things.

use super::{bodies, foreign_bodies, patches, selectors, tables};
use crate::call::Call;

/// Returns all calls, one of each in turn.
pub(super) fn calls() -> Vec<Call> {
    let mut kinds = [
        selectors::calls().into_iter(),
        patches::calls().into_iter(),
        bodies::calls().into_iter(),
        tables::calls().into_iter(),
        foreign_bodies::calls().into_iter(),
    ];
    let mut calls = Vec::new();
    loop {
        let before = calls.len();
        calls.extend(kinds.iter_mut().filter_map(Iterator::next));
        if calls.len() == before {
            return calls;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_all_and_begins_with_one_of_each() {
        let labels: Vec<&str> = calls().iter().map(|call| call.label).collect();
        let first = |calls: Vec<Call>| calls[0].label;
        let expected = [
            first(selectors::calls()),
            first(patches::calls()),
            first(bodies::calls()),
            first(tables::calls()),
            first(foreign_bodies::calls()),
        ];
        assert_eq!(labels[..5], expected);
        let of_bodies = bodies::calls().len() + foreign_bodies::calls().len();
        let of_others = selectors::calls().len() + patches::calls().len() + tables::calls().len();
        assert_eq!(labels.len(), of_bodies + of_others);
    }
}

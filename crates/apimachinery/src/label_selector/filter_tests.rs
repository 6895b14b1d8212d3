//! Summaries of labels against the labels themselves.

use crate::{LabelFilter, Object, ObjectMeta, Selector};
use proptest::prelude::*;

fn labelled(labels: &[(u8, u8)]) -> ObjectMeta {
    let label = |it: &(u8, u8)| (format!("k{}", it.0).into(), format!("v{}", it.1).into());
    ObjectMeta {
        labels: labels.iter().map(label).collect(),
        ..ObjectMeta::default()
    }
}

proptest! {
    #[test]
    fn what_is_selected_passes(
        labels in prop::collection::vec((0u8..6, 0u8..4), 0..8),
        terms in prop::collection::vec((0u8..6, 0u8..4, 0u8..6), 0..4),
    ) {
        let terms = terms.iter().map(|(key, value, form)| match form {
            0 => format!("k{key}=v{value}"),
            1 => format!("k{key} in (v{value})"),
            2 => format!("k{key} in (v{value},v0)"),
            3 => format!("k{key}!=v{value}"),
            4 => format!("k{key}"),
            _ => format!("!k{key}"),
        });
        let selector = terms.collect::<Vec<_>>().join(",");
        let selector: Selector = selector.parse().expect("valid");
        let meta = labelled(&labels);
        let required = selector.label_filter();
        if selector.matches_object(&meta) {
            prop_assert!(LabelFilter::of(meta.labels()).passes(required));
        }
        prop_assert!(LabelFilter::default().passes(required));
    }
}

#[test]
fn of_objects_with_other_labels_few_pass() {
    let selector: Selector = "k7=v7".parse().expect("valid");
    let required = selector.label_filter();
    let others = (0..250u8).map(|it| labelled(&[(0, it), (1, it / 2), (2, it / 4), (3, it / 8)]));
    let passing = others.filter(|it| LabelFilter::of(it.labels()).passes(required));
    assert!(passing.count() < 12);
}

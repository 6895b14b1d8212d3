//! Tests of the selection of watchers.

use super::*;
use crate::storage::Scope as Where;
use crate::storage::list::narrow;
use crate::storage::predicate::Predicate;
use crate::strategy::PlainStrategy;
use crate::strategy::facts::StrategyFacts;

fn keys() -> KeyLayout {
    KeyLayout::built_in("/registry", "", "pods", true)
}

/// Registers a watcher, and returns its id.
fn watch(watchers: &mut Watchers, namespace: &str, fields: &str) -> u64 {
    let strategy = Arc::new(PlainStrategy(StrategyFacts {
        selectable_fields: &["spec.nodeName"],
        ..StrategyFacts::PLAIN
    }));
    let labels = "".parse().expect("valid");
    let fields = fields.parse().expect("valid");
    let predicate = Predicate::new(labels, fields, strategy).expect("known fields");
    let scope = Where {
        namespace,
        name: None,
    };
    let range = narrow(&keys(), scope, &predicate).expect("no contradiction");
    let interest = Interest { range, predicate };
    let place = watchers.place(&interest, Some("spec.nodeName"));
    let id = place.id;
    let (buffer, _) = mpsc::channel(1);
    watchers.add(Arc::new(Outlet { place, buffer }));
    id
}

fn offered(watchers: &Watchers, key: &str, values: &[&str]) -> Vec<u64> {
    let values: Vec<Str> = values.iter().map(|it| Str::from(*it)).collect();
    let mut found = Vec::new();
    watchers.interested(key.as_bytes(), &keys(), &values, &mut found);
    let mut ids: Vec<u64> = found.iter().map(|it| it.place.id).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn events_are_offered_by_namespace_name_and_field() {
    let mut all = Watchers::default();
    let everything = watch(&mut all, "", "");
    let in_a = watch(&mut all, "a", "");
    let in_b = watch(&mut all, "b", "");
    let one = watch(&mut all, "a", "metadata.name=x");
    let named = watch(&mut all, "", "metadata.name=x");
    let node = watch(&mut all, "", "spec.nodeName=n1");
    let node_in_a = watch(&mut all, "a", "spec.nodeName=n2");
    assert_eq!(all.len(), 7);
    let offer = |key, values: &[&str]| offered(&all, key, values);
    assert_eq!(
        offer("/registry/pods/a/x", &[]),
        [everything, in_a, one, named]
    );
    assert_eq!(offer("/registry/pods/a/y", &[]), [everything, in_a]);
    assert_eq!(offer("/registry/pods/b/x", &[]), [everything, in_b, named]);
    assert_eq!(
        offer("/registry/pods/a/y", &["n1", "n2"]),
        [everything, in_a, node, node_in_a]
    );
    assert_eq!(offer("/registry/pods/b/y", &["n2"]), [everything, in_b]);
}

#[test]
fn removed_watchers_leave_nothing_behind() {
    let mut all = Watchers::default();
    watch(&mut all, "a", "");
    watch(&mut all, "", "metadata.name=x,spec.nodeName=n1");
    assert!(all.have_values());
    for key in ["/registry/pods/a/x", "/registry/pods/b/x"] {
        let mut found = Vec::new();
        all.interested(key.as_bytes(), &keys(), &["n1".into()], &mut found);
        for outlet in found {
            all.remove(&outlet.place);
            assert!(all.remove(&outlet.place).is_none(), "it went already");
        }
    }
    assert_eq!((all.len(), all.have_values()), (0, false));
    assert!(all.by_keys.is_empty() && all.by_name.is_empty());
}

//! Postings against a map of labels.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

type Labels = Vec<(u8, u8)>;

#[derive(Clone, Debug)]
enum Op {
    Put(u8, Labels),
    Unreadable(u8),
    Remove(u8),
}

fn op() -> impl Strategy<Value = Op> {
    let labels = prop::collection::btree_map(0_u8..4, 0_u8..4, 0..4);
    prop_oneof![
        6 => (0_u8..12, labels).prop_map(|(key, it)| Op::Put(key, it.into_iter().collect())),
        1 => (0_u8..12).prop_map(Op::Unreadable),
        3 => (0_u8..12).prop_map(Op::Remove),
    ]
}

fn key(key: u8) -> Bytes {
    Bytes::from(format!("/registry/pods/ns/{key:03}"))
}

fn put(postings: &mut Postings, at: u8, labels: &Labels) {
    let texts: Vec<_> = labels
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect();
    let properties: Vec<_> = texts
        .iter()
        .map(|(name, value)| Property {
            origin: if name == "3" {
                Origin::Field
            } else {
                Origin::Label
            },
            name,
            value,
        })
        .collect();
    postings.put(&key(at), Some(&properties));
}

fn found(postings: &Postings, wanted: &[(u8, Option<Vec<String>>)]) -> Option<Vec<Bytes>> {
    let names: Vec<String> = wanted.iter().map(|it| it.0.to_string()).collect();
    let wanted = wanted.iter().zip(&names).map(|((_, values), name)| Wanted {
        origin: if name == "3" {
            Origin::Field
        } else {
            Origin::Label
        },
        name,
        values: values.as_deref(),
    });
    let candidates = postings.candidates(wanted)?;
    Some(postings.keys(&candidates, &KeyRange::all()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn postings_find_what_a_scan_finds(ops in prop::collection::vec(op(), 0..60)) {
        let mut postings = Postings::default();
        let mut model: BTreeMap<u8, Option<Labels>> = BTreeMap::new();
        for op in ops {
            match op {
                Op::Put(at, labels) => {
                    put(&mut postings, at, &labels);
                    model.insert(at, Some(labels));
                }
                Op::Unreadable(at) => {
                    postings.put(&key(at), None);
                    model.insert(at, None);
                }
                Op::Remove(at) => {
                    postings.remove(&key(at));
                    model.remove(&at);
                }
            }
            let having = model.values().filter(|it| it.as_ref().is_none_or(|it| !it.is_empty()));
            prop_assert_eq!(postings.len(), having.count());
        }
        for name in 0..4 {
            for (value, other) in [(0, 1), (1, 3), (2, 2)] {
                let values = Some(vec![value.to_string(), other.to_string()]);
                for wanted in [
                    vec![(name, None)],
                    vec![(name, values.clone())],
                    vec![(name, values), ((name + 1) % 4, None)],
                ] {
                    let has = |labels: &Labels| wanted.iter().all(|(name, values)| {
                        labels.iter().any(|(known, value)| known == name
                            && values.as_ref().is_none_or(|it| it.contains(&value.to_string())))
                    });
                    let expected: Vec<Bytes> = model
                        .iter()
                        .filter(|(_, labels)| labels.as_ref().is_none_or(has))
                        .map(|(at, _)| key(*at))
                        .collect();
                    prop_assert_eq!(found(&postings, &wanted), Some(expected));
                }
            }
        }
        for at in 0..12 {
            postings.remove(&key(at));
        }
        prop_assert_eq!(postings.by_text.len(), 0, "terms end with their objects");
        prop_assert_eq!(postings.unused_terms.len(), postings.terms.len());
    }
}

#[test]
fn an_object_beyond_the_bounds_is_found_by_each_query() {
    let mut postings = Postings::default();
    let names: Vec<String> = (0..100).map(|it| it.to_string()).collect();
    let many: Vec<_> = names
        .iter()
        .map(|name| Property {
            origin: Origin::Label,
            name,
            value: "v",
        })
        .collect();
    postings.put(&key(1), Some(&many));
    let long = "x".repeat(600);
    let long = Property {
        origin: Origin::Label,
        name: "a",
        value: &long,
    };
    postings.put(&key(2), Some(&[long]));
    put(&mut postings, 3, &vec![(1, 1)]);
    let wanted = [(1, Some(vec!["2".to_owned()]))];
    assert_eq!(found(&postings, &wanted), Some(vec![key(1), key(2)]));
    assert_eq!(found(&postings, &[]), None, "nothing is wanted");
}

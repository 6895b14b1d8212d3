//! Which file each struct of a group version is in, and in which order.
//!
//! A group version is one file. One that would be longer than [`LINES_MAX`] is a folder instead,
//! with the files of the sentences: the types in `docs/core.v1/pod_spec.json` are in
//! `core/v1/pod_spec.rs`.

use super::model::{Struct, Target};
use std::collections::{BTreeMap, BTreeSet};

/// Longer files are split.
pub(crate) const LINES_MAX: usize = 1_500;

/// Returns the structs from the top down: each kind by name and behind it what only it and later
/// kinds refer to, then the structs that no kind refers to.
pub(crate) fn top_down(structs: &[Struct]) -> Vec<&Struct> {
    let by_name: BTreeMap<&str, &Struct> = structs
        .iter()
        .map(|item| (item.name.as_str(), item))
        .collect();
    let is_kind = |item: &&&Struct| !item.kinds.is_empty();
    let kinds = by_name.values().filter(is_kind);
    let roots = kinds.chain(by_name.values());
    let mut ordered = Vec::with_capacity(structs.len());
    let mut seen = BTreeSet::new();
    for root in roots {
        let mut waiting = vec![*root];
        while let Some(item) = waiting.pop() {
            if !seen.insert(item.name.as_str()) {
                continue;
            }
            ordered.push(item);
            let mut inner: Vec<&Struct> = item
                .targets()
                .filter(|target| matches!(target, Target::Here(_)))
                .filter_map(|target| by_name.get(target.name()).copied())
                .collect();
            inner.reverse();
            waiting.extend(inner);
        }
    }
    ordered
}

/// Returns the names of the structs that contain themselves, through others or not.
pub(crate) fn recursive<'a>(structs: &[&'a Struct]) -> BTreeSet<&'a str> {
    let by_name: BTreeMap<&str, &Struct> = structs
        .iter()
        .map(|item| (item.name.as_str(), *item))
        .collect();
    let contains_itself = |item: &&&Struct| {
        let mut seen = BTreeSet::new();
        let mut waiting = vec![**item];
        while let Some(outer) = waiting.pop() {
            let inner = outer.targets().filter_map(|it| match it {
                Target::Here(name) => by_name.get(name.as_str()).copied(),
                Target::Elsewhere(..) | Target::ByHand(_) => None,
            });
            waiting.extend(inner.filter(|it| seen.insert(it.name.as_str())));
        }
        seen.contains(item.name.as_str())
    };
    let found = structs.iter().filter(contains_itself);
    found.map(|item| item.name.as_str()).collect()
}

/// Returns the structs by file name, without extension; none if a struct has no sentences.
pub(crate) fn split<'a>(ordered: &[&'a Struct]) -> Option<BTreeMap<&'a str, Vec<&'a Struct>>> {
    let mut files: BTreeMap<&str, Vec<&Struct>> = BTreeMap::new();
    for item in ordered {
        files.entry(item.home.as_deref()?).or_default().push(item);
    }
    Some(files)
}

#[cfg(test)]
mod tests {
    use super::super::model::Model;
    use super::super::sentences::Sentences;
    use super::*;
    use serde_json::json;

    #[test]
    fn a_struct_follows_the_first_kind_that_refers_to_it() {
        let message = |name: &str, kind: bool, refers: &[&str]| {
            let gvk = if kind {
                json!([["", "v1", name]])
            } else {
                json!([])
            };
            let fields: Vec<_> = refers
                .iter()
                .map(|it| json!({"json": it, "type": format!("io.k8s.api.core.v1.{it}")}))
                .collect();
            json!({"go": format!("k8s.io/api/core/v1.{name}"), "gvk": gvk, "fields": fields})
        };
        let schema = json!({
            "version": "1", "commonKinds": {}, "groups": [],
            "messages": {
                "io.k8s.api.core.v1.Alone": message("Alone", false, &[]),
                "io.k8s.api.core.v1.Both": message("Both", false, &[]),
                "io.k8s.api.core.v1.Node": message("Node", true, &["Taint", "Both"]),
                "io.k8s.api.core.v1.Pod": message("Pod", true, &["Volume", "Both", "Container"]),
                "io.k8s.api.core.v1.Container": message("Container", false, &["Probe"]),
                "io.k8s.api.core.v1.Probe": message("Probe", false, &["Container"]),
                "io.k8s.api.core.v1.Taint": message("Taint", false, &[]),
                "io.k8s.api.core.v1.Volume": message("Volume", false, &[]),
            },
        });
        let schema = serde_json::from_value(schema).expect("it is a schema");
        let model = Model::new(&schema, &Sentences::default()).expect("it resolves");
        let (_, structs) = model.modules.first_key_value().expect("it has a module");
        let names: Vec<&str> = top_down(structs)
            .iter()
            .map(|it| it.name.as_str())
            .collect();
        let expected = "Node Taint Both Pod Volume Container Probe Alone";
        assert_eq!(names.join(" "), expected);
        let all: Vec<&Struct> = structs.iter().collect();
        let recursive = recursive(&all).into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(recursive, "Container Probe");
        assert!(
            split(&top_down(structs)).is_none(),
            "there are no sentences"
        );
    }
}

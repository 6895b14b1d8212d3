//! The random steps of the queues' property tests, over a few names.

use crate::object;
use kubist_apimachinery::{ObjectMeta, ObjectName};
use kubist_cache::Replacement;
use proptest::prelude::*;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Add(u8),
    Update(u8),
    Delete(u8),
    Replace(Vec<u8>, Vec<u8>),
    Resync,
    Pop,
    PopBatch,
    Requeue,
    PutBack,
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    let names = || prop::collection::vec(0u8..8, 0..6);
    prop_oneof![
        3 => (0u8..8).prop_map(Step::Add),
        3 => (0u8..8).prop_map(Step::Update),
        3 => (0u8..8).prop_map(Step::Delete),
        1 => (names(), prop::collection::vec(0u8..8, 0..2))
            .prop_map(|(listed, unreadable)| Step::Replace(listed, unreadable)),
        1 => Just(Step::Resync),
        3 => Just(Step::Pop),
        1 => Just(Step::PopBatch),
        1 => Just(Step::Requeue),
        1 => Just(Step::PutBack),
    ]
}

pub(crate) fn made(name: u8, version: u64) -> Arc<ObjectMeta> {
    object(&format!("{name}@{version}"))
}

pub(crate) fn replacement(
    listed: &[u8],
    unreadable: &[u8],
    version: u64,
) -> Replacement<ObjectMeta> {
    Replacement {
        resource_version: version.into(),
        objects: listed.iter().map(|&name| made(name, version)).collect(),
        unreadable: unreadable
            .iter()
            .map(|name| ObjectName::cluster(name.to_string()))
            .collect(),
    }
}

pub(crate) fn parts(object: &ObjectMeta) -> (u8, u64) {
    let name = object.name.parse().expect("made from a number");
    let version = object.resource_version.parse();
    (name, version.expect("made from a number"))
}

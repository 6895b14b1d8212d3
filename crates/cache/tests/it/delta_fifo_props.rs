//! `DeltaFifo` against plain lists, and its consumer's store against the source.

use crate::delta_fifo::{queued, show, sign};
use crate::queue_steps::{Step, made, parts, replacement, step};
use kubist_apimachinery::ObjectMeta;
use kubist_cache::{
    BATCH_MAX, Batch, Delta, DeltaFifo, DeltaFifoConfig, Indexer, Lister, ProcessError, Queue,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The model of a `DeltaFifo`: names in order, each with the signs of its deltas.
struct DeltaModel {
    items: Vec<(u8, Vec<Sign>)>,
    known: Lister<ObjectMeta>,
    /// Names whose latest state could not be decoded.
    unreadable: BTreeSet<u8>,
    populated: bool,
    initial: usize,
}

/// The delta type as `delta_fifo::sign` shows it, and the version; 0 for an object that was never
/// seen.
type Sign = (char, u64);

impl DeltaModel {
    fn new(known: Lister<ObjectMeta>) -> Self {
        Self {
            items: Vec::new(),
            known,
            unreadable: BTreeSet::new(),
            populated: false,
            initial: 0,
        }
    }

    fn has_synced(&self) -> bool {
        self.populated && self.initial == 0
    }

    /// The versions of the events and listed objects that are still queued.
    fn steps(&self) -> impl Iterator<Item = u64> {
        let signs = self.items.iter().flat_map(|(_, signs)| signs);
        signs
            .filter(|(kind, _)| !"?s".contains(*kind))
            .map(|(_, version)| *version)
    }

    fn push(&mut self, name: u8, sign: Sign) {
        match sign.0 {
            '!' => drop(self.unreadable.insert(name)),
            's' => {}
            _ => drop(self.unreadable.remove(&name)),
        }
        let Some((_, signs)) = self.items.iter_mut().find(|item| item.0 == name) else {
            self.items.push((name, vec![sign]));
            return;
        };
        signs.push(sign);
        match *signs.as_slice() {
            [.., ('?', _), ('-' | '?', _)] | [.., ('!', _), ('!', _)] => {
                signs.remove(signs.len() - 2);
            }
            [.., ('-', _), ('-' | '?', _)] => drop(signs.pop()),
            _ => {}
        }
    }

    fn is_queued(&self, name: u8) -> bool {
        self.items.iter().any(|item| item.0 == name)
    }

    /// By name.
    fn known(&self) -> BTreeMap<u8, u64> {
        let objects = self.known.list();
        objects.iter().map(|object| parts(object)).collect()
    }

    fn delete(&mut self, name: u8, version: u64) {
        self.populated = true;
        let is_known = self.known().contains_key(&name) || self.unreadable.contains(&name);
        if self.is_queued(name) || is_known {
            self.push(name, ('-', version));
        }
    }

    fn replace(&mut self, listed: &[u8], unreadable: &[u8], version: u64) {
        for &name in listed {
            self.push(name, ('=', version));
        }
        let all: BTreeSet<u8> = listed.iter().chain(unreadable).copied().collect();
        for name in BTreeSet::from_iter(unreadable) {
            self.push(*name, ('!', version));
        }
        let stays = |name: u8| listed.contains(&name) || unreadable.contains(&name);
        let mut missing: Vec<(u8, u64)> = Vec::new();
        for (name, signs) in &self.items {
            if !stays(*name) {
                let seen = signs.iter().rev().find(|(kind, _)| *kind != '!');
                missing.push((*name, seen.map_or(0, |it| it.1)));
            }
        }
        let mut rest: BTreeMap<u8, u64> = self.unreadable.iter().map(|it| (*it, 0)).collect();
        rest.extend(self.known());
        for (name, version) in rest {
            if !stays(name) && !self.is_queued(name) {
                missing.push((name, version));
            }
        }
        if !self.populated {
            self.initial = all.len() + missing.len();
            self.populated = true;
        }
        for (name, version) in missing {
            self.push(name, ('?', version));
        }
    }

    fn resync(&mut self) {
        for (name, version) in self.known() {
            if !self.is_queued(name) {
                self.push(name, ('s', version));
            }
        }
    }

    fn pop(&mut self) -> Option<(u8, Vec<Sign>)> {
        if self.items.is_empty() {
            return None;
        }
        self.initial = self.initial.saturating_sub(1);
        Some(self.items.remove(0))
    }

    /// Returns the number of items in one batch.
    fn batch_len(&self) -> usize {
        match self.initial {
            0 => self.items.len().min(BATCH_MAX),
            initial => initial,
        }
    }

    fn shown(&self) -> String {
        let shown: Vec<_> = self.items.iter().map(shown_item).collect();
        shown.join(" ")
    }
}

fn shown_item((name, signs): &(u8, Vec<Sign>)) -> String {
    format!("{name}:{}", shown_signs(signs))
}

fn shown_signs(signs: &[Sign]) -> String {
    let shown = signs.iter().map(|(kind, version)| match version {
        0 => format!("{kind}none"),
        version => format!("{kind}{version}"),
    });
    shown.collect::<Vec<_>>().concat()
}

/// Applies a step to the server; the deletion of an unknown object has no effect.
fn play(source: &mut BTreeMap<u8, u64>, step: &Step, version: u64) {
    match step {
        Step::Add(name) | Step::Update(name) => drop(source.insert(*name, version)),
        Step::Delete(name) => drop(source.remove(name)),
        Step::Replace(listed, unreadable) => {
            source.retain(|name, _| unreadable.contains(name));
            source.extend(listed.iter().map(|&name| (name, version)));
        }
        _ => {}
    }
}

/// Adds a step to the queue and its model, unless it pops.
fn write(queue: &mut DeltaFifo<ObjectMeta>, model: &mut DeltaModel, step: &Step, version: u64) {
    match step {
        Step::Add(name) => {
            queue.add(made(*name, version));
            model.populated = true;
            model.push(*name, ('+', version));
        }
        Step::Update(name) => {
            queue.update(made(*name, version));
            model.populated = true;
            model.push(*name, ('~', version));
        }
        Step::Delete(name) => {
            queue.delete(made(*name, version));
            model.delete(*name, version);
        }
        Step::Replace(listed, unreadable) => {
            queue.replace(replacement(listed, unreadable, version));
            model.replace(listed, unreadable, version);
        }
        Step::Resync => {
            queue.resync();
            model.resync();
        }
        Step::Pop | Step::PopBatch | Step::Requeue | Step::PutBack => {}
    }
}

/// Shows a batch without its final version.
fn signs(batch: Option<&Batch<ObjectMeta>>) -> String {
    let deltas = batch.iter().flat_map(|batch| &batch.deltas);
    let steps = deltas.filter(|delta| !matches!(delta, Delta::Bookmark(_)));
    steps.map(sign).collect::<Vec<_>>().concat()
}

proptest! {
    /// Contract CACHE-10.
    #[test]
    fn a_delta_fifo_is_a_list_of_lists_and_its_store_ends_as_the_source(
        steps in prop::collection::vec(step(), 0..80),
    ) {
        let mut indexer = Indexer::new();
        let lister = indexer.lister();
        let known = Some(lister.clone());
        let config = DeltaFifoConfig { known, ..DeltaFifoConfig::default() };
        let mut queue = DeltaFifo::new(config);
        let mut model = DeltaModel::new(lister.clone());
        let (mut source, mut changes) = (BTreeMap::new(), Vec::new());
        // The first of the last two ends where the first list does.
        let steps = steps.into_iter().chain([Step::PopBatch, Step::PopBatch]);
        for (version, step) in (1u64..).zip(steps) {
            play(&mut source, &step, version);
            write(&mut queue, &mut model, &step, version);
            match step {
                Step::Pop | Step::PopBatch => {
                    let initial = !model.has_synced();
                    let single = matches!(step, Step::Pop);
                    let items = if single { 1 } else { model.batch_len() };
                    let batch = if single { queue.pop() } else { queue.pop_batch() };
                    let expected: Vec<_> = (0..items).filter_map(|_| model.pop()).collect();
                    let expected: Vec<_> = expected.iter().map(|(_, it)| shown_signs(it)).collect();
                    prop_assert_eq!(signs(batch.as_ref()), expected.concat());
                    prop_assert!(batch.as_ref().is_none_or(|batch| batch.initial == initial));
                    for delta in batch.into_iter().flat_map(|batch| batch.deltas) {
                        indexer.apply(delta, &mut changes);
                    }
                    indexer.publish();
                    let claimed = lister.resource_version().to_u64().unwrap_or(0);
                    prop_assert!(model.steps().all(|version| version > claimed));
                }
                Step::Requeue => {
                    let result = queue.process(|_, _| Err(ProcessError::Requeue(())));
                    let popped = model.pop();
                    prop_assert_eq!(result.is_some(), popped.is_some());
                    model.items.extend(popped);
                }
                Step::PutBack => {
                    let popped = queue.pop_deltas();
                    let expected = model.pop();
                    prop_assert_eq!(popped.as_ref().map(show), expected.as_ref().map(shown_item));
                    if let Some(deltas) = popped {
                        queue.add_if_not_present(deltas);
                    }
                    model.items.extend(expected);
                }
                _ => {}
            }
            prop_assert_eq!(queued(&queue), model.shown());
            prop_assert_eq!(queue.has_synced(), model.has_synced());
        }
        prop_assert!(queue.is_empty());
        let held: BTreeMap<_, _> = lister.list().iter().map(|object| parts(object)).collect();
        prop_assert_eq!(held, source);
    }
}

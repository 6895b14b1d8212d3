//! `Fifo` against a plain list.

use crate::queue_steps::{Step, made, parts, replacement, step};
use kubist_apimachinery::ObjectMeta;
use kubist_cache::{Fifo, ProcessError, Queue};
use proptest::prelude::*;

/// The objects in order: name, version, and whether each is in the first list.
#[derive(Default)]
struct FifoModel {
    items: Vec<(u8, u64, bool)>,
    populated: bool,
}

impl FifoModel {
    fn has_synced(&self) -> bool {
        self.populated && self.items.iter().all(|(_, _, initial)| !initial)
    }

    fn put(&mut self, name: u8, version: u64) {
        self.populated = true;
        match self.items.iter_mut().find(|item| item.0 == name) {
            Some(item) => item.1 = version,
            None => self.items.push((name, version, false)),
        }
    }

    fn replace(&mut self, listed: &[u8], unreadable: &[u8], version: u64) {
        let first = !self.has_synced();
        self.items.retain(|(name, ..)| unreadable.contains(name));
        for &name in listed {
            self.put(name, version);
        }
        for item in &mut self.items {
            item.2 = first;
        }
        self.populated = true;
    }

    fn pop(&mut self) -> Option<(u8, u64, bool)> {
        (!self.items.is_empty()).then(|| self.items.remove(0))
    }

    fn shown(&self) -> String {
        let items = self.items.iter();
        let shown: Vec<_> = items
            .map(|(name, version, _)| format!("{name}@{version}"))
            .collect();
        shown.join(" ")
    }
}

fn shown(queue: &Fifo<ObjectMeta>) -> String {
    let objects = queue
        .names()
        .map(|name| queue.queued(name).expect("each name has an object"));
    let shown: Vec<_> = objects
        .map(|it| format!("{}@{}", it.name, it.resource_version))
        .collect();
    shown.join(" ")
}

proptest! {
    /// Contract CACHE-9.
    #[test]
    fn a_fifo_is_a_list_of_latest_values(steps in prop::collection::vec(step(), 0..80)) {
        let (mut queue, mut model) = (Fifo::new(), FifoModel::default());
        let mut old = None;
        for (version, step) in (1u64..).zip(steps) {
            match step {
                Step::Add(name) => {
                    queue.add(made(name, version));
                    model.put(name, version);
                }
                Step::Update(name) => {
                    queue.update(made(name, version));
                    model.put(name, version);
                }
                Step::Delete(name) => {
                    queue.delete(made(name, version));
                    model.populated = true;
                    model.items.retain(|item| item.0 != name);
                }
                Step::Replace(listed, unreadable) => {
                    queue.replace(replacement(&listed, &unreadable, version));
                    model.replace(&listed, &unreadable, version);
                }
                Step::Resync => queue.resync(),
                Step::Pop => {
                    old = queue.pop_object();
                    let expected = model.pop().map(|(name, version, _)| (name, version));
                    prop_assert_eq!(old.as_deref().map(parts), expected);
                }
                Step::PopBatch => {
                    let initial = !model.has_synced();
                    let of_first = model.items.iter().filter(|item| item.2).count();
                    let expected = if initial { of_first } else { model.items.len() };
                    let batch = queue.pop_batch().map(|it| (it.deltas.len(), it.initial));
                    prop_assert_eq!(batch, (expected > 0).then_some((expected, initial)));
                    model.items.drain(..expected);
                }
                Step::Requeue => {
                    let result = queue.process(|_, _| Err(ProcessError::Requeue(())));
                    let popped = model.pop();
                    prop_assert_eq!(result, popped.map(|_| Err(())));
                    if let Some((name, version, _)) = popped {
                        model.put(name, version);
                    }
                }
                Step::PutBack => {
                    if let Some(object) = old.take() {
                        let (name, version) = parts(&object);
                        queue.add_if_not_present(object);
                        if !model.items.iter().any(|item| item.0 == name) {
                            model.put(name, version);
                        }
                    }
                }
            }
            prop_assert_eq!(shown(&queue), model.shown());
            prop_assert_eq!(queue.len(), model.items.len());
            prop_assert_eq!(queue.has_synced(), model.has_synced());
        }
    }
}

//! `Ledger`: the writes of a world: which, when, and by whom; and who held which lease.

use crate::clock::later;
use crate::explore::problem::Problem;
use crate::explore::state::Change;
use crate::faults::{Answered, Call, Verb};
use kubist::apimachinery::{GroupKind, ObjectName, Str};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::Instant;

/// One write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Write {
    pub(crate) revision: u64,
    pub(crate) kind: GroupKind,
    pub(crate) name: ObjectName,
    pub(crate) verb: &'static str,
    /// Empty until the answer names the revision, and for the server's own writes.
    pub(crate) client: Str,
}

/// The writes of a world.
#[derive(Debug)]
pub(crate) struct Ledger {
    writes: Vec<Write>,
    /// Answers whose writes were not seen yet: by revision.
    early: BTreeMap<u64, Str>,
    /// The holders of each lease, with the revision from which on.
    holders: BTreeMap<ObjectName, Vec<(u64, Str)>>,
    /// The lease that a client holds or held, and the identities under which.
    identities: BTreeMap<Str, (ObjectName, BTreeSet<Str>)>,
    last: Instant,
    /// Writes since the last fault or step.
    undisturbed: u64,
}

impl Ledger {
    pub(crate) fn new() -> Self {
        Self {
            writes: Vec::new(),
            early: BTreeMap::new(),
            holders: BTreeMap::new(),
            identities: BTreeMap::new(),
            last: Instant::now(),
            undisturbed: 0,
        }
    }

    /// When something was written last that is not bookkeeping, or the world was disturbed.
    pub(crate) fn last(&self) -> Instant {
        self.last
    }

    /// A fault or a step happens: what is written from now on may be its consequence.
    pub(crate) fn disturb(&mut self) {
        self.undisturbed = 0;
        self.last = self.last.max(Instant::now());
    }

    /// A fault goes on for this long: the world is not quiet before it has ended.
    pub(crate) fn disturb_for(&mut self, time: Duration) {
        self.disturb();
        self.last = self.last.max(later(Instant::now(), time));
    }

    /// Writes since the last disturbance.
    pub(crate) fn undisturbed(&self) -> u64 {
        self.undisturbed
    }

    pub(crate) fn holds_lease(&self, client: &str) -> bool {
        self.identities.contains_key(client)
    }

    /// Notes a write of the store. Returns a problem if its writer was deposed.
    pub(crate) fn note(
        &mut self,
        revision: u64,
        change: &Change,
        is_bookkeeping: bool,
    ) -> Option<Problem> {
        let object = change.object()?;
        if !is_bookkeeping {
            self.last = self.last.max(Instant::now());
            self.undisturbed += 1;
        }
        if object.kind.kind == "Lease" {
            let holder = change.after();
            let holder = holder.and_then(|it| it.pointer("/spec/holderIdentity"));
            let holder = holder.and_then(Value::as_str).unwrap_or_default();
            let holders = self.holders.entry(object.name.clone()).or_default();
            holders.push((revision, holder.into()));
        }
        self.writes.push(Write {
            revision,
            kind: object.kind.clone(),
            name: object.name.clone(),
            verb: change.verb(),
            client: Str::default(),
        });
        let client = self.early.remove(&revision)?;
        self.attribute(revision, &client)
    }

    /// Learns from an answer who has written. Returns a problem if it was deposed.
    pub(crate) fn answered(
        &mut self,
        client: &Str,
        call: &Call,
        answered: &Answered,
    ) -> Option<Problem> {
        if !(200..300).contains(&answered.code) {
            return None;
        }
        let revision = match &answered.object {
            Some((_, revision)) => *revision,
            None if call.verb == Verb::Delete => {
                let mut writes = self.writes.iter().rev();
                let name = ObjectName::new(call.namespace.clone(), call.name.clone());
                writes
                    .find(|it| it.client.is_empty() && it.name == name && it.verb != "created")?
                    .revision
            }
            None => return None,
        };
        match self.writes.last() {
            Some(last) if last.revision >= revision => self.attribute(revision, client),
            _ => {
                self.early.insert(revision, client.clone());
                None
            }
        }
    }

    fn attribute(&mut self, revision: u64, client: &Str) -> Option<Problem> {
        let index = self
            .writes
            .binary_search_by_key(&revision, |it| it.revision);
        let write = self.writes.get_mut(index.ok()?)?;
        if !write.client.is_empty() {
            return None; // the answer to a write that changed nothing names an older version
        }
        write.client = client.clone();
        let write = write.clone();
        if write.kind.kind == "Lease" {
            let holder = self.holder_at(&write.name, revision)?;
            if !holder.is_empty() {
                let entry = self.identities.entry(client.clone());
                let (_, identities) = entry.or_insert_with(|| (write.name, BTreeSet::new()));
                identities.insert(holder);
            }
            return None;
        }
        let (lease, identities) = self.identities.get(client)?;
        let holder = self.holder_at(lease, revision)?;
        let is_deposed = !holder.is_empty() && !identities.contains(&holder);
        (is_deposed && write.kind.kind != "Event").then(|| Problem::DeposedWrite {
            client: client.to_string(),
            write: format!("{} {} {}", write.verb, write.kind.kind, write.name),
            holder: holder.to_string(),
        })
    }

    fn holder_at(&self, lease: &ObjectName, revision: u64) -> Option<Str> {
        let holders = self.holders.get(lease)?;
        let before = holders.partition_point(|(from, _)| *from <= revision);
        Some(holders.get(before.checked_sub(1)?)?.1.clone())
    }

    /// Returns who made the write of this revision; empty if that is not known.
    pub(crate) fn writer(&self, revision: u64) -> Str {
        let index = self
            .writes
            .binary_search_by_key(&revision, |it| it.revision);
        let write = index.ok().and_then(|it| self.writes.get(it));
        write.map(|it| it.client.clone()).unwrap_or_default()
    }

    /// Returns the objects that were written most among the last writes.
    pub(crate) fn most_written(&self, among: usize) -> Vec<String> {
        let recent = self.writes.iter().rev().take(among);
        let mut counts = BTreeMap::<_, usize>::new();
        for write in recent {
            let key = (
                write.kind.kind.clone(),
                write.name.clone(),
                write.client.clone(),
            );
            *counts.entry(key).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let text = |((kind, name, client), count): ((Str, ObjectName, Str), usize)| {
            format!("{kind} {name}, {count} times by {client}")
        };
        counts.into_iter().take(3).map(text).collect()
    }
}

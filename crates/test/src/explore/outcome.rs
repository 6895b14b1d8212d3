//! `Outcome`: what came of one run.

use crate::explore::hub::{Forbidden, Hub};
use crate::explore::normal::Normal;
use crate::explore::plan::{Fault, Measured};
use crate::explore::problem::Problem;
use crate::story::{Entry, What};

/// What came of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) problem: Option<Problem>,
    /// Equal for runs in which the same happened.
    pub(crate) digest: u64,
    pub(crate) end: Normal,
    pub(crate) measured: Vec<Measured>,
    /// The faults of the plan as they have struck; none for those that have not.
    pub(crate) struck: Vec<Option<Fault>>,
    pub(crate) forbidden: Forbidden,
    /// Empty unless everything was kept.
    pub(crate) entries: Vec<Entry>,
}

impl Outcome {
    pub(crate) fn failed(problem: Problem) -> Self {
        Self {
            problem: Some(problem),
            ..Self::default()
        }
    }

    pub(crate) fn of(hub: &Hub, measured: Vec<Measured>, end: Normal) -> Self {
        let ledger = hub.ledger.lock();
        let mut entries = hub.trace.entries();
        // Who wrote is known only from the answer.
        for entry in &mut entries {
            if let What::Wrote {
                client, revision, ..
            } = &mut entry.what
            {
                *client = ledger.writer(*revision);
            }
        }
        put_faults_behind_their_writes(&mut entries);
        Self {
            problem: hub.problem(),
            digest: hub.trace.digest(),
            end,
            measured,
            struck: hub.struck(),
            forbidden: hub.forbidden(),
            entries,
        }
    }

    /// Returns how many faults of the plan have struck.
    pub(crate) fn faults_struck(&self) -> u64 {
        self.struck.iter().flatten().count() as u64
    }

    /// Returns how many writes the controllers made.
    pub(crate) fn writes(&self) -> u64 {
        self.measured.iter().map(|it| it.writes).sum()
    }
}

/// What strikes after a write is noted when the write is answered, and the write itself a turn
/// later, when the store tells of it. A story tells the write first.
fn put_faults_behind_their_writes(entries: &mut [Entry]) {
    for index in 0..entries.len() {
        let What::FaultAfterWrite { client, .. } = &entries[index].what else {
            continue;
        };
        let time = entries[index].time;
        let is_its =
            |it: &Entry| matches!(&it.what, What::Wrote { client: by, .. } if by == client);
        let at_once = entries[index + 1..]
            .iter()
            .take_while(|it| it.time == time)
            .position(is_its);
        if let Some(distance) = at_once {
            entries[index..=index + 1 + distance].rotate_left(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist::apimachinery::{GroupKind, ObjectName, Str};
    use std::time::Duration;

    fn entry(time: u64, what: What) -> Entry {
        Entry {
            time: Duration::from_millis(time),
            what,
        }
    }

    fn wrote(client: &str, revision: u64) -> What {
        What::Wrote {
            client: client.into(),
            kind: GroupKind::new("", "Pod"),
            name: ObjectName::new("shop", "web"),
            verb: "changed",
            before: revision - 1,
            revision,
            fields: String::new(),
        }
    }

    #[test]
    fn a_crash_after_a_write_is_told_after_that_write() {
        let crash = What::FaultAfterWrite {
            client: Str::from("a"),
            text: "a crashes".to_owned(),
        };
        let mut entries = vec![
            entry(1, crash.clone()),
            entry(1, wrote("b", 7)),
            entry(1, wrote("a", 8)),
            entry(2, wrote("a", 9)),
        ];
        put_faults_behind_their_writes(&mut entries);
        let expected = [
            entry(1, wrote("b", 7)),
            entry(1, wrote("a", 8)),
            entry(1, crash.clone()),
            entry(2, wrote("a", 9)),
        ];
        assert_eq!(entries, expected);
        // A write that changed nothing has no line, and a later one is another.
        let mut entries = vec![entry(1, crash), entry(2, wrote("a", 9))];
        let before = entries.clone();
        put_faults_behind_their_writes(&mut entries);
        assert_eq!(entries, before);
    }
}

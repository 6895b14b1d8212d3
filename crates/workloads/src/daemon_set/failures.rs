//! `Failures`: failed Pods of a node are replaced with growing delays, because a node that refuses
//! a Pod will often refuse the next.

use kubist_apimachinery::{Str, Time};
use std::collections::BTreeMap;
use std::time::Duration;

/// The longest delay, as upstream; the first is one second.
const LONGEST: i64 = 15 * 60;

/// The failures of each node: how many, and when the last was noticed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Failures(BTreeMap<Str, (u32, Time)>);

impl Failures {
    /// Returns how long a failed Pod of this node stays yet.
    pub(super) fn wait(&self, node: &Str, now: Time) -> Option<Duration> {
        let (count, last) = self.0.get(node)?;
        let delay = (1_i64 << (count - 1).min(10)).min(LONGEST);
        let left = last.unix().saturating_add(delay) - now.unix();
        let left = u64::try_from(left).ok().filter(|it| *it > 0)?;
        Some(Duration::from_secs(left))
    }

    /// Notes that a failed Pod is replaced.
    pub(super) fn note(&mut self, node: &Str, now: Time) {
        // Nodes without failures for long begin anew.
        self.0
            .retain(|_, (_, last)| now.unix() - last.unix() <= 2 * LONGEST);
        let (count, last) = self.0.entry(node.clone()).or_insert((0, now));
        (*count, *last) = (count.saturating_add(1), now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_for_each_node_and_are_forgotten() {
        let (mut failures, node) = (Failures::default(), Str::from("a"));
        let at = Time::from_unix;
        assert_eq!(failures.wait(&node, at(0)), None);
        let mut delays = Vec::new();
        for _ in 0..12 {
            failures.note(&node, at(0));
            delays.push(failures.wait(&node, at(0)).map_or(0, |it| it.as_secs()));
        }
        assert_eq!(delays, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
        assert_eq!(failures.wait(&"b".into(), at(0)), None);
        assert_eq!(failures.wait(&node, at(900)), None);
        failures.note(&node, at(9_000));
        assert_eq!(
            failures.wait(&node, at(9_000)),
            Some(Duration::from_secs(1))
        );
    }
}

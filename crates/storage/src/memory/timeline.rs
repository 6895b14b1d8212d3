//! The approximate revision of the store over time, to discard history by age.

use crate::Revision;
use std::collections::VecDeque;
use std::time::Duration;

/// Marks per history age. History is kept for at most a sixteenth longer than configured.
const MARKS_PER_AGE: u32 = 16;

#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    age: Duration,
    marks: VecDeque<(Duration, Revision)>,
}

impl Timeline {
    pub(crate) fn new(age: Duration) -> Self {
        Self {
            age,
            marks: VecDeque::new(),
        }
    }

    /// Notes the current revision, and returns the one at least `age` ago.
    pub(crate) fn mark(&mut self, now: Duration, revision: Revision) -> Option<Revision> {
        let due =
            |(at, _): &(Duration, Revision)| at.saturating_add(self.age / MARKS_PER_AGE) <= now;
        if self.marks.back().is_none_or(due) {
            self.marks.push_back((now, revision));
        }
        let mut reached = None;
        while let Some((at, revision)) = self.marks.front()
            && at.saturating_add(self.age) <= now
        {
            reached = Some(*revision);
            self.marks.pop_front();
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_few_and_come_back_once_they_are_old_enough() {
        let mut timeline = Timeline::new(Duration::from_secs(10 * 60));
        let mut cuts = Vec::new();
        for second in 0..1260 {
            cuts.extend(timeline.mark(Duration::from_secs(second), Revision(second)));
            assert!(timeline.marks.len() <= MARKS_PER_AGE as usize + 1);
        }
        assert_eq!(cuts.first(), Some(&Revision(0)));
        assert_eq!(cuts.last(), Some(&Revision(646)));
    }
}

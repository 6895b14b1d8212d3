//! `Shrinker`: finds the shortest sequence that still shows a difference.
//!
//! It proposes sequences, and the caller reports whether the difference remains; it sends nothing
//! itself. The step whose answer differs is never removed.

use crate::step::{Body, Edit, Sequence, Step};

/// The most proposals for one difference.
const TRIES_MAX: usize = 120;
/// The most fields of a body that are removed.
const POINTERS_MAX: usize = 60;

/// A simplification of a sequence.
#[derive(Clone, Debug, PartialEq)]
enum Change {
    /// Removes the steps at these indexes.
    Drop(std::ops::Range<usize>),
    Query(usize, usize),
    Header(usize, usize),
    Edit(usize, usize),
    /// Removes a field or item of a body.
    Field(usize, String),
}

/// Shortens a sequence.
#[derive(Debug)]
pub(crate) struct Shrinker {
    best: Sequence,
    /// The step whose answer differs.
    target: usize,
    position: usize,
    is_better: bool,
    tries: usize,
}

impl Shrinker {
    /// Creates a shrinker; steps after the one that differs are removed at once.
    pub(crate) fn new(sequence: &Sequence, target: usize) -> Self {
        let mut best = sequence.clone();
        if let Some(place) = best.steps.iter().position(|step| step.id == target) {
            best.steps.truncate(place + 1);
        }
        Self {
            best,
            target,
            position: 0,
            is_better: false,
            tries: 0,
        }
    }

    /// Returns the shortest sequence so far.
    pub(crate) fn best(&self) -> &Sequence {
        &self.best
    }

    /// Returns the next proposal; none when all were tried.
    pub(crate) fn propose(&mut self) -> Option<Sequence> {
        if self.tries >= TRIES_MAX {
            return None;
        }
        let mut changes = changes(&self.best, self.target);
        if self.position >= changes.len() {
            if !self.is_better || changes.is_empty() {
                return None;
            }
            self.position = 0;
            self.is_better = false;
        }
        self.tries += 1;
        let change = changes.swap_remove(self.position);
        Some(applied(&self.best, &change))
    }

    /// Records whether the difference remained in the proposal.
    pub(crate) fn judge(&mut self, proposal: Sequence, is_still_there: bool) {
        if is_still_there {
            self.best = proposal;
            self.is_better = true;
        } else {
            self.position += 1;
        }
    }
}

fn changes(sequence: &Sequence, target: usize) -> Vec<Change> {
    let steps = &sequence.steps;
    let end = steps.iter().position(|step| step.id == target).unwrap_or(0);
    let mut changes = Vec::new();
    // Large ranges first, single steps last.
    let mut length = end;
    while length > 0 {
        let mut start = 0;
        while start < end {
            changes.push(Change::Drop(start..(start + length).min(end)));
            start += length;
        }
        length = if length > 4 { length / 4 } else { length - 1 };
    }
    for (place, step) in steps.iter().enumerate().rev() {
        changes.extend((0..step.query.len()).map(|number| Change::Query(place, number)));
        changes.extend((0..step.headers.len()).map(|number| Change::Header(place, number)));
        match &step.body {
            Body::Answer { edits, .. } => {
                changes.extend((0..edits.len()).map(|number| Change::Edit(place, number)));
            }
            Body::Json(value) => {
                let mut pointers = Vec::new();
                collect("", value, &mut pointers);
                // Short pointers first: they remove the most.
                pointers.sort_by_key(|pointer| pointer.matches('/').count());
                pointers.truncate(POINTERS_MAX);
                changes.extend(
                    pointers
                        .into_iter()
                        .map(|pointer| Change::Field(place, pointer)),
                );
            }
            Body::None | Body::Text(_) => {}
        }
    }
    changes
}

fn collect(at: &str, value: &serde_json::Value, pointers: &mut Vec<String>) {
    let mut add = |name: &str, value: &serde_json::Value| {
        let pointer = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
        // Without these it is another request.
        let is_head = matches!(pointer.as_str(), "/apiVersion" | "/kind" | "/metadata/name");
        if !is_head && pointer != "/metadata" {
            pointers.push(pointer.clone());
        }
        collect(&pointer, value, pointers);
    };
    match value {
        serde_json::Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| add(name, value));
        }
        serde_json::Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(number, value)| add(&number.to_string(), value));
        }
        _ => {}
    }
}

fn applied(sequence: &Sequence, change: &Change) -> Sequence {
    let mut sequence = sequence.clone();
    let steps: &mut Vec<Step> = &mut sequence.steps;
    match change {
        Change::Drop(range) => {
            steps.drain(range.clone());
        }
        Change::Query(place, number) => {
            steps[*place].query.remove(*number);
        }
        Change::Header(place, number) => {
            steps[*place].headers.remove(*number);
        }
        Change::Edit(place, number) => {
            if let Body::Answer { edits, .. } = &mut steps[*place].body {
                edits.remove(*number);
            }
        }
        Change::Field(place, pointer) => {
            if let Body::Json(value) = &mut steps[*place].body {
                Edit::Remove(pointer.clone()).apply(value);
            }
        }
    }
    sequence
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::area::Area;
    use crate::generator::Generator;

    #[test]
    fn what_has_no_part_in_a_difference_is_left_out() {
        let step = |id, method, path: &str| Step::new(id, Area::Objects, method, path);
        let mut steps: Vec<Step> = (0..12).map(|id| step(id, "GET", "/a")).collect();
        steps[3] = step(3, "POST", "/cause").json(json!({"kind": "A", "spec": {"a": 1, "b": 2}}));
        steps[9] = step(9, "PUT", "/shows")
            .query("pretty", "1")
            .query("dryRun", "All");
        let sequence = Sequence { seed: 0, steps };
        let shows = |sequence: &Sequence| {
            let has_cause = sequence.steps.iter().any(|step| match &step.body {
                Body::Json(value) => value["spec"]["b"] == 2,
                _ => false,
            });
            let last = sequence.steps.last();
            has_cause && last.is_some_and(|step| step.query.iter().any(|(it, _)| it == "dryRun"))
        };
        let mut shrinker = Shrinker::new(&sequence, 9);
        while let Some(proposal) = shrinker.propose() {
            let is_still_there = shows(&proposal);
            shrinker.judge(proposal, is_still_there);
        }
        let best = shrinker.best();
        let ids: Vec<usize> = best.steps.iter().map(|step| step.id).collect();
        assert_eq!(ids, [3, 9]);
        assert_eq!(
            best.steps[0].body,
            Body::Json(json!({"kind": "A", "spec": {"b": 2}}))
        );
        assert_eq!(
            best.steps[1].query,
            [("dryRun".to_owned(), "All".to_owned())]
        );
    }

    #[test]
    fn proposals_end_and_the_step_that_differs_stays() {
        let generator = Generator::new(&[], false).unwrap();
        for seed in 0..20 {
            let sequence = generator.sequence(seed);
            let target = sequence.steps.len() / 2;
            let mut shrinker = Shrinker::new(&sequence, target);
            let mut count = 0;
            while let Some(proposal) = shrinker.propose() {
                assert_eq!(proposal.steps.last().map(|step| step.id), Some(target));
                count += 1;
                shrinker.judge(proposal, count % 3 == 0);
            }
            assert!(count <= TRIES_MAX);
        }
    }
}

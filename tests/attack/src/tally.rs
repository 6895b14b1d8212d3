//! `Tally`: counts of hostile requests, by label and response.

use crate::connection::Answer;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// The most distinct lines; others are counted together.
const LINES_MAX: usize = 200;
/// The most characters of a reason; errors may quote the request.
const REASON_CHARS_MAX: usize = 80;

/// The count of a response, and the slowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// How often.
    pub(crate) count: u64,
    /// The longest of them.
    pub(crate) slowest: Duration,
}

/// Counts from any number of tasks.
#[derive(Debug, Default)]
pub(crate) struct Tally(Mutex<BTreeMap<String, Entry>>);

impl Tally {
    /// Starts a request. Until its end is recorded, it counts as cut off.
    pub(crate) fn begin(&self, label: &'static str) -> Pending<'_> {
        Pending {
            tally: self,
            label,
            begun: Instant::now(),
            answer: "cut off at the end".to_owned(),
        }
    }

    /// Counts an event that is not a response.
    pub(crate) fn add(&self, label: &str, what: &str) {
        self.add_many(label, what, 1);
    }

    /// Counts this many.
    pub(crate) fn add_many(&self, label: &str, what: &str, count: u64) {
        self.put(label, what, count, Duration::ZERO);
    }

    /// Returns all counts.
    pub(crate) fn entries(&self) -> BTreeMap<String, Entry> {
        self.0.lock().clone()
    }

    fn put(&self, label: &str, what: &str, count: u64, took: Duration) {
        let what: String = what.chars().take(REASON_CHARS_MAX).collect();
        let mut line = format!("{label}: {what}");
        let mut entries = self.0.lock();
        if entries.len() >= LINES_MAX && !entries.contains_key(&line) {
            "others".clone_into(&mut line);
        }
        let entry = entries.entry(line).or_default();
        entry.count += count;
        entry.slowest = entry.slowest.max(took);
    }
}

/// A request in flight; counted on drop.
#[derive(Debug)]
pub(crate) struct Pending<'a> {
    tally: &'a Tally,
    label: &'static str,
    begun: Instant,
    answer: String,
}

impl Pending<'_> {
    /// Records its response.
    pub(crate) fn end(mut self, answer: &Answer) {
        self.answer = line(answer);
    }

    /// Records an error.
    pub(crate) fn fail(mut self, why: &str) {
        self.answer = format!("no answer, {why}");
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        let took = self.begun.elapsed();
        self.tally.put(self.label, &self.answer, 1, took);
    }
}

/// Returns a short form of a response.
fn line(answer: &Answer) -> String {
    match (answer.status, &*answer.reason) {
        (0, reason) => format!("no answer, {reason}"),
        (429, _) if !answer.retry_after => "429 without Retry-After".to_owned(),
        (status, "") => status.to_string(),
        (status, reason) => format!("{status} {reason}"),
    }
}

/// Returns responses that no request may get: a 429 without Retry-After, and a 500.
pub(crate) fn faults(entries: &BTreeMap<String, Entry>) -> Vec<String> {
    let is_fault = |line: &str| {
        line.split_once(": ").is_some_and(|(_, answer)| {
            answer == "429 without Retry-After" || answer.starts_with("500")
        })
    };
    let faults = entries.iter().filter(|(line, _)| is_fault(line));
    faults
        .map(|(line, entry)| format!("{line}, {} times", entry.count))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, reason: &str, retry_after: bool) -> Answer {
        Answer {
            status,
            reason: reason.to_owned(),
            retry_after,
            body: Vec::new(),
        }
    }

    fn counts(tally: &Tally) -> Vec<(String, u64)> {
        let entries = tally.entries().into_iter();
        entries.map(|(line, it)| (line, it.count)).collect()
    }

    #[test]
    fn answers_are_counted_by_label_status_and_reason() {
        let tally = Tally::default();
        tally.begin("a").end(&answer(200, "", false));
        tally.begin("a").end(&answer(200, "", false));
        tally.begin("a").end(&answer(422, "Invalid", false));
        tally.begin("b").end(&answer(0, "reset", false));
        drop(tally.begin("b"));
        let expected = [
            ("a: 200".to_owned(), 2),
            ("a: 422 Invalid".to_owned(), 1),
            ("b: cut off at the end".to_owned(), 1),
            ("b: no answer, reset".to_owned(), 1),
        ];
        assert_eq!(counts(&tally), expected);
        assert!(faults(&tally.entries()).is_empty());
    }

    #[test]
    fn own_mistakes_and_a_429_without_a_time_are_faults() {
        let tally = Tally::default();
        tally.begin("a").end(&answer(500, "InternalError", false));
        tally.begin("a").end(&answer(429, "TooManyRequests", false));
        tally.begin("a").end(&answer(429, "TooManyRequests", true));
        tally.begin("a").end(&answer(504, "Timeout", false));
        let faults = faults(&tally.entries());
        let expected = [
            "a: 429 without Retry-After, 1 times",
            "a: 500 InternalError, 1 times",
        ];
        assert_eq!(faults, expected);
    }

    #[test]
    fn lines_are_bounded() {
        let tally = Tally::default();
        for number in 0..2 * LINES_MAX {
            tally.add("x", &number.to_string());
        }
        assert_eq!(tally.entries().len(), LINES_MAX + 1);
    }
}

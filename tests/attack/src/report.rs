//! Prints the results of an attack, and writes them as JSON.

use crate::attack::Attack;
use crate::honest::Served;
use crate::latency::Figures;
use crate::limits::{Cost, Limits};
use crate::tally::Entry;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

/// Lines of responses that are printed; the file has all.
const LINES_MAX: usize = 24;

/// The results of an attack.
#[derive(Debug)]
pub(crate) struct Measured {
    /// Which.
    pub(crate) attack: Attack,
    /// The limits.
    pub(crate) limits: Limits,
    /// The measurements.
    pub(crate) cost: Cost,
    /// The results of the well-behaved clients.
    pub(crate) served: Served,
    /// The responses to hostile requests.
    pub(crate) answers: BTreeMap<String, Entry>,
    /// Messages for exceeded limits and other failures.
    pub(crate) broken: Vec<String>,
}

/// Prints them.
pub(crate) fn text(measured: &Measured) -> String {
    let mut text = String::new();
    write(&mut text, measured).expect("a string takes what it is given");
    text
}

fn write(text: &mut String, measured: &Measured) -> fmt::Result {
    let Measured { limits, cost, .. } = measured;
    writeln!(text, "{}", measured.attack.name())?;
    writeln!(
        text,
        "  memory  {} MB before, {} MB at the most, {} MB after (limits: {} MB more, {} MB left)",
        cost.before.resident >> 10,
        cost.peak >> 10,
        cost.after >> 10,
        limits.growth_mb,
        limits.back(cost.before) >> 10
    )?;
    for (kind, figures) in &measured.served.figures {
        writeln!(
            text,
            "  {:7} p50 {:.1?}, p99 {:.1?}, max {:.1?} of {}",
            kind.name(),
            figures.p50,
            figures.p99,
            figures.max,
            figures.count
        )?;
    }
    let entries = &measured.answers;
    for (line, entry) in entries.iter().take(LINES_MAX) {
        let (count, slowest) = (entry.count, entry.slowest);
        writeln!(text, "  {count:>7} {line}, slowest {slowest:.1?}")?;
    }
    if entries.len() > LINES_MAX {
        writeln!(text, "  and {} other lines", entries.len() - LINES_MAX)?;
    }
    for what in &measured.broken {
        writeln!(text, "  BROKEN  {what}")?;
    }
    if !measured.broken.is_empty() {
        writeln!(text, "  these limits: {}", limits.reason)?;
    }
    Ok(())
}

/// Returns them as JSON.
pub(crate) fn json(measured: &Measured) -> Value {
    let figures = measured.served.figures.iter();
    let figures: Map<String, Value> = figures
        .map(|(kind, figures)| (kind.name().to_owned(), figures_json(figures)))
        .collect();
    let entries = measured.answers.iter();
    let answers: Map<String, Value> = entries
        .map(|(line, entry)| {
            let slowest = entry.slowest.as_secs_f64();
            let entry = json!({"count": entry.count, "slowest_seconds": slowest});
            (line.clone(), entry)
        })
        .collect();
    json!({
        "attack": measured.attack.name(),
        "memory_kb": {
            "before": measured.cost.before.resident,
            "peak": measured.cost.peak,
            "after": measured.cost.after,
        },
        "limits": {
            "read_p99_seconds": measured.limits.read.as_secs_f64(),
            "write_p99_seconds": measured.limits.write.as_secs_f64(),
            "growth_kb": measured.limits.growth_mb << 10,
            "left_kb": measured.limits.back(measured.cost.before),
            "reason": measured.limits.reason,
        },
        "honest": figures,
        "honest_failures": measured.served.failures,
        "answers": answers,
        "broken": measured.broken,
    })
}

fn figures_json(figures: &Figures) -> Value {
    json!({
        "count": figures.count,
        "p50_seconds": figures.p50.as_secs_f64(),
        "p99_seconds": figures.p99.as_secs_f64(),
        "max_seconds": figures.max.as_secs_f64(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;

    #[test]
    fn what_is_broken_is_said_with_the_reason_of_the_limit() {
        let before = Memory {
            resident: 40 << 10,
            peak: 40 << 10,
        };
        let measured = Measured {
            attack: Attack::Nobody,
            limits: Limits::of(Attack::Nobody, false),
            cost: Cost {
                before,
                peak: 90 << 10,
                after: 41 << 10,
            },
            served: Served::default(),
            answers: BTreeMap::from([("a: 429 TooManyRequests".to_owned(), Entry::default())]),
            broken: vec!["memory grew".to_owned()],
        };
        let text = text(&measured);
        assert!(
            text.contains("40 MB before, 90 MB at the most, 41 MB after"),
            "{text}"
        );
        assert!(text.contains("0 a: 429 TooManyRequests"), "{text}");
        assert!(text.contains("BROKEN  memory grew\n"), "{text}");
        assert_eq!(json(&measured)["memory_kb"]["peak"], 90 << 10);
    }
}

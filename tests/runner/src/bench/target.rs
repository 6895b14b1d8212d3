//! `Target`: the limit of a figure relative to a peer's, and whether this run meets it.

use super::table::Table;
use serde_json::{Value, json};

/// A target and its result.
pub(super) struct Target {
    what: String,
    is: String,
    measured: String,
    holds: bool,
}

impl Target {
    /// Kubist's figure is at most `share` of the peer's.
    pub(super) fn at_most(what: &str, ours: f64, share: f64, theirs: f64, whose: &str) -> Self {
        let ratio = ours / theirs;
        Self {
            what: what.to_owned(),
            is: match share {
                it if it < 1.0 => format!("at most 1/{:.0} of {whose}", 1.0 / it),
                1.0 => format!("at most {whose}"),
                it => format!("at most {it} × {whose}"),
            },
            measured: part(ratio),
            holds: ratio <= share,
        }
    }

    /// Kubist's figure is at least `times` the peer's.
    pub(super) fn at_least(what: &str, ours: f64, times: f64, theirs: f64, whose: &str) -> Self {
        let ratio = ours / theirs;
        Self {
            what: what.to_owned(),
            is: format!("at least {times} × {whose}"),
            measured: format!("{ratio:.1} ×"),
            holds: ratio >= times,
        }
    }

    /// A figure that has to have this value.
    pub(super) fn exactly(what: &str, ours: f64, target: f64) -> Self {
        Self {
            what: what.to_owned(),
            is: format!("{target}"),
            measured: format!("{ours}"),
            holds: (ours - target).abs() < f64::EPSILON,
        }
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "what": self.what,
            "target": self.is,
            "measured": self.measured,
            "holds": self.holds,
        })
    }
}

fn part(ratio: f64) -> String {
    match ratio {
        it if it < 0.8 => format!("1/{:.1}", 1.0 / it),
        it => format!("{it:.2} ×"),
    }
}

/// Returns all targets as a table.
pub(super) fn table(targets: &[Target]) -> Table {
    let mut table = Table::new(["target", "is", "this run", "holds"]);
    for target in targets {
        let holds = if target.holds { "yes" } else { "**no**" };
        table.row([
            target.what.clone(),
            target.is.clone(),
            target.measured.clone(),
            holds.to_owned(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_holds_when_the_ratio_is_within_it() {
        let sync = Target::at_most("sync", 0.3, 1.0 / 8.0, 3.0, "client-go's");
        assert!(sync.holds);
        assert_eq!(sync.is, "at most 1/8 of client-go's");
        assert_eq!(sync.measured, "1/10.0");
        assert!(!Target::at_most("sync", 0.4, 1.0 / 8.0, 3.0, "client-go's").holds);
        let peak = Target::at_most("peak", 1.5, 1.25, 1.0, "steady state");
        assert_eq!(peak.measured, "1.50 ×");
        assert!(!peak.holds);
        assert!(Target::at_least("queue", 2.1, 2.0, 1.0, "client-go's").holds);
    }

    #[test]
    fn a_figure_that_is_missing_is_not_a_target_that_holds() {
        assert!(!Target::at_most("sync", f64::NAN, 1.0, 3.0, "client-go's").holds);
        assert!(!Target::exactly("decodes", f64::NAN, 0.0).holds);
    }
}

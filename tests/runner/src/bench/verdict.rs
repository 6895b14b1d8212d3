//! `Verdict`: how far a figure of Kubist's is ahead of the best peer, from the goal that the
//! project set itself, and from what limits it.
//!
//! A verdict is a fact about one run. It never fails the run.

use super::figure::Better;
use super::samples::Samples;
use super::table::Table;
use serde_json::{Value, json};

/// What two figures differ by if they are the same but for noise, even where no spread is known.
const NOISE: f64 = 0.05;
/// A cell without a figure.
const NONE: &str = "–";
const COLUMNS: [&str; 7] = [
    "verdict",
    "best peer",
    "ahead by",
    "goal",
    "short of it by",
    "limit",
    "distance to it",
];

/// A figure beside what it is compared with.
pub(super) struct Verdict {
    what: String,
    better: Better,
    ours: Samples,
    peer: Option<(String, Samples)>,
    goal: Option<Goal>,
    limit: Option<Limit>,
}

/// What the project set itself.
enum Goal {
    /// This many times as good as the best peer.
    Ahead(f64),
    /// Not further from the limit than this many times.
    OfLimit(f64),
    /// At least as good as this value.
    Value(String, f64),
}

/// What bounds the figure from the better side.
struct Limit {
    name: String,
    /// NaN if it was not measured.
    figure: f64,
}

impl Verdict {
    /// A figure of which less is better.
    pub(super) fn less(what: impl Into<String>, ours: Samples) -> Self {
        Self::new(what.into(), Better::Less, ours)
    }

    /// A figure of which more is better.
    pub(super) fn more(what: impl Into<String>, ours: Samples) -> Self {
        Self::new(what.into(), Better::More, ours)
    }

    fn new(what: String, better: Better, ours: Samples) -> Self {
        Self {
            what,
            better,
            ours,
            peer: None,
            goal: None,
            limit: None,
        }
    }

    /// Compares with the best of these: what was not measured is none.
    pub(super) fn beside<N: Into<String>>(
        mut self,
        peers: impl IntoIterator<Item = (N, Samples)>,
    ) -> Self {
        for (name, theirs) in peers {
            let theirs_median = theirs.median();
            let best = self.peer.as_ref().map(|(_, best)| best.median());
            let is_better = |best| self.better.ratio(theirs_median, best) > 1.0;
            if theirs_median.is_finite() && best.is_none_or(is_better) {
                self.peer = Some((name.into(), theirs));
            }
        }
        self
    }

    /// The goal is to be this many times as good as the best peer.
    pub(super) fn goal(mut self, times: f64) -> Self {
        self.goal = Some(Goal::Ahead(times));
        self
    }

    /// The goal is this value.
    pub(super) fn goal_value(mut self, name: &str, value: f64) -> Self {
        self.goal = Some(Goal::Value(name.to_owned(), value));
        self
    }

    /// The figure cannot be better than this one.
    pub(super) fn limit(mut self, name: &str, figure: f64) -> Self {
        let name = name.to_owned();
        self.limit = Some(Limit { name, figure });
        self
    }

    /// The goal is to be no further from the limit than this many times.
    pub(super) fn goal_of_limit(mut self, times: f64) -> Self {
        self.goal = Some(Goal::OfLimit(times));
        self
    }

    /// Whether the figure and something to compare it with were measured.
    pub(super) fn is_known(&self) -> bool {
        let limit = self.distance().is_some_and(f64::is_finite);
        let value = matches!(self.goal, Some(Goal::Value(..)));
        self.ours.median().is_finite() && (self.peer.is_some() || limit || value)
    }

    /// How many times as good as the best peer: below 1 it is behind.
    fn lead(&self) -> Option<f64> {
        let (_, theirs) = self.peer.as_ref()?;
        Some(self.better.ratio(self.ours.median(), theirs.median()))
    }

    /// Whether the difference to the best peer is within the noise of both.
    fn is_even(&self) -> bool {
        let Some((lead, (_, theirs))) = self.lead().zip(self.peer.as_ref()) else {
            return false;
        };
        let spread = self.ours.spread().unwrap_or(0.0) + theirs.spread().unwrap_or(0.0);
        lead.max(1.0 / lead) <= 1.0 + spread.max(NOISE)
    }

    /// How many times as good the limit is.
    fn distance(&self) -> Option<f64> {
        let limit = self.limit.as_ref()?;
        Some(self.better.ratio(limit.figure, self.ours.median()))
    }

    /// How many times as good the figure would have to be to reach the goal: at most 1 if it does.
    fn short(&self) -> Option<f64> {
        Some(match self.goal.as_ref()? {
            Goal::Ahead(times) => times / self.lead()?,
            Goal::OfLimit(times) => self.distance()? / times,
            // A goal of nothing, which is reached by nothing.
            Goal::Value(_, value) if self.ours.median().total_cmp(value).is_eq() => 1.0,
            Goal::Value(_, value) => self.better.ratio(*value, self.ours.median()),
        })
    }

    /// The table's cells.
    fn cells(&self) -> [String; COLUMNS.len()] {
        let none = || NONE.to_owned();
        let (peer, lead) = match (&self.peer, self.lead()) {
            (Some((name, _)), Some(lead)) => (name.clone(), self.lead_text(lead)),
            _ => (none(), none()),
        };
        let goal = self.goal.as_ref().map_or_else(none, Goal::text);
        let short = self.short().map_or_else(none, short_text);
        let limit = self.limit.as_ref().map_or_else(none, |it| it.name.clone());
        let distance = self.distance().map_or_else(none, times);
        [self.what.clone(), peer, lead, goal, short, limit, distance]
    }

    fn lead_text(&self, lead: f64) -> String {
        match lead {
            it if it.is_nan() => NONE.to_owned(),
            _ if self.is_even() => "even".to_owned(),
            it if it < 1.0 => format!("**behind** by {}", times(1.0 / it)),
            it => times(it),
        }
    }

    pub(super) fn json(&self) -> Value {
        let goal = self.goal.as_ref().map(Goal::text);
        json!({
            "what": self.what,
            "better": self.better.name(),
            "ours": self.ours.json(),
            "best_peer": self.peer.as_ref().map(|(name, _)| name),
            "theirs": self.peer.as_ref().map(|(_, theirs)| theirs.json()),
            "ahead_by": self.lead(),
            "even": self.is_even(),
            "goal": goal,
            "short_of_goal_by": self.short(),
            "limit": self.limit.as_ref().map(|it| &it.name),
            "limit_figure": self.limit.as_ref().map(|it| it.figure),
            "distance_to_limit": self.distance(),
        })
    }
}

impl Goal {
    fn text(&self) -> String {
        match self {
            Self::Ahead(times) if *times <= 1.0 => "not behind".to_owned(),
            Self::Ahead(times) => format!("{times} × ahead"),
            Self::OfLimit(times) => format!("{times} × the limit"),
            Self::Value(name, _) => name.clone(),
        }
    }
}

fn times(ratio: f64) -> String {
    match ratio {
        it if it.is_nan() => NONE.to_owned(),
        it if it.is_infinite() => "∞".to_owned(),
        it if it < 2.0 => format!("{it:.2} ×"),
        it => format!("{it:.1} ×"),
    }
}

fn short_text(ratio: f64) -> String {
    if ratio <= 1.0 {
        "reached".to_owned()
    } else {
        times(ratio)
    }
}

/// Returns the verdicts as a table, without columns in which no row has anything.
pub(super) fn table(verdicts: &[&Verdict]) -> Table {
    let rows: Vec<_> = verdicts.iter().map(|it| it.cells()).collect();
    let used: Vec<usize> = (0..COLUMNS.len())
        .filter(|&column| rows.iter().any(|row| row[column] != NONE))
        .collect();
    let head: Vec<&str> = used.iter().map(|&column| COLUMNS[column]).collect();
    let mut table = Table::with_head(&head);
    for row in rows {
        table.row(used.iter().map(|&column| row[column].clone()));
    }
    table
}

#[cfg(test)]
mod tests;

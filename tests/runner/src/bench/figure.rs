//! `Figure`: a figure of Kubist's, which `--check` compares between runs.

use super::samples::Samples;
use serde_json::{Value, json};

/// The direction in which a figure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Better {
    /// Time, memory, what is lost.
    Less,
    /// Rates.
    More,
}

impl Better {
    /// Returns how many times as good the first is as the second: above 1 it is better.
    pub(super) fn ratio(self, first: f64, second: f64) -> f64 {
        match self {
            Self::Less => second / first,
            Self::More => first / second,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Less => "less",
            Self::More => "more",
        }
    }

    pub(super) fn of_name(name: &str) -> Option<Self> {
        [Self::Less, Self::More]
            .into_iter()
            .find(|it| it.name() == name)
    }
}

/// A figure of ours. Its name stays the same from run to run, and is unique in its report.
pub(super) struct Figure {
    name: String,
    better: Better,
    samples: Samples,
}

impl Figure {
    pub(super) fn less(name: impl Into<String>, samples: Samples) -> Self {
        let (name, better) = (name.into(), Better::Less);
        Self {
            name,
            better,
            samples,
        }
    }

    pub(super) fn more(name: impl Into<String>, samples: Samples) -> Self {
        let (name, better) = (name.into(), Better::More);
        Self {
            name,
            better,
            samples,
        }
    }

    /// Whether any round found it.
    pub(super) fn is_known(&self) -> bool {
        self.samples.median().is_finite()
    }

    pub(super) fn json(&self) -> Value {
        let mut json = self.samples.json();
        json["figure"] = self.name.as_str().into();
        json["better"] = self.better.name().into();
        json
    }
}

/// Returns the figures as JSON, without those that no round found.
pub(super) fn json(figures: &[Figure]) -> Value {
    let known = figures.iter().filter(|it| it.is_known());
    json!(known.map(Figure::json).collect::<Vec<_>>())
}

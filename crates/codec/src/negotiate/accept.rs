//! Media types with parameters, and the clauses of an `Accept` header.

use crate::Format;
use std::cmp::Reverse;

/// A media type with its parameters, as in `application/json;as=Table;v=v1`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MediaType {
    /// Before the slash.
    pub main: String,
    /// After the slash.
    pub sub: String,
    /// Parameters in order; names as written, values without quotes.
    pub parameters: Vec<(String, String)>,
}

impl MediaType {
    /// Parameters beyond this many are ignored.
    pub const PARAMETERS_MAX: usize = 32;

    /// Parses one media type. A lone `*` means `*/*`. Parameters without `=` are ignored.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(';');
        let name = parts.next().unwrap_or_default().trim();
        let (main, sub) = match name.split_once('/') {
            Some((main, sub)) => (main.trim(), sub.trim()),
            None if name == "*" => ("*", "*"),
            None => return None,
        };
        if main.is_empty() || sub.is_empty() || sub.contains('/') {
            return None;
        }
        let parameters = parts
            .filter_map(|part| part.split_once('='))
            .map(|(name, value)| {
                (
                    name.trim().to_owned(),
                    value.trim().trim_matches('"').to_owned(),
                )
            })
            .take(Self::PARAMETERS_MAX)
            .collect();
        Some(Self {
            main: main.to_ascii_lowercase(),
            sub: sub.to_ascii_lowercase(),
            parameters,
        })
    }

    /// The value of a parameter; of several, the last.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters
            .iter()
            .rev()
            .find(|(found, _)| found == name)
            .map(|(_, value)| &**value)
    }

    /// The format of exactly this type, as a response or body has it.
    pub fn format(&self) -> Option<Format> {
        Format::ALL
            .iter()
            .copied()
            .find(|&format| self.main != "*" && self.sub != "*" && self.matches(format))
    }

    /// Whether a format is among the types that this one, perhaps a wildcard, means.
    pub(super) fn matches(&self, format: Format) -> bool {
        let name = format.media_type();
        let (main, sub) = name.split_once('/').unwrap_or((name, ""));
        match (&*self.main, &*self.sub) {
            ("*", "*") => true,
            (found, "*") => found == main,
            (found, found_sub) => found == main && found_sub == sub,
        }
    }
}

/// A clause of an `Accept` header.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Clause {
    /// The type, without `q`.
    pub media_type: MediaType,
    /// The quality, 1 if not said.
    pub quality: f32,
}

/// Clauses beyond this many are ignored.
pub(super) const CLAUSES_MAX: usize = 64;

/// The clauses in the order in which they are tried. What is not a media type is left out.
pub fn parse_accept(header: &str) -> Vec<Clause> {
    let mut clauses: Vec<Clause> = header
        .split(',')
        .filter_map(clause)
        .take(CLAUSES_MAX)
        .collect();
    clauses.sort_by(|left, right| {
        let wildcards = |clause: &Clause| {
            (
                Reverse(clause.media_type.main != "*"),
                Reverse(clause.media_type.sub != "*"),
            )
        };
        right
            .quality
            .total_cmp(&left.quality)
            .then_with(|| wildcards(left).cmp(&wildcards(right)))
    });
    clauses
}

fn clause(text: &str) -> Option<Clause> {
    let mut media_type = MediaType::parse(text)?;
    let mut quality = 1.0;
    media_type.parameters.retain(|(name, value)| {
        if name == "q" {
            quality = value
                .parse()
                .ok()
                .filter(|q: &f32| q.is_finite())
                .unwrap_or(0.0);
        }
        name != "q"
    });
    Some(Clause {
        media_type,
        quality,
    })
}

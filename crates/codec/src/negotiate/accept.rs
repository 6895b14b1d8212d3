//! Media types with parameters, and the clauses of an `Accept` header.

use crate::Format;
use std::cmp::Reverse;

/// A media type with its parameters, as in `application/json;as=Table;v=v1`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MediaType {
    /// The part before the slash.
    pub main: String,
    /// The part after the slash.
    pub sub: String,
    /// The parameters in order; names as written, values without quotes.
    pub parameters: Vec<(String, String)>,
}

impl MediaType {
    /// The most parameters that are read; further ones are ignored.
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

    /// Returns the value of a parameter; if it is repeated, the last.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters
            .iter()
            .rev()
            .find(|(found, _)| found == name)
            .map(|(_, value)| &**value)
    }

    /// Returns the format of exactly this type, as in a response or body.
    pub fn format(&self) -> Option<Format> {
        Format::ALL
            .iter()
            .copied()
            .find(|&format| self.main != "*" && self.sub != "*" && self.matches(format))
    }

    /// Reports whether this type, which may be a wildcard, matches a format.
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
    /// The media type, without `q`.
    pub media_type: MediaType,
    /// The quality; 1 by default.
    pub quality: f32,
}

/// The most clauses that are read; further ones are ignored.
pub(super) const CLAUSES_MAX: usize = 64;

/// Returns the clauses in the order in which they are tried, without those that are not media
/// types.
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

//! The media type of a request body.

use super::MediaType;
use crate::Format;
use std::collections::BTreeMap;

/// The endpoint does not accept the body's type: 415.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the body has the type {found:?}; accepted are {accepted}")]
#[non_exhaustive]
pub struct UnsupportedMediaType {
    /// The `Content-Type`.
    pub found: String,
    /// The accepted types, separated by comma and space.
    pub accepted: String,
}

impl UnsupportedMediaType {
    /// Returns the message of upstream's Status for a body that is an object.
    pub fn message(&self) -> String {
        format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            self.accepted
        )
    }
}

/// Returns the format of a body that is an object. Without `Content-Type` it is JSON. The values of
/// parameters do not matter, but they must be well-formed.
pub fn body_format(
    content_type: Option<&str>,
    accepted: &[Format],
) -> Result<Format, UnsupportedMediaType> {
    let found = content_type.unwrap_or_default();
    if found.is_empty() {
        return Ok(Format::Json);
    }
    MediaType::parse(found)
        .filter(|_| has_sound_parameters(found))
        .and_then(|media_type| media_type.format())
        .filter(|format| accepted.contains(format))
        .ok_or_else(|| UnsupportedMediaType {
            found: found.to_owned(),
            accepted: join(accepted.iter().map(|format| format.media_type())),
        })
}

/// Reports whether the text after a media type is a list of parameters as in RFC 2045: each once,
/// with a value. A trailing semicolon is allowed.
fn has_sound_parameters(text: &str) -> bool {
    let mut rest = text.find(';').map_or("", |at| &text[at..]).trim();
    let mut found = BTreeMap::new();
    while !rest.is_empty() && rest != ";" {
        let Some((name, value, behind)) = parameter(rest) else {
            return false;
        };
        let before = found.insert(name.to_ascii_lowercase(), value);
        if before.is_some_and(|before| before != value) {
            return false;
        }
        rest = behind.trim();
    }
    true
}

/// Splits off the first parameter with its semicolon: name, value as written, and the rest.
fn parameter(text: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = token(text.strip_prefix(';')?.trim_start())?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let (value, rest) = if rest.starts_with('"') {
        quoted(rest)?
    } else {
        token(rest)?
    };
    Some((name, value, rest))
}

fn token(text: &str) -> Option<(&str, &str)> {
    let ends = |c: char| !c.is_ascii_graphic() || "()<>@,;:\\\"/[]?=".contains(c);
    let end = text.find(ends).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

fn quoted(text: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\r' | '\n' => return None,
            '"' if !escaped => return Some(text.split_at(at + 1)),
            _ => escaped = c == '\\' && !escaped,
        }
    }
    None
}

fn join<'a>(types: impl Iterator<Item = &'a str>) -> String {
    types.collect::<Vec<_>>().join(", ")
}

/// The patch types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "each must be handled")]
pub enum PatchType {
    /// JSON patch (RFC 6902).
    Json,
    /// JSON merge patch (RFC 7386).
    Merge,
    /// Strategic merge patch, which merges lists by key; built-in kinds only.
    Strategic,
    /// Server-side apply, in YAML (or JSON, which is YAML).
    Apply,
}

impl PatchType {
    /// All patch types, in the order in which servers list them.
    pub const ALL: &'static [Self] = &[Self::Json, Self::Merge, Self::Strategic, Self::Apply];
    /// The patch types of custom resources.
    pub const CUSTOM: &'static [Self] = &[Self::Json, Self::Merge, Self::Apply];

    /// Returns the media type.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json-patch+json",
            Self::Merge => "application/merge-patch+json",
            Self::Strategic => "application/strategic-merge-patch+json",
            Self::Apply => "application/apply-patch+yaml",
        }
    }

    /// Returns the patch type of a `Content-Type`, which must be present and in lower case.
    pub fn parse(
        content_type: Option<&str>,
        accepted: &[Self],
    ) -> Result<Self, UnsupportedMediaType> {
        let found = content_type.unwrap_or_default();
        let name = found.split(';').next().unwrap_or_default().trim();
        accepted
            .iter()
            .copied()
            .find(|patch| patch.media_type() == name)
            .ok_or_else(|| UnsupportedMediaType {
                found: found.to_owned(),
                accepted: join(accepted.iter().map(|patch| patch.media_type())),
            })
    }
}

//! What a request's body says it is.

use super::MediaType;
use crate::Format;

/// A body of a type that the endpoint does not read: 415.
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
    /// The message of upstream's Status for a body that is an object.
    pub fn message(&self) -> String {
        format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            self.accepted
        )
    }
}

/// The format of a body that is an object. Without `Content-Type` it is JSON; parameters do not
/// matter.
pub fn body_format(
    content_type: Option<&str>,
    accepted: &[Format],
) -> Result<Format, UnsupportedMediaType> {
    let found = content_type.unwrap_or_default();
    if found.is_empty() {
        return Ok(Format::Json);
    }
    MediaType::parse(found)
        .and_then(|media_type| media_type.format())
        .filter(|format| accepted.contains(format))
        .ok_or_else(|| UnsupportedMediaType {
            found: found.to_owned(),
            accepted: join(accepted.iter().map(|format| format.media_type())),
        })
}

fn join<'a>(types: impl Iterator<Item = &'a str>) -> String {
    types.collect::<Vec<_>>().join(", ")
}

/// The kinds of patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "each must be handled")]
pub enum PatchType {
    /// RFC 6902.
    Json,
    /// RFC 7386.
    Merge,
    /// Merges lists by key; built-in kinds only.
    Strategic,
    /// Server-side apply, in YAML (or JSON, which is YAML).
    Apply,
}

impl PatchType {
    /// All of them, in the order in which servers list them.
    pub const ALL: &'static [Self] = &[Self::Json, Self::Merge, Self::Strategic, Self::Apply];
    /// Those that custom resources know.
    pub const CUSTOM: &'static [Self] = &[Self::Json, Self::Merge, Self::Apply];

    /// The media type.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json-patch+json",
            Self::Merge => "application/merge-patch+json",
            Self::Strategic => "application/strategic-merge-patch+json",
            Self::Apply => "application/apply-patch+yaml",
        }
    }

    /// The type of a patch from its `Content-Type`, which must be there.
    pub fn parse(
        content_type: Option<&str>,
        accepted: &[Self],
    ) -> Result<Self, UnsupportedMediaType> {
        let found = content_type.unwrap_or_default();
        let name = found.split(';').next().unwrap_or_default().trim();
        accepted
            .iter()
            .copied()
            .find(|patch| patch.media_type().eq_ignore_ascii_case(name))
            .ok_or_else(|| UnsupportedMediaType {
                found: found.to_owned(),
                accepted: join(accepted.iter().map(|patch| patch.media_type())),
            })
    }
}

//! `Area`: the subject of a sequence.

use serde::Deserialize;
use std::fmt;
use std::str::FromStr;

/// The subject of a sequence. Each has its own steps, in `areas`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Area {
    /// Objects of all kinds: created, read, replaced, deleted; unchanged and mutated.
    Objects,
    /// Bodies that are not objects.
    Malformed,
    /// The three types of patches.
    Patches,
    /// Paged lists, selectors, versions.
    Lists,
    /// Watches of the effects of earlier steps.
    Watches,
    /// Deletions with options and preconditions.
    Deletions,
    /// Media types in requests and responses.
    Media,
    /// Status, scale, eviction and other subresources.
    Subresources,
    /// Access and token reviews.
    Reviews,
    /// Definitions and their custom resources.
    Definitions,
    /// Paths and methods that may not exist.
    Paths,
    /// Discovery and `OpenAPI`.
    Documents,
    /// Objects that cause warnings.
    Warnings,
    /// Roles, quotas, limits and policies, and requests that meet them.
    Access,
}

/// All areas, with their percentage of sequences.
pub(crate) const AREAS: [(Area, usize); 13] = [
    (Area::Objects, 24),
    (Area::Malformed, 8),
    (Area::Patches, 14),
    (Area::Lists, 8),
    (Area::Watches, 6),
    (Area::Deletions, 7),
    (Area::Media, 6),
    (Area::Subresources, 10),
    (Area::Reviews, 4),
    (Area::Definitions, 4),
    (Area::Paths, 5),
    (Area::Documents, 1),
    (Area::Warnings, 3),
];

/// The area of what is stored and obeyed, with its share beside the others' in runs on servers that
/// obey.
pub(crate) const OBEYED: (Area, usize) = (Area::Access, 150);

impl Area {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Objects => "objects",
            Self::Malformed => "malformed",
            Self::Patches => "patches",
            Self::Lists => "lists",
            Self::Watches => "watches",
            Self::Deletions => "deletions",
            Self::Media => "media",
            Self::Subresources => "subresources",
            Self::Reviews => "reviews",
            Self::Definitions => "definitions",
            Self::Paths => "paths",
            Self::Documents => "documents",
            Self::Warnings => "warnings",
            Self::Access => "access",
        }
    }
}

impl fmt::Display for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Area {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut all = AREAS.iter().chain([&OBEYED]);
        let found = all.find(|(area, _)| area.name() == text);
        found.map(|(area, _)| *area).ok_or_else(|| {
            let names: Vec<&str> = AREAS.iter().map(|(area, _)| area.name()).collect();
            format!("there is no area {text:?}; there are {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_area_is_found_by_its_name_and_has_a_share() {
        for (area, share) in AREAS {
            assert_eq!(area.name().parse(), Ok(area));
            assert!(share > 0);
        }
        assert_eq!(AREAS.iter().map(|(_, share)| share).sum::<usize>(), 100);
        assert!("none".parse::<Area>().is_err());
    }
}

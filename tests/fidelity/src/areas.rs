//! The steps of each area. Every function adds one or a few steps to a plan.

mod access;
mod definitions;
mod deletions;
mod documents;
mod lists;
mod malformed;
mod media;
mod objects;
mod patches;
mod paths;
mod reviews;
mod statuses;
mod subresources;
mod warnings;
mod watches;

use crate::area::Area;
use crate::plan::Plan;

/// Adds the next steps of an area.
pub(crate) fn advance(plan: &mut Plan<'_>, area: Area) {
    match area {
        Area::Objects => objects::advance(plan),
        Area::Malformed => malformed::advance(plan),
        Area::Patches => patches::advance(plan),
        Area::Lists => lists::advance(plan),
        Area::Watches => watches::advance(plan),
        Area::Deletions => deletions::advance(plan),
        Area::Media => media::advance(plan),
        Area::Subresources => subresources::advance(plan),
        Area::Reviews => reviews::advance(plan),
        Area::Definitions => definitions::advance(plan),
        Area::Paths => paths::advance(plan),
        Area::Documents => documents::advance(plan),
        Area::Warnings => warnings::advance(plan),
        Area::Access => access::advance(plan),
    }
}

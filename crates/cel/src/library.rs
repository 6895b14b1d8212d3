//! The functions that expressions can call, by the Kubernetes version that introduced them.

mod addresses;
pub(crate) mod authorizer;
mod cidr;
mod comprehensions;
mod costs;
mod equality;
mod extended_lists;
mod format;
mod ip;
mod lists;
mod optionals;
pub(crate) mod patches;
mod quantity;
mod regex;
mod semver;
mod sets;
mod standard;
mod standard_conversions;
mod standard_times;
mod strings;
mod urls;

use crate::cel_type::Type;
use crate::function::{Function, Registry};
use std::collections::BTreeMap;
pub(crate) use strings::{Piece, misfit, piece};

/// A set of functions and the types that expressions can name.
#[derive(Debug, Default)]
pub(crate) struct Library {
    /// The functions.
    pub(crate) functions: Vec<Function>,
    /// Types by name.
    pub(crate) types: Vec<(&'static str, Type)>,
}

/// A library with the minor version that introduced it and the one that removed it.
struct Versioned {
    from: u32,
    until: u32,
    library: fn(minor: u32) -> Library,
}

impl Versioned {
    /// Returns a library that no version removed.
    const fn since(from: u32, library: fn(minor: u32) -> Library) -> Self {
        Self {
            from,
            until: u32::MAX,
            library,
        }
    }
}

/// All libraries, in the order in which they are added.
const LIBRARIES: [Versioned; 17] = [
    Versioned::since(0, standard::library),
    Versioned::since(0, standard_times::library),
    Versioned::since(27, authorizer::library),
    Versioned::since(28, optionals::library),
    Versioned::since(0, strings::library),
    Versioned::since(0, urls::library),
    Versioned::since(0, regex::library),
    Versioned::since(0, lists::library),
    Versioned::since(28, quantity::library),
    Versioned::since(29, sets::library),
    Versioned::since(30, ip::library),
    Versioned::since(30, cidr::library),
    Versioned::since(31, format::library),
    Versioned::since(0, authorizer::selectors),
    Versioned::since(32, comprehensions::library),
    Versioned::since(33, semver::library),
    Versioned::since(34, extended_lists::library),
];

/// Returns the functions and the types of a version.
pub(crate) fn of_version(minor: u32) -> (Registry, BTreeMap<&'static str, Type>) {
    let (mut registry, mut types) = (Registry::default(), BTreeMap::new());
    for versioned in LIBRARIES
        .iter()
        .filter(|it| (it.from..it.until).contains(&minor))
    {
        let library = (versioned.library)(minor);
        library
            .functions
            .into_iter()
            .for_each(|it| registry.add(it));
        types.extend(library.types);
    }
    (registry, types)
}

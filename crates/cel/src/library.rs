//! The functions that expressions can call, by the Kubernetes version that introduced them.

mod comprehensions;
mod equality;
mod optionals;
mod standard;
mod standard_conversions;
mod standard_times;
mod strings;

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

/// All libraries, in the order in which they are added.
const LIBRARIES: [Versioned; 5] = [
    Versioned {
        from: 0,
        until: u32::MAX,
        library: standard::library,
    },
    Versioned {
        from: 0,
        until: u32::MAX,
        library: standard_times::library,
    },
    Versioned {
        from: 28,
        until: u32::MAX,
        library: optionals::library,
    },
    Versioned {
        from: 0,
        until: u32::MAX,
        library: strings::library,
    },
    Versioned {
        from: 32,
        until: u32::MAX,
        library: comprehensions::library,
    },
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

//! `Wanted`: what a predicate requires of each object that it selects, for those who know which
//! objects have it.

/// Where a term comes from: a label and a field may have the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Origin {
    Label,
    Field,
}

/// What a selector requires of an object, as far as postings help to find it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a, V> {
    pub(crate) origin: Origin,
    pub(crate) name: &'a str,
    /// One of these values; `None` accepts each.
    pub(crate) values: Option<&'a [V]>,
}

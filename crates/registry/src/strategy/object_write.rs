//! `ObjectWrite`: a write that a request has made, for logs of who wrote what.

use kubist_apimachinery::Str;

/// What a write did to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "storage has no other writes")]
pub enum ObjectChange {
    /// It was created.
    Created,
    /// It was changed.
    Updated,
    /// It was removed.
    Deleted,
}

/// A committed write of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObjectWrite {
    /// The group of the resource; empty for the core group.
    pub group: &'static str,
    /// The plural name of the resource.
    pub resource: &'static str,
    /// The namespace; empty for cluster-scoped objects.
    pub namespace: Str,
    /// The name.
    pub name: Str,
    /// The revision of the write, which is the resource version of what it left.
    pub revision: u64,
    /// What it did.
    pub change: ObjectChange,
}

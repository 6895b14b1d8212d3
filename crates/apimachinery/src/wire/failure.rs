//! `Failure`: the error of a pass over bytes, before it is returned as a [`WireError`].

use super::{WireError, WireErrorKind};

/// An error, boxed to keep results small; its path grows from the inside out.
pub(super) type Failure = Box<WireError>;

/// Returns the failure of this kind, with an empty path.
#[expect(
    clippy::unnecessary_box_returns,
    reason = "a small result is faster where it is Ok"
)]
pub(super) fn fail(kind: WireErrorKind) -> Failure {
    Box::new(kind.into())
}

/// Puts the name of a field in front of the path.
#[expect(
    clippy::unnecessary_box_returns,
    reason = "a small result is faster where it is Ok"
)]
pub(super) fn within(mut failure: Failure, field: &str) -> Failure {
    let path = &mut failure.path;
    if !path.is_empty() && !path.starts_with('[') {
        path.insert(0, '.');
    }
    path.insert_str(0, field);
    failure
}

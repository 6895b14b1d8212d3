//! `CborError`: why bytes are no CBOR, or have no JSON form, in the words of upstream's decoder.

/// A body is not CBOR, or has no JSON form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CborError {
    /// There is nothing.
    #[error("EOF")]
    Empty,
    /// The value is not complete.
    #[error("unexpected EOF")]
    Incomplete,
    /// More bytes follow the value.
    #[error("cbor: {count} bytes of extraneous data starting at index {offset}")]
    Trailing {
        /// How many.
        count: usize,
        /// Where they begin.
        offset: usize,
    },
    /// A map has a key twice.
    #[error("cbor: found duplicate map key \"{key}\" at map element index {index}")]
    DuplicateKey {
        /// The key.
        key: String,
        /// Which member repeats it.
        index: usize,
    },
    /// Anything else that is wrong, or that JSON does not have.
    #[error("cbor: {0}")]
    Refused(String),
    /// The JSON would be longer than it may be.
    #[error("cbor: the JSON form has more than {max} bytes")]
    TooLong {
        /// The limit.
        max: usize,
    },
}

impl CborError {
    pub(super) fn refused(why: impl Into<String>) -> Self {
        Self::Refused(why.into())
    }

    /// A value that upstream's options do not admit.
    pub(super) fn not_accepted(of: &str, what: &str) -> Self {
        Self::Refused(format!(
            "data item of cbor type {of} is not accepted by protocol: {what}"
        ))
    }
}

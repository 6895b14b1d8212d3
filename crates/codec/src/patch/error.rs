//! Patch errors. The texts for strategic merge patches are upstream's, because clients see them.

/// The reason of an operation `test` that finds another value.
pub(super) const ANOTHER_VALUE: &str = "the value is another";

/// Why a patch cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchError {
    /// The patch does not have the form of its type.
    #[error("{reason}")]
    Malformed {
        /// The reason, in upstream's words.
        reason: String,
    },
    /// The JSON patch has too many operations.
    #[error("The allowed maximum operations in a JSON patch is {max}, got {count}")]
    TooManyOperations {
        /// The number of operations.
        count: usize,
        /// The limit.
        max: usize,
    },
    /// The `copy` operations of the JSON patch copy too many bytes.
    #[error(
        "Unable to complete the copy, the accumulated size increase of copy is {size}, \
         exceeding the limit {max}"
    )]
    CopyTooLarge {
        /// The number of bytes.
        size: usize,
        /// The limit.
        max: usize,
    },
    /// The operations of the JSON patch move too many list items.
    #[error("The operations of a JSON patch may move at most {max} list items")]
    TooManyMoves {
        /// The limit.
        max: usize,
    },
    /// An operation of the JSON patch does not apply.
    #[error("operation {index} ({operation} {path:?}) does not apply: {reason}")]
    Operation {
        /// Its index.
        index: usize,
        /// Its `op`.
        operation: String,
        /// Its `path`.
        path: String,
        /// The reason.
        reason: String,
    },
    /// `$patch` has an unknown value.
    #[error("unknown patch type: {directive} in map: {map}")]
    UnknownDirective {
        /// The value.
        directive: String,
        /// The map that contains it, as Go prints it.
        map: String,
    },
    /// `$patch: merge` is used in a list.
    #[error("merging lists cannot yet be specified in the patch")]
    MergeDirective,
    /// An item lacks the key that identifies it.
    #[error("map: {map} does not contain declared merge key: {key}")]
    MissingMergeKey {
        /// The item, as Go prints it.
        map: String,
        /// The key.
        key: &'static str,
    },
    /// The patch's items are not in the order that the patch requires.
    #[error("The order in patch list:\n{patch}\n doesn't match $setElementOrder list:\n{order}\n")]
    ElementOrder {
        /// The patch's items, as Go prints them.
        patch: String,
        /// The order, as Go prints it.
        order: String,
    },
    /// A list of objects merges, but its merge key is unknown.
    #[error("cannot merge lists without merge key for {message}")]
    NoMergeKey {
        /// The Go type of the items.
        message: &'static str,
    },
    /// The type does not have a field whose merge strategy is needed.
    #[error("unable to find api field in struct {message} for the json field {field:?}")]
    UnknownField {
        /// The Go type.
        message: &'static str,
        /// The JSON name.
        field: String,
    },
    /// A list of lists cannot be merged.
    #[error("lists of lists are not supported")]
    ListOfLists,
    /// The items of a list have different types.
    #[error("list element types are not identical: {lists}")]
    MixedList {
        /// The list and the list to merge into it, as Go prints them.
        lists: String,
    },
    /// `$retainKeys` is not a list, or does not name a field that the patch sets.
    #[error("invalid patch format of retainKeys")]
    RetainKeys,
    /// A list or map was expected.
    #[error("expected a {expected}, but received a {found}")]
    WrongType {
        /// The expected Go type.
        expected: &'static str,
        /// The actual Go type.
        found: &'static str,
    },
    /// The kind does not support this patch type.
    #[error("patches of the type {patch_type} are not supported here")]
    Unsupported {
        /// The media type.
        patch_type: &'static str,
    },
}

/// The response to a failed patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each must be answered")]
pub enum PatchClass {
    /// 400 `BadRequest`: the patch is malformed.
    Malformed,
    /// 413 `RequestEntityTooLarge`.
    TooLarge,
    /// 415 `UnsupportedMediaType`.
    Unsupported,
    /// 422 `Invalid` without details: the patch does not fit the object.
    Unprocessable,
    /// Upstream answers 500 without a reason although the patch is at fault; 400 is clearer.
    Internal,
}

impl PatchError {
    /// Reports whether an operation `test` of the JSON patch found another value.
    pub fn is_failed_test(&self) -> bool {
        matches!(
            self,
            Self::Operation { operation, reason, .. }
                if operation == "test" && reason == ANOTHER_VALUE
        )
    }

    /// Returns the response to this error.
    pub fn class(&self) -> PatchClass {
        match self {
            Self::Malformed { .. } | Self::RetainKeys => PatchClass::Malformed,
            Self::TooManyOperations { .. } | Self::TooManyMoves { .. } => PatchClass::TooLarge,
            Self::Unsupported { .. } => PatchClass::Unsupported,
            Self::Operation { .. } | Self::CopyTooLarge { .. } | Self::ListOfLists => {
                PatchClass::Unprocessable
            }
            Self::UnknownDirective { .. }
            | Self::MergeDirective
            | Self::MissingMergeKey { .. }
            | Self::ElementOrder { .. }
            | Self::NoMergeKey { .. }
            | Self::UnknownField { .. }
            | Self::MixedList { .. }
            | Self::WrongType { .. } => PatchClass::Internal,
        }
    }
}

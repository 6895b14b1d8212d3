//! Why a patch cannot be applied. The texts of strategic merge patches are upstream's: clients
//! see them.

/// A patch that cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchError {
    /// The patch is not what its type says.
    #[error("{reason}")]
    Malformed {
        /// The reason, in upstream's words.
        reason: String,
    },
    /// Too many operations in a JSON patch.
    #[error("The allowed maximum operations in a JSON patch is {max}, got {count}")]
    TooManyOperations {
        /// How many.
        count: usize,
        /// The limit.
        max: usize,
    },
    /// The `copy` operations of a JSON patch copy too much.
    #[error(
        "Unable to complete the copy, the accumulated size increase of copy is {size}, \
         exceeding the limit {max}"
    )]
    CopyTooLarge {
        /// Bytes.
        size: usize,
        /// The limit.
        max: usize,
    },
    /// The operations of a JSON patch move too many items of lists.
    #[error("The operations of a JSON patch may move {max} items of lists at most")]
    TooManyMoves {
        /// The limit.
        max: usize,
    },
    /// An operation of a JSON patch does not apply.
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
    /// `$patch` with an unknown value.
    #[error("unknown patch type: {directive} in map: {map}")]
    UnknownDirective {
        /// The value.
        directive: String,
        /// Where it stands, as Go prints it.
        map: String,
    },
    /// `$patch: merge` in a list.
    #[error("merging lists cannot yet be specified in the patch")]
    MergeDirective,
    /// An item without the key that identifies it.
    #[error("map: {map} does not contain declared merge key: {key}")]
    MissingMergeKey {
        /// The item, as Go prints it.
        map: String,
        /// The key.
        key: &'static str,
    },
    /// The patch's items are not in the order that the patch demands.
    #[error("The order in patch list:\n{patch}\n doesn't match $setElementOrder list:\n{order}\n")]
    ElementOrder {
        /// The patch's items, as Go prints them.
        patch: String,
        /// The order, as Go prints it.
        order: String,
    },
    /// A list of objects merges, but its key is not known.
    #[error("cannot merge lists without merge key for {message}")]
    NoMergeKey {
        /// The Go type of the items.
        message: &'static str,
    },
    /// A field that the type does not have, where its merge facts are needed.
    #[error("unable to find api field in struct {message} for the json field {field:?}")]
    UnknownField {
        /// The Go type.
        message: &'static str,
        /// The JSON name.
        field: String,
    },
    /// A list of lists, which has no merge.
    #[error("lists of lists are not supported")]
    ListOfLists,
    /// A list whose items are of several types.
    #[error("list element types are not identical: {lists}")]
    MixedList {
        /// The list and what was to be merged into it, as Go prints them.
        lists: String,
    },
    /// `$retainKeys` that is no list, or does not name a field that the patch sets.
    #[error("invalid patch format of retainKeys")]
    RetainKeys,
    /// A list or map was needed.
    #[error("expected a {expected}, but received a {found}")]
    WrongType {
        /// The Go type needed.
        expected: &'static str,
        /// The Go type found.
        found: &'static str,
    },
    /// This kind cannot be patched so.
    #[error("patches of the type {patch_type} are not supported here")]
    Unsupported {
        /// The media type.
        patch_type: &'static str,
    },
}

/// Which answer a failed patch gets.
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
    /// Upstream answers 500 without a reason, though the patch is to blame; 400 is clearer.
    Internal,
}

impl PatchError {
    /// Which answer it gets.
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

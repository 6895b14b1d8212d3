//! `ListMeta` and `List`: a list answer, and what it says about itself.

use crate::wire::{Field, FieldFlags as F, FieldType, JsonForm};
use crate::{Str, message, schema};

/// Metadata of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListMeta {
    /// Deprecated; servers leave it empty.
    pub self_link: Str,
    /// The version of the whole list: where a watch may go on.
    pub resource_version: Str,
    /// The token of the next page; empty on the last.
    pub continue_: Str,
    /// How many items remain after this page, where the server knows.
    pub remaining_item_count: Option<i64>,
}

schema!(pub LIST_META = "ListMeta", "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta",
    JsonForm::Object, None, [
    Field::new("selfLink", 1, FieldType::Str, F::OMIT_EMPTY),
    Field::new("resourceVersion", 2, FieldType::Str, F::OMIT_EMPTY),
    Field::new("continue", 3, FieldType::Str, F::OMIT_EMPTY),
    Field::new("remainingItemCount", 4, FieldType::I64, F::OMIT_EMPTY.or(F::POINTER)),
]);

message!(ListMeta, LIST_META, [
    0 self_link, 1 resource_version, 2 continue_, 3 remaining_item_count,
]);

/// A list of objects of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct List<K> {
    /// Version and paging.
    pub metadata: ListMeta,
    /// The objects.
    pub items: Vec<K>,
}

impl<K> Default for List<K> {
    fn default() -> Self {
        Self { metadata: ListMeta::default(), items: Vec::new() }
    }
}

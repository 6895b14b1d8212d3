//! `ListMeta` and `List`: a list response and its metadata.

use crate::wire::{
    Entry, Field, FieldAccess, FieldFlags as F, FieldType, Json, JsonForm, KindFacts, Message,
    Schema, Slot, View, Wire, names_size, table_of_names,
};
use crate::{KubeObject, Str, message, schema};

/// Metadata of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListMeta {
    /// Deprecated; servers leave it empty.
    pub self_link: Str,
    /// The resource version of the list, from which a watch can continue.
    pub resource_version: Str,
    /// The continue token of the next page; empty on the last page.
    pub continue_: Str,
    /// The number of items after this page, if the server knows it.
    pub remaining_item_count: Option<i64>,
    /// The shard of the collection, for sharded lists (alpha upstream).
    pub shard_info: Option<Box<ShardInfo>>,
}

/// The shard of a sharded list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardInfo {
    /// The selector of the shard.
    pub selector: Str,
}

schema!(pub SHARD_INFO = "ShardInfo", "io.k8s.apimachinery.pkg.apis.meta.v1.ShardInfo",
    JsonForm::Object, None, [Field::new("selector", 1, FieldType::Str, F::REQUIRED)]);

message!(ShardInfo, SHARD_INFO, [0 selector]);

schema!(pub LIST_META = "ListMeta", "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta",
    JsonForm::Object, None, [
    Field::new("selfLink", 1, FieldType::Str, F::OMIT_EMPTY),
    Field::new("resourceVersion", 2, FieldType::Str, F::OMIT_EMPTY),
    Field::new("continue", 3, FieldType::Str, F::OMIT_EMPTY),
    Field::new("remainingItemCount", 4, FieldType::I64, F::OMIT_EMPTY.or(F::POINTER)),
    Field::new("shardInfo", 5, FieldType::Message(&SHARD_INFO), F::OMIT_EMPTY.or(F::POINTER)),
]);

message!(ListMeta, LIST_META, [
    0 self_link, 1 resource_version, 2 continue_, 3 remaining_item_count, 4 shard_info,
]);

/// A list of objects of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct List<K> {
    /// The resource version and paging.
    pub metadata: ListMeta,
    /// The objects.
    pub items: Vec<K>,
}

impl<K> Default for List<K> {
    fn default() -> Self {
        Self {
            metadata: ListMeta::default(),
            items: Vec::new(),
        }
    }
}

/// The schema of a list of `K` as constants, because statics cannot depend on a type parameter.
impl<K: KubeObject> List<K> {
    const FIELDS: [Field; 2] = [
        Field::new("metadata", 1, FieldType::Message(&LIST_META), F::OMIT_EMPTY),
        Field::new("items", 2, FieldType::MessageList(K::SCHEMA), F::REQUIRED),
    ];
    const FACTS: &'static Schema = &Schema {
        name: K::LIST_KIND,
        full_name: K::LIST_KIND,
        kind: Some(KindFacts {
            group: K::GROUP,
            version: K::VERSION,
            kind: K::LIST_KIND,
            api_version: K::API_VERSION,
        }),
        form: JsonForm::Object,
        atomic: false,
        defaults: &[],
        fields: &Self::FIELDS,
        names: &table_of_names::<{ names_size(2) }>(&Self::FIELDS),
        order: &[Entry::Field(0), Entry::Field(1)],
    };
}

impl<K: KubeObject + Default> Message for List<K> {
    fn schema(&self) -> &'static Schema {
        Self::FACTS
    }
    fn slot(&mut self, index: usize) -> Option<Slot<'_>> {
        match index {
            0 => Some(FieldAccess::slot(&mut self.metadata)),
            1 => Some(FieldAccess::slot(&mut self.items)),
            _ => None,
        }
    }
    fn view(&self, index: usize) -> Option<View<'_>> {
        match index {
            0 => Some(FieldAccess::view(&self.metadata)),
            1 => Some(FieldAccess::view(&self.items)),
            _ => None,
        }
    }
}

impl<K: KubeObject + Default> Wire for List<K> {
    const SCHEMA: &'static Schema = Self::FACTS;
    crate::decode_into_default!();
}

impl<K: KubeObject + Default> serde::Serialize for List<K> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Json::top(self).serialize(serializer)
    }
}

impl<'de, K: KubeObject + Default> serde::Deserialize<'de> for List<K> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::wire::deserialize(deserializer)
    }
}

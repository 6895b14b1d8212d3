//! The service `KV`: reads, writes, transactions and compaction.

use crate::{KeyValue, ResponseHeader};
use bytes::Bytes;
use prost::{Enumeration, Message, Oneof};

/// The order of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[expect(
    clippy::exhaustive_enums,
    reason = "prost keeps other values as numbers"
)]
#[repr(i32)]
pub enum SortOrder {
    /// Not sorted, which is the order of keys.
    None = 0,
    /// Lowest first.
    Ascend = 1,
    /// Highest first.
    Descend = 2,
}

/// What a range is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[expect(
    clippy::exhaustive_enums,
    reason = "prost keeps other values as numbers"
)]
#[repr(i32)]
pub enum SortTarget {
    /// The key.
    Key = 0,
    /// The version.
    Version = 1,
    /// The revision of the creation.
    Create = 2,
    /// The revision of the last write.
    Mod = 3,
    /// The value.
    Value = 4,
}

/// Reads a key or a range.
#[derive(Clone, PartialEq, Message)]
pub struct RangeRequest {
    /// The key, or the first of the range.
    #[prost(bytes = "bytes", tag = "1")]
    pub key: Bytes,
    /// The end of the range: empty for a single key, a zero byte for all from the key on.
    #[prost(bytes = "bytes", tag = "2")]
    pub range_end: Bytes,
    /// Maximum number of results; zero for no limit.
    #[prost(int64, tag = "3")]
    pub limit: i64,
    /// The revision to read at; zero for the current one.
    #[prost(int64, tag = "4")]
    pub revision: i64,
    /// The order.
    #[prost(enumeration = "SortOrder", tag = "5")]
    pub sort_order: i32,
    /// What is ordered by.
    #[prost(enumeration = "SortTarget", tag = "6")]
    pub sort_target: i32,
    /// Whether a member may answer from its own state.
    #[prost(bool, tag = "7")]
    pub serializable: bool,
    /// Whether values are left out.
    #[prost(bool, tag = "8")]
    pub keys_only: bool,
    /// Whether only the number is wanted.
    #[prost(bool, tag = "9")]
    pub count_only: bool,
    /// The lowest revision of a last write.
    #[prost(int64, tag = "10")]
    pub min_mod_revision: i64,
    /// The highest revision of a last write; zero for no limit.
    #[prost(int64, tag = "11")]
    pub max_mod_revision: i64,
    /// The lowest revision of a creation.
    #[prost(int64, tag = "12")]
    pub min_create_revision: i64,
    /// The highest revision of a creation; zero for no limit.
    #[prost(int64, tag = "13")]
    pub max_create_revision: i64,
}

/// The response to a range request.
#[derive(Clone, PartialEq, Message)]
pub struct RangeResponse {
    /// The state of the store.
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    /// The versions.
    #[prost(message, repeated, tag = "2")]
    pub kvs: Vec<KeyValue>,
    /// Whether the limit left some out.
    #[prost(bool, tag = "3")]
    pub more: bool,
    /// Number of keys in the range.
    #[prost(int64, tag = "4")]
    pub count: i64,
}

/// Writes a key.
#[derive(Clone, PartialEq, Message)]
pub struct PutRequest {
    /// The key.
    #[prost(bytes = "bytes", tag = "1")]
    pub key: Bytes,
    /// The value.
    #[prost(bytes = "bytes", tag = "2")]
    pub value: Bytes,
    /// The lease; zero for none.
    #[prost(int64, tag = "3")]
    pub lease: i64,
    /// Whether the response has the replaced version.
    #[prost(bool, tag = "4")]
    pub prev_kv: bool,
    /// Whether the key keeps its value.
    #[prost(bool, tag = "5")]
    pub ignore_value: bool,
    /// Whether the key keeps its lease.
    #[prost(bool, tag = "6")]
    pub ignore_lease: bool,
}

/// The response to a put.
#[derive(Clone, PartialEq, Message)]
pub struct PutResponse {
    /// The state of the store.
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    /// The replaced version, if it was requested.
    #[prost(message, optional, tag = "2")]
    pub prev_kv: Option<KeyValue>,
}

/// Deletes a key or a range.
#[derive(Clone, PartialEq, Message)]
pub struct DeleteRangeRequest {
    /// The key, or the first of the range.
    #[prost(bytes = "bytes", tag = "1")]
    pub key: Bytes,
    /// The end of the range, as in a range request.
    #[prost(bytes = "bytes", tag = "2")]
    pub range_end: Bytes,
    /// Whether the response has the deleted versions.
    #[prost(bool, tag = "3")]
    pub prev_kv: bool,
}

/// The response to a delete.
#[derive(Clone, PartialEq, Message)]
pub struct DeleteRangeResponse {
    /// The state of the store.
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    /// Number of deleted keys.
    #[prost(int64, tag = "2")]
    pub deleted: i64,
    /// The deleted versions, if they were requested.
    #[prost(message, repeated, tag = "3")]
    pub prev_kvs: Vec<KeyValue>,
}

/// An operation of a transaction.
#[derive(Clone, PartialEq, Message)]
pub struct RequestOp {
    /// The operation.
    #[prost(oneof = "Operation", tags = "1, 2, 3, 4")]
    pub request: Option<Operation>,
}

/// The kinds of operations.
#[derive(Clone, PartialEq, Oneof)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has no others")]
pub enum Operation {
    /// A read.
    #[prost(message, tag = "1")]
    Range(RangeRequest),
    /// A put.
    #[prost(message, tag = "2")]
    Put(PutRequest),
    /// A delete.
    #[prost(message, tag = "3")]
    Delete(DeleteRangeRequest),
    /// A transaction inside the transaction.
    #[prost(message, tag = "4")]
    Txn(TxnRequest),
}

/// The result of an operation.
#[derive(Clone, PartialEq, Message)]
pub struct ResponseOp {
    /// The result.
    #[prost(oneof = "OperationResponse", tags = "1, 2, 3, 4")]
    pub response: Option<OperationResponse>,
}

/// The kinds of results.
#[derive(Clone, PartialEq, Oneof)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has no others")]
pub enum OperationResponse {
    /// Of a read.
    #[prost(message, tag = "1")]
    Range(RangeResponse),
    /// Of a put.
    #[prost(message, tag = "2")]
    Put(PutResponse),
    /// Of a delete.
    #[prost(message, tag = "3")]
    Delete(DeleteRangeResponse),
    /// Of a transaction.
    #[prost(message, tag = "4")]
    Txn(TxnResponse),
}

/// How a version must relate to the operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[expect(
    clippy::exhaustive_enums,
    reason = "prost keeps other values as numbers"
)]
#[repr(i32)]
pub enum CompareResult {
    /// It is the same.
    Equal = 0,
    /// It is above.
    Greater = 1,
    /// It is below.
    Less = 2,
    /// It is another.
    NotEqual = 3,
}

/// The part of a version that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[expect(
    clippy::exhaustive_enums,
    reason = "prost keeps other values as numbers"
)]
#[repr(i32)]
pub enum CompareTarget {
    /// The number of writes.
    Version = 0,
    /// The revision of the creation.
    Create = 1,
    /// The revision of the last write.
    Mod = 2,
    /// The value.
    Value = 3,
    /// The lease.
    Lease = 4,
}

/// A comparison of a transaction.
#[derive(Clone, PartialEq, Message)]
pub struct Compare {
    /// The relation.
    #[prost(enumeration = "CompareResult", tag = "1")]
    pub result: i32,
    /// The part.
    #[prost(enumeration = "CompareTarget", tag = "2")]
    pub target: i32,
    /// The key.
    #[prost(bytes = "bytes", tag = "3")]
    pub key: Bytes,
    /// The operand; absent is zero or empty.
    #[prost(oneof = "CompareOperand", tags = "4, 5, 6, 7, 8")]
    pub operand: Option<CompareOperand>,
    /// The end of a range whose keys must all compare.
    #[prost(bytes = "bytes", tag = "64")]
    pub range_end: Bytes,
}

/// The operand of a comparison.
#[derive(Clone, PartialEq, Oneof)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has no others")]
pub enum CompareOperand {
    /// A number of writes.
    #[prost(int64, tag = "4")]
    Version(i64),
    /// A revision of a creation.
    #[prost(int64, tag = "5")]
    CreateRevision(i64),
    /// A revision of a write.
    #[prost(int64, tag = "6")]
    ModRevision(i64),
    /// A value.
    #[prost(bytes = "bytes", tag = "7")]
    Value(Bytes),
    /// A lease.
    #[prost(int64, tag = "8")]
    Lease(i64),
}

/// A transaction.
#[derive(Clone, PartialEq, Message)]
pub struct TxnRequest {
    /// What must hold.
    #[prost(message, repeated, tag = "1")]
    pub compare: Vec<Compare>,
    /// The operations if it does.
    #[prost(message, repeated, tag = "2")]
    pub success: Vec<RequestOp>,
    /// The operations if it does not.
    #[prost(message, repeated, tag = "3")]
    pub failure: Vec<RequestOp>,
}

/// The response to a transaction.
#[derive(Clone, PartialEq, Message)]
pub struct TxnResponse {
    /// The state of the store.
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    /// Whether the comparisons held.
    #[prost(bool, tag = "2")]
    pub succeeded: bool,
    /// The results of the operations.
    #[prost(message, repeated, tag = "3")]
    pub responses: Vec<ResponseOp>,
}

/// Discards history.
#[derive(Clone, PartialEq, Message)]
pub struct CompactionRequest {
    /// The oldest revision that stays readable.
    #[prost(int64, tag = "1")]
    pub revision: i64,
    /// Whether to wait until the space is free.
    #[prost(bool, tag = "2")]
    pub physical: bool,
}

/// The response to a compaction.
#[derive(Clone, PartialEq, Message)]
pub struct CompactionResponse {
    /// The state of the store.
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
}

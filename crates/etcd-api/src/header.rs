//! What the messages of all services share.

use bytes::Bytes;
use prost::Message;

/// The state of the store that responds.
#[derive(Clone, PartialEq, Message)]
pub struct ResponseHeader {
    /// The cluster.
    #[prost(uint64, tag = "1")]
    pub cluster_id: u64,
    /// The member that responds.
    #[prost(uint64, tag = "2")]
    pub member_id: u64,
    /// The revision of the store when the request was done.
    #[prost(int64, tag = "3")]
    pub revision: i64,
    /// The raft term.
    #[prost(uint64, tag = "4")]
    pub raft_term: u64,
}

/// A version of a key.
#[derive(Clone, PartialEq, Message)]
pub struct KeyValue {
    /// The key.
    #[prost(bytes = "bytes", tag = "1")]
    pub key: Bytes,
    /// The revision that created the key.
    #[prost(int64, tag = "2")]
    pub create_revision: i64,
    /// The revision of this version.
    #[prost(int64, tag = "3")]
    pub mod_revision: i64,
    /// Number of writes since the creation.
    #[prost(int64, tag = "4")]
    pub version: i64,
    /// The value.
    #[prost(bytes = "bytes", tag = "5")]
    pub value: Bytes,
    /// The lease; zero for none.
    #[prost(int64, tag = "6")]
    pub lease: i64,
}

//! The services `Maintenance`, `Cluster` and `Auth`, as far as clients of a single store use them.

use crate::ResponseHeader;
use prost::{Enumeration, Message};

/// Asks for the state of a member.
#[derive(Clone, PartialEq, Message)]
pub struct StatusRequest {}

/// The state of a member.
#[derive(Clone, PartialEq, Message)]
pub struct StatusResponse {
    /// The state of the store.
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    /// The version of etcd that it speaks.
    #[prost(string, tag = "2")]
    pub version: String,
    /// Bytes allocated on its disk.
    #[prost(int64, tag = "3")]
    pub db_size: i64,
    /// The leader.
    #[prost(uint64, tag = "4")]
    pub leader: u64,
    /// The last entry of its log.
    #[prost(uint64, tag = "5")]
    pub raft_index: u64,
    /// The raft term.
    #[prost(uint64, tag = "6")]
    pub raft_term: u64,
    /// The last entry that it applied.
    #[prost(uint64, tag = "7")]
    pub raft_applied_index: u64,
    /// Its alarms.
    #[prost(string, repeated, tag = "8")]
    pub errors: Vec<String>,
    /// Bytes in use.
    #[prost(int64, tag = "9")]
    pub db_size_in_use: i64,
    /// Whether it has no vote.
    #[prost(bool, tag = "10")]
    pub is_learner: bool,
    /// The version of its files.
    #[prost(string, tag = "11")]
    pub storage_version: String,
    /// The limit of its size.
    #[prost(int64, tag = "12")]
    pub db_size_quota: i64,
}

/// What to do with alarms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[expect(
    clippy::exhaustive_enums,
    reason = "prost keeps other values as numbers"
)]
#[repr(i32)]
pub enum AlarmAction {
    /// Return them.
    Get = 0,
    /// Raise one.
    Activate = 1,
    /// Clear one.
    Deactivate = 2,
}

/// The kinds of alarms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[expect(
    clippy::exhaustive_enums,
    reason = "prost keeps other values as numbers"
)]
#[repr(i32)]
pub enum AlarmType {
    /// Any.
    None = 0,
    /// The size limit was reached.
    NoSpace = 1,
    /// The data is corrupt.
    Corrupt = 2,
}

/// Reads or changes alarms.
#[derive(Clone, PartialEq, Message)]
pub struct AlarmRequest {
    /// What to do.
    #[prost(enumeration = "AlarmAction", tag = "1")]
    pub action: i32,
    /// The member; zero for all.
    #[prost(uint64, tag = "2")]
    pub member_id: u64,
    /// The kind.
    #[prost(enumeration = "AlarmType", tag = "3")]
    pub alarm: i32,
}

/// An alarm.
#[derive(Clone, PartialEq, Message)]
pub struct AlarmMember {
    /// The member.
    #[prost(uint64, tag = "1")]
    pub member_id: u64,
    /// The kind.
    #[prost(enumeration = "AlarmType", tag = "2")]
    pub alarm: i32,
}

/// The alarms.
#[derive(Clone, PartialEq, Message)]
pub struct AlarmResponse {
    /// The state of the store.
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    /// The alarms.
    #[prost(message, repeated, tag = "2")]
    pub alarms: Vec<AlarmMember>,
}

/// Frees unused space on the disk.
#[derive(Clone, PartialEq, Message)]
pub struct DefragmentRequest {}

/// The response to a defragmentation.
#[derive(Clone, PartialEq, Message)]
pub struct DefragmentResponse {
    /// The state of the store.
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
}

/// A member of a cluster.
#[derive(Clone, PartialEq, Message)]
pub struct Member {
    /// Its id.
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// Its name.
    #[prost(string, tag = "2")]
    pub name: String,
    /// Its URLs for other members.
    #[prost(string, repeated, tag = "3")]
    pub peer_urls: Vec<String>,
    /// Its URLs for clients.
    #[prost(string, repeated, tag = "4")]
    pub client_urls: Vec<String>,
    /// Whether it has no vote.
    #[prost(bool, tag = "5")]
    pub is_learner: bool,
}

/// Asks for the members.
#[derive(Clone, PartialEq, Message)]
pub struct MemberListRequest {
    /// Whether the list is the cluster's.
    #[prost(bool, tag = "1")]
    pub linearizable: bool,
}

/// The members.
#[derive(Clone, PartialEq, Message)]
pub struct MemberListResponse {
    /// The state of the store.
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    /// The members.
    #[prost(message, repeated, tag = "2")]
    pub members: Vec<Member>,
}

/// Asks whether users must authenticate.
#[derive(Clone, PartialEq, Message)]
pub struct AuthStatusRequest {}

/// Whether users must authenticate.
#[derive(Clone, PartialEq, Message)]
pub struct AuthStatusResponse {
    /// The state of the store.
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    /// Whether they must.
    #[prost(bool, tag = "2")]
    pub enabled: bool,
    /// The revision of the users.
    #[prost(uint64, tag = "3")]
    pub auth_revision: u64,
}

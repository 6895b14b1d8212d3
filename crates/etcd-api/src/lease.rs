//! The service `Lease`: keys that end with a lease.

use crate::ResponseHeader;
use bytes::Bytes;
use prost::Message;

/// Grants a lease.
#[derive(Clone, PartialEq, Message)]
pub struct LeaseGrantRequest {
    /// Its lifetime in seconds.
    #[prost(int64, tag = "1")]
    pub ttl: i64,
    /// Its id; zero lets the server choose.
    #[prost(int64, tag = "2")]
    pub id: i64,
}

/// The response to a grant.
#[derive(Clone, PartialEq, Message)]
pub struct LeaseGrantResponse {
    /// The state of the store.
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    /// The id.
    #[prost(int64, tag = "2")]
    pub id: i64,
    /// The lifetime in seconds.
    #[prost(int64, tag = "3")]
    pub ttl: i64,
    /// Why it was not granted.
    #[prost(string, tag = "4")]
    pub error: String,
}

/// Ends a lease.
#[derive(Clone, PartialEq, Message)]
pub struct LeaseRevokeRequest {
    /// The lease.
    #[prost(int64, tag = "1")]
    pub id: i64,
}

/// The response to a revocation.
#[derive(Clone, PartialEq, Message)]
pub struct LeaseRevokeResponse {
    /// The state of the store.
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
}

/// Starts the lifetime of a lease anew.
#[derive(Clone, PartialEq, Message)]
pub struct LeaseKeepAliveRequest {
    /// The lease.
    #[prost(int64, tag = "1")]
    pub id: i64,
}

/// The response to a keep-alive.
#[derive(Clone, PartialEq, Message)]
pub struct LeaseKeepAliveResponse {
    /// The state of the store.
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    /// The lease.
    #[prost(int64, tag = "2")]
    pub id: i64,
    /// The lifetime in seconds; zero if there is no such lease.
    #[prost(int64, tag = "3")]
    pub ttl: i64,
}

/// Asks for the rest of a lifetime.
#[derive(Clone, PartialEq, Message)]
pub struct LeaseTimeToLiveRequest {
    /// The lease.
    #[prost(int64, tag = "1")]
    pub id: i64,
    /// Whether the response has its keys.
    #[prost(bool, tag = "2")]
    pub keys: bool,
}

/// The rest of a lifetime.
#[derive(Clone, PartialEq, Message)]
pub struct LeaseTimeToLiveResponse {
    /// The state of the store.
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    /// The lease.
    #[prost(int64, tag = "2")]
    pub id: i64,
    /// The rest in seconds; -1 if there is no such lease.
    #[prost(int64, tag = "3")]
    pub ttl: i64,
    /// The lifetime in seconds.
    #[prost(int64, tag = "4")]
    pub granted_ttl: i64,
    /// The keys, if they were requested.
    #[prost(bytes = "bytes", repeated, tag = "5")]
    pub keys: Vec<Bytes>,
}

/// Asks for all leases.
#[derive(Clone, PartialEq, Message)]
pub struct LeaseLeasesRequest {}

/// A lease.
#[derive(Clone, PartialEq, Message)]
pub struct LeaseStatus {
    /// Its id.
    #[prost(int64, tag = "1")]
    pub id: i64,
}

/// All leases.
#[derive(Clone, PartialEq, Message)]
pub struct LeaseLeasesResponse {
    /// The state of the store.
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    /// The leases.
    #[prost(message, repeated, tag = "2")]
    pub leases: Vec<LeaseStatus>,
}

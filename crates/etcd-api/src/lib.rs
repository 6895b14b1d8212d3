//! The messages of etcd's v3 API, for [`prost`].
//!
//! They are written by hand, so a build needs no protobuf compiler. Keys and values are `Bytes`: a
//! message that is decoded from a `Bytes` buffer shares it, so what outlives the message should be
//! copied. Messages that no Kubernetes program and no `etcdctl` command sends to a single store are
//! absent; decoding skips unknown fields. There is no service here: the paths are constants.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod header;
mod kv;
mod lease;
mod maintenance;
mod path;
mod watch;

pub use header::{KeyValue, ResponseHeader};
pub use kv::{
    CompactionRequest, CompactionResponse, Compare, CompareOperand, CompareResult, CompareTarget,
    DeleteRangeRequest, DeleteRangeResponse, Operation, OperationResponse, PutRequest, PutResponse,
    RangeRequest, RangeResponse, RequestOp, ResponseOp, SortOrder, SortTarget, TxnRequest,
    TxnResponse,
};
pub use lease::{
    LeaseGrantRequest, LeaseGrantResponse, LeaseKeepAliveRequest, LeaseKeepAliveResponse,
    LeaseLeasesRequest, LeaseLeasesResponse, LeaseRevokeRequest, LeaseRevokeResponse, LeaseStatus,
    LeaseTimeToLiveRequest, LeaseTimeToLiveResponse,
};
pub use maintenance::{
    AlarmAction, AlarmMember, AlarmRequest, AlarmResponse, AlarmType, AuthStatusRequest,
    AuthStatusResponse, DefragmentRequest, DefragmentResponse, Member, MemberListRequest,
    MemberListResponse, StatusRequest, StatusResponse,
};
pub use path::{
    ALARM, AUTH_STATUS, COMPACT, DEFRAGMENT, DELETE_RANGE, LEASE_GRANT, LEASE_KEEP_ALIVE,
    LEASE_LEASES, LEASE_REVOKE, LEASE_TIME_TO_LIVE, MEMBER_LIST, PUT, RANGE, STATUS, TXN, WATCH,
};
pub use watch::{
    Event, EventType, FilterType, WatchCancelRequest, WatchCreateRequest, WatchProgressRequest,
    WatchRequest, WatchRequestUnion, WatchResponse,
};

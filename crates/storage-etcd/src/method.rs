//! The gRPC methods that the engine calls: their paths, and whether they may be retried.

use kubist_etcd_api::{
    CompactionRequest, CompactionResponse, DeleteRangeRequest, DeleteRangeResponse,
    LeaseGrantRequest, LeaseGrantResponse, LeaseRevokeRequest, LeaseRevokeResponse, PutRequest,
    PutResponse, RangeRequest, RangeResponse, StatusRequest, StatusResponse, TxnRequest,
    TxnResponse,
};
use std::marker::PhantomData;

/// The path of watch streams, the only method that is not unary.
pub(crate) const WATCH_PATH: &str = "/etcdserverpb.Watch/Watch";

pub(crate) const RANGE: Method<RangeRequest, RangeResponse> =
    Method::reading("/etcdserverpb.KV/Range");
pub(crate) const PUT: Method<PutRequest, PutResponse> = Method::writing("/etcdserverpb.KV/Put");
pub(crate) const DELETE: Method<DeleteRangeRequest, DeleteRangeResponse> =
    Method::writing("/etcdserverpb.KV/DeleteRange");
pub(crate) const TXN: Method<TxnRequest, TxnResponse> = Method::writing("/etcdserverpb.KV/Txn");
pub(crate) const COMPACT: Method<CompactionRequest, CompactionResponse> =
    Method::writing("/etcdserverpb.KV/Compact");
/// Granting twice is harmless: a lease without keys expires.
pub(crate) const LEASE_GRANT: Method<LeaseGrantRequest, LeaseGrantResponse> =
    Method::reading("/etcdserverpb.Lease/LeaseGrant");
pub(crate) const LEASE_REVOKE: Method<LeaseRevokeRequest, LeaseRevokeResponse> =
    Method::writing("/etcdserverpb.Lease/LeaseRevoke");
pub(crate) const STATUS: Method<StatusRequest, StatusResponse> =
    Method::reading("/etcdserverpb.Maintenance/Status");

/// A unary method.
pub(crate) struct Method<Q, A> {
    pub(crate) path: &'static str,
    /// Whether it may be retried when the outcome of the first call is unknown.
    pub(crate) repeatable: bool,
    messages: PhantomData<fn(Q) -> A>,
}

impl<Q, A> Method<Q, A> {
    const fn reading(path: &'static str) -> Self {
        Self {
            path,
            repeatable: true,
            messages: PhantomData,
        }
    }

    const fn writing(path: &'static str) -> Self {
        Self {
            path,
            repeatable: false,
            messages: PhantomData,
        }
    }
}

//! The service `Lease`.

use crate::header::signed;
use crate::refusal;
use crate::service::Etcd;
use futures_util::stream::{BoxStream, StreamExt as _, unfold};
use kubist_etcd_api as api;
use kubist_storage::{LeaseError, LeaseId};
use std::time::Duration;
use tonic::{Status, Streaming};

/// etcd's shortest lifetime with its default election timeout.
const TTL_SECONDS_MIN: u64 = 2;
/// The response for a lease that does not exist.
const NO_LEASE: i64 = -1;

impl Etcd {
    pub(crate) async fn lease_grant(
        self,
        request: api::LeaseGrantRequest,
    ) -> Result<api::LeaseGrantResponse, Status> {
        let seconds = u64::try_from(request.ttl).unwrap_or(0).max(TTL_SECONDS_MIN);
        let ttl = Duration::from_secs(seconds);
        let lease = if request.id == 0 {
            self.grant_new(ttl).await
        } else {
            let lease = LeaseId(request.id);
            self.kv().grant_as(lease, ttl).await.map(|()| lease)
        };
        let lease = lease.map_err(refusal::of_lease)?;
        Ok(api::LeaseGrantResponse {
            header: Some(self.current_header().await?),
            id: lease.0,
            ttl: signed(seconds),
            error: String::new(),
        })
    }

    /// Grants a lease with an id that no client of another process of this store has: those of a
    /// store in memory would begin anew with it, and a client could keep another's lease alive.
    async fn grant_new(&self, ttl: Duration) -> Result<LeaseId, LeaseError> {
        loop {
            let lease = LeaseId(self.next_lease());
            match self.kv().grant_as(lease, ttl).await {
                Err(LeaseError::Exists { .. }) => {}
                granted => return granted.map(|()| lease),
            }
        }
    }

    pub(crate) async fn lease_revoke(
        self,
        request: api::LeaseRevokeRequest,
    ) -> Result<api::LeaseRevokeResponse, Status> {
        let revoked = self.kv().revoke(LeaseId(request.id)).await;
        revoked.map_err(refusal::of_lease)?;
        Ok(api::LeaseRevokeResponse {
            header: Some(self.current_header().await?),
        })
    }

    pub(crate) async fn lease_time_to_live(
        self,
        request: api::LeaseTimeToLiveRequest,
    ) -> Result<api::LeaseTimeToLiveResponse, Status> {
        let header = Some(self.current_header().await?);
        let id = request.id;
        match self.kv().lease(LeaseId(id)).await {
            Ok(status) => Ok(api::LeaseTimeToLiveResponse {
                header,
                id,
                ttl: signed(status.remaining.as_secs()),
                granted_ttl: signed(status.ttl.as_secs()),
                keys: if request.keys {
                    status.keys
                } else {
                    Vec::new()
                },
            }),
            Err(LeaseError::NotFound { .. }) => Ok(api::LeaseTimeToLiveResponse {
                header,
                id,
                ttl: NO_LEASE,
                ..api::LeaseTimeToLiveResponse::default()
            }),
            Err(error) => Err(refusal::of_lease(error)),
        }
    }

    pub(crate) async fn lease_leases(
        self,
        _: api::LeaseLeasesRequest,
    ) -> Result<api::LeaseLeasesResponse, Status> {
        let leases = self.kv().leases().await.map_err(refusal::of_lease)?;
        let leases = leases.into_iter().map(|id| api::LeaseStatus { id: id.0 });
        Ok(api::LeaseLeasesResponse {
            header: Some(self.current_header().await?),
            leases: leases.collect(),
        })
    }

    /// Answers each request of a stream.
    pub(crate) fn lease_keep_alive(
        self,
        requests: Streaming<api::LeaseKeepAliveRequest>,
    ) -> BoxStream<'static, Result<api::LeaseKeepAliveResponse, Status>> {
        unfold((self, requests), |(etcd, mut requests)| async move {
            let response = match requests.message().await {
                Ok(Some(request)) => etcd.keep_alive(request).await,
                Ok(None) => return None,
                Err(status) => Err(status),
            };
            Some((response, (etcd, requests)))
        })
        .boxed()
    }

    async fn keep_alive(
        &self,
        request: api::LeaseKeepAliveRequest,
    ) -> Result<api::LeaseKeepAliveResponse, Status> {
        let ttl = match self.kv().keep_alive(LeaseId(request.id)).await {
            Ok(ttl) => signed(ttl.as_secs()),
            Err(LeaseError::NotFound { .. }) => 0,
            Err(error) => return Err(refusal::of_lease(error)),
        };
        Ok(api::LeaseKeepAliveResponse {
            header: Some(self.current_header().await?),
            id: request.id,
            ttl,
        })
    }
}

//! Reads of a key, of a range, and of the current revision.

use crate::engine::Shared;
use crate::method::{RANGE, STATUS};
use crate::refusal::Refusal;
use crate::translate::{LOWEST_KEY, bounds, head, key_value, number};
use bytes::Bytes;
use kubist_etcd_api as api;
use kubist_storage::{GetResponse, RangeRequest, RangeResponse, ReadError, Revision};

impl Shared {
    pub(crate) async fn get(
        &self,
        key: &[u8],
        at: Option<Revision>,
    ) -> Result<GetResponse, ReadError> {
        let absent = key.is_empty();
        let key = if absent {
            LOWEST_KEY
        } else {
            Bytes::copy_from_slice(key)
        };
        let message = api::RangeRequest {
            key,
            count_only: absent,
            ..api::RangeRequest::default()
        };
        let answer = self.read(message, at).await?;
        Ok(GetResponse {
            revision: head(answer.header.as_ref()),
            kv: answer.kvs.into_iter().next().map(key_value),
        })
    }

    pub(crate) async fn range(&self, request: RangeRequest) -> Result<RangeResponse, ReadError> {
        let Some((key, range_end)) = bounds(&request.range) else {
            return self.nothing(request.at).await;
        };
        let message = api::RangeRequest {
            key,
            range_end,
            limit: request
                .limit
                .map_or(0, |limit| i64::try_from(limit).unwrap_or(i64::MAX)),
            count_only: request.limit == Some(0),
            ..api::RangeRequest::default()
        };
        let answer = self.read(message, request.at).await?;
        let count = usize::try_from(answer.count).unwrap_or(0);
        Ok(RangeResponse {
            revision: head(answer.header.as_ref()),
            more: count > answer.kvs.len(),
            count,
            kvs: answer.kvs.into_iter().map(key_value).collect(),
        })
    }

    /// The response for an empty range; the revision may still be invalid.
    async fn nothing(&self, at: Option<Revision>) -> Result<RangeResponse, ReadError> {
        let GetResponse { revision, .. } = self.get(b"", at).await?;
        Ok(RangeResponse {
            kvs: Vec::new(),
            count: 0,
            more: false,
            revision,
        })
    }

    pub(crate) async fn revision(&self) -> Result<Revision, ReadError> {
        Ok(self.get(b"", None).await?.revision)
    }

    /// Bytes allocated on the disk of the responding member.
    pub(crate) async fn size_bytes(&self) -> Result<Option<u64>, ReadError> {
        match self.call(&STATUS, api::StatusRequest {}).await {
            Ok(status) => Ok(u64::try_from(status.db_size).ok()),
            Err(None) => Err(ReadError::Closed),
            Err(Some(refusal)) => Err(refusal.into_fault().into()),
        }
    }

    async fn read(
        &self,
        mut message: api::RangeRequest,
        at: Option<Revision>,
    ) -> Result<api::RangeResponse, ReadError> {
        if let Some(at) = at {
            // Zero means before all history; to etcd it means the current revision.
            message.revision = number(at).max(1);
        }
        let requested = at.unwrap_or_default();
        match self.call(&RANGE, message).await {
            Ok(answer) => Ok(answer),
            Err(None) => Err(ReadError::Closed),
            Err(Some(Refusal::Compacted)) => Err(ReadError::Compacted {
                requested,
                compacted: self.compacted(),
            }),
            Err(Some(Refusal::FutureRevision)) => Err(self.future(requested).await),
            Err(Some(other)) => Err(other.into_fault().into()),
        }
    }

    /// etcd's error has no current revision, which the caller needs.
    async fn future(&self, requested: Revision) -> ReadError {
        let message = api::RangeRequest {
            key: LOWEST_KEY,
            count_only: true,
            ..api::RangeRequest::default()
        };
        let answer = self.call(&RANGE, message).await;
        let current = answer.map_or(Revision::ZERO, |answer| head(answer.header.as_ref()));
        ReadError::FutureRevision { requested, current }
    }
}

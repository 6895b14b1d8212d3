//! The service `KV`.

use crate::range::{Reading, made_of};
use crate::refusal;
use crate::service::Etcd;
use crate::txn::{self, Checked};
use kubist_etcd_api as api;
use kubist_etcd_api::OperationResponse;
use kubist_storage::{RangeRequest, Revision};
use tonic::Status;

/// A transaction that was done.
struct Done {
    held: bool,
    revision: Revision,
    responses: Vec<OperationResponse>,
}

impl Etcd {
    pub(crate) async fn range(
        self,
        request: api::RangeRequest,
    ) -> Result<api::RangeResponse, Status> {
        let reading = Reading::of(request)?;
        let (response, revision) = match (reading.at, self.kv().head()) {
            (None, Some((tree, revision))) => {
                let made = made_of(reading.keys(&tree), move || reading.of_tree(&tree));
                (made.await?, revision)
            }
            (at, _) => {
                let request = RangeRequest {
                    range: reading.range.clone(),
                    at,
                    limit: reading.read_max(),
                };
                let page = self.kv().range(request).await.map_err(refusal::of_read)?;
                let revision = page.revision;
                let made = made_of(page.kvs.len(), move || {
                    reading.response(page.kvs, page.count)
                });
                (made.await?, revision)
            }
        };
        Ok(api::RangeResponse {
            header: Some(self.header(revision)),
            ..response
        })
    }

    pub(crate) async fn put(self, request: api::PutRequest) -> Result<api::PutResponse, Status> {
        let (revision, response) = self.single(txn::put(request)?).await?;
        let header = Some(self.header(revision));
        match response {
            Some(OperationResponse::Put(response)) => Ok(api::PutResponse { header, ..response }),
            _ => Err(Status::internal("a put has no result")),
        }
    }

    pub(crate) async fn delete_range(
        self,
        request: api::DeleteRangeRequest,
    ) -> Result<api::DeleteRangeResponse, Status> {
        let (revision, response) = self.single(txn::delete(request)?).await?;
        let header = Some(self.header(revision));
        match response {
            Some(OperationResponse::Delete(response)) => {
                Ok(api::DeleteRangeResponse { header, ..response })
            }
            _ => Err(Status::internal("a delete has no result")),
        }
    }

    pub(crate) async fn txn(self, request: api::TxnRequest) -> Result<api::TxnResponse, Status> {
        let operations_max = self.config().txn_operations_max;
        let done = self.transact(Checked::of(request, operations_max)?).await?;
        let responses = done.responses.into_iter().map(|response| {
            let response = Some(response);
            api::ResponseOp { response }
        });
        Ok(api::TxnResponse {
            succeeded: done.held,
            responses: responses.collect(),
            header: Some(self.header(done.revision)),
        })
    }

    pub(crate) async fn compact(
        self,
        request: api::CompactionRequest,
    ) -> Result<api::CompactionResponse, Status> {
        let revision = Revision(u64::try_from(request.revision).unwrap_or(0));
        let compacted = self.kv().compact(revision).await;
        compacted.map_err(refusal::of_compaction)?;
        Ok(api::CompactionResponse {
            header: Some(self.current_header().await?),
        })
    }

    /// Does one operation, and returns the revision after it.
    async fn single(
        &self,
        step: (kubist_storage::Operation, txn::Wanted),
    ) -> Result<(Revision, Option<OperationResponse>), Status> {
        let mut done = self.transact(Checked::single(step)).await?;
        Ok((done.revision, done.responses.pop()))
    }

    async fn transact(&self, checked: Checked) -> Result<Done, Status> {
        let outcome = self.kv().transact(checked.transaction).await;
        let outcome = outcome.map_err(refusal::of_write)?;
        Ok(Done {
            held: outcome.held,
            revision: outcome.revision,
            responses: checked.answers.of(outcome),
        })
    }
}

//! The compactor, one of possibly many on the cluster.
//!
//! Whoever writes the compaction key in a round compacts to the revision of the previous round, so
//! every version stays readable for at least one round. The key, its place outside all prefixes and
//! the comparison of its version are upstream's, so API servers of both kinds can share a cluster.

use crate::engine::Shared;
use crate::method::{COMPACT, TXN};
use crate::refusal::Refusal;
use crate::translate::{head, number, revision};
use bytes::Bytes;
use kubist_etcd_api::{
    self as api, CompareOperand, CompareTarget, Operation, OperationResponse, RequestOp,
};
use kubist_storage::{CompactError, Revision};
use std::time::Duration;
use tokio::time::sleep;

const KEY: Bytes = Bytes::from_static(b"compact_rev_key");

/// The result of the last round.
#[derive(Debug, Default)]
pub(crate) struct Round {
    /// The version of the key: how often it was written.
    version: i64,
    /// The revision of the store.
    head: Revision,
}

impl Shared {
    pub(crate) async fn compact(&self, at: Revision) -> Result<(), CompactError> {
        let message = api::CompactionRequest {
            revision: number(at),
            ..api::CompactionRequest::default()
        };
        match self.call(&COMPACT, message).await {
            Ok(_) => {
                self.note_compacted(at);
                Ok(())
            }
            Err(None) => Err(CompactError::Closed),
            Err(Some(Refusal::Compacted)) => Err(CompactError::Compacted {
                requested: at,
                compacted: self.compacted(),
            }),
            Err(Some(Refusal::FutureRevision)) => Err(CompactError::FutureRevision {
                requested: at,
                current: self.revision().await.unwrap_or_default(),
            }),
            Err(Some(other)) => Err(other.into_fault().into()),
        }
    }

    /// Runs a round at each interval, for ever.
    pub(crate) async fn keep_compacting(&self, every: Duration) {
        let mut round = Round::default();
        loop {
            sleep(every).await;
            match self.compaction_round(&mut round).await {
                Ok(()) => {}
                Err(CompactError::Closed) => return,
                Err(error) => tracing::warn!(%error, "history could not be given up"),
            }
        }
    }

    /// Runs one round. The first only reads: the key may have been written a moment ago.
    pub(crate) async fn compaction_round(&self, round: &mut Round) -> Result<(), CompactError> {
        let before = std::mem::take(&mut round.head);
        let answer = self.call(&TXN, turn(round.version, before)).await;
        let answer = answer.map_err(|failed| match failed {
            None => CompactError::Closed,
            Some(refusal) => refusal.into_fault().into(),
        })?;
        round.head = head(answer.header.as_ref());
        if !answer.succeeded {
            let read = answer.responses.into_iter().next();
            let kvs = match read.and_then(|read| read.response) {
                Some(OperationResponse::Range(read)) => read.kvs,
                _ => Vec::new(),
            };
            let Some(kv) = kvs.first() else {
                // The key was removed: start over.
                round.version = 0;
                return Ok(());
            };
            round.version = kv.version;
            let done = String::from_utf8_lossy(&kv.value).parse().unwrap_or(0);
            self.note_compacted(revision(done));
            return Ok(());
        }
        round.version += 1;
        if before == Revision::ZERO {
            return Ok(());
        }
        match self.compact(before).await {
            Err(CompactError::Compacted { .. }) => Ok(()),
            other => other,
        }
    }
}

/// Writes the key if nobody has since it had this version.
fn turn(version: i64, compacted: Revision) -> api::TxnRequest {
    let step = |operation| RequestOp {
        request: Some(operation),
    };
    api::TxnRequest {
        compare: vec![api::Compare {
            target: CompareTarget::Version.into(),
            key: KEY,
            operand: Some(CompareOperand::Version(version)),
            ..api::Compare::default()
        }],
        success: vec![step(Operation::Put(api::PutRequest {
            key: KEY,
            value: compacted.to_string().into(),
            ..api::PutRequest::default()
        }))],
        failure: vec![step(Operation::Range(api::RangeRequest {
            key: KEY,
            ..api::RangeRequest::default()
        }))],
    }
}

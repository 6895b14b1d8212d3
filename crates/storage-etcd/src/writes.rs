//! Compare-and-set puts and deletes: one transaction each, which reads the key on a conflict.

use crate::engine::Shared;
use crate::method::{DELETE, Method, PUT, TXN};
use crate::refusal::Refusal;
use crate::translate::{head, key_value, number};
use bytes::Bytes;
use kubist_etcd_api::{
    self as api, CompareOperand, CompareTarget, Operation, OperationResponse, RequestOp,
};
use kubist_storage::{DeleteRequest, Expected, Guard, LeaseId, PutRequest, ReadError, Revision};
use kubist_storage::{WriteError, WriteOutcome};
use prost::Message;

/// The context of an error.
#[derive(Clone, Copy)]
struct Write {
    bytes: usize,
    lease: LeaseId,
}

impl Shared {
    pub(crate) async fn put(&self, request: PutRequest) -> Result<WriteOutcome, WriteError> {
        if request.key.is_empty() {
            return Err(WriteError::EmptyKey);
        }
        let lease = request.lease.unwrap_or(LeaseId(0));
        let write = Write {
            bytes: request.key.len() + request.value.len(),
            lease,
        };
        if request.guards.iter().any(|guard| guard.key.is_empty()) {
            return Err(WriteError::EmptyKey);
        }
        let key = request.key.clone();
        let mut compares: Vec<_> = request.guards.into_iter().map(compare).collect();
        let put = api::PutRequest {
            key: request.key,
            value: request.value,
            lease: lease.0,
            ..api::PutRequest::default()
        };
        match request.expected {
            Expected::Any if compares.is_empty() => {
                let answer = self.write(&PUT, put, write).await?;
                let revision = head(answer.header.as_ref());
                return Ok(WriteOutcome::Committed { revision });
            }
            Expected::Any => {}
            Expected::Absent => compares.push(modified(&key, Revision::ZERO)),
            Expected::Revision(revision) => compares.push(modified(&key, revision)),
        }
        let operation = Operation::Put(put);
        self.write_if(key, compares, operation, request.read_on_conflict, write)
            .await
    }

    pub(crate) async fn delete(&self, request: DeleteRequest) -> Result<WriteOutcome, WriteError> {
        if request.key.is_empty() {
            return Err(WriteError::EmptyKey);
        }
        let write = Write {
            bytes: request.key.len(),
            lease: LeaseId(0),
        };
        let key = request.key.clone();
        let delete = api::DeleteRangeRequest {
            key: request.key,
            ..api::DeleteRangeRequest::default()
        };
        match request.expected {
            Expected::Any => {
                let answer = self.write(&DELETE, delete, write).await?;
                let revision = head(answer.header.as_ref());
                Ok(if answer.deleted > 0 {
                    WriteOutcome::Committed { revision }
                } else {
                    WriteOutcome::Conflict {
                        revision,
                        current: None,
                    }
                })
            }
            // An absent key cannot be deleted: the result is the current state.
            Expected::Absent | Expected::Revision(Revision::ZERO) => {
                let found = self.get(&key, None).await.map_err(write_error)?;
                Ok(WriteOutcome::Conflict {
                    revision: found.revision,
                    current: found.kv,
                })
            }
            Expected::Revision(expected) => {
                let operation = Operation::Delete(delete);
                let compares = vec![modified(&key, expected)];
                self.write_if(key, compares, operation, request.read_on_conflict, write)
                    .await
            }
        }
    }

    async fn write_if(
        &self,
        key: Bytes,
        compares: Vec<api::Compare>,
        operation: Operation,
        read_on_conflict: bool,
        write: Write,
    ) -> Result<WriteOutcome, WriteError> {
        let read = Operation::Range(api::RangeRequest {
            key,
            ..api::RangeRequest::default()
        });
        let step = |operation| RequestOp {
            request: Some(operation),
        };
        let failure = if read_on_conflict {
            vec![step(read)]
        } else {
            Vec::new()
        };
        let txn = api::TxnRequest {
            compare: compares,
            success: vec![step(operation)],
            failure,
        };
        let answer = self.write(&TXN, txn, write).await?;
        let revision = head(answer.header.as_ref());
        if answer.succeeded {
            return Ok(WriteOutcome::Committed { revision });
        }
        let read = answer.responses.into_iter().next();
        let kvs = match read.and_then(|read| read.response) {
            Some(OperationResponse::Range(read)) => read.kvs,
            _ => Vec::new(),
        };
        Ok(WriteOutcome::Conflict {
            revision,
            current: kvs.into_iter().next().map(key_value),
        })
    }

    async fn write<Q, A>(
        &self,
        method: &Method<Q, A>,
        message: Q,
        write: Write,
    ) -> Result<A, WriteError>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        let failed = match self.call(method, message).await {
            Ok(answer) => return Ok(answer),
            Err(failed) => failed,
        };
        Err(match failed {
            None => WriteError::Closed,
            Some(Refusal::TooLarge) => WriteError::TooLarge {
                bytes: write.bytes,
                bytes_max: 0,
            },
            Some(Refusal::LeaseNotFound) => WriteError::LeaseNotFound { lease: write.lease },
            Some(other) => other.into_fault().into(),
        })
    }
}

/// Compares the modification revision of a key; zero means that it is absent.
fn modified(key: &Bytes, revision: Revision) -> api::Compare {
    api::Compare {
        target: CompareTarget::Mod.into(),
        key: key.clone(),
        operand: Some(CompareOperand::ModRevision(number(revision))),
        ..api::Compare::default()
    }
}

fn compare(guard: Guard) -> api::Compare {
    modified(&guard.key, guard.revision)
}

fn write_error(error: ReadError) -> WriteError {
    match error {
        ReadError::Fault(fault) => fault.into(),
        _ => WriteError::Closed,
    }
}

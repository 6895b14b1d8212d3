//! Transactions: checked as etcd checks them, converted to the engine's, and answered.

use crate::header::{length, message, number};
use crate::range::{Reading, key_range};
use crate::refusal;
use bytes::Bytes;
use kubist_etcd_api as api;
use kubist_etcd_api::{CompareOperand, CompareResult, CompareTarget};
use kubist_storage::{
    Comparison, KeyRange, LeaseId, Operand, Operation, OperationResult, Performed, PutLease,
    Relation, Revision, Transaction, TransactionOutcome,
};
use std::collections::BTreeSet;
use tonic::Status;

/// What the response to an operation has, beyond what the engine returns.
#[derive(Debug)]
pub(crate) enum Wanted {
    Range(Box<Reading>),
    Put { previous: bool },
    Delete { previous: bool },
}

/// An operation for the engine, and what its response has.
type Step = (Operation, Wanted);

/// A checked transaction.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) transaction: Transaction,
    pub(crate) answers: Answers,
}

impl Checked {
    /// Checks a request.
    pub(crate) fn of(request: api::TxnRequest, operations_max: usize) -> Result<Self, Status> {
        let lengths = [
            request.compare.len(),
            request.success.len(),
            request.failure.len(),
        ];
        if lengths.into_iter().any(|it| it > operations_max) {
            return Err(refusal::too_many_operations());
        }
        let compare = request.compare.into_iter().map(comparison);
        let compare = compare.collect::<Result<_, _>>()?;
        let (success, wanted_if) = branch(request.success)?;
        let (failure, wanted_else) = branch(request.failure)?;
        Ok(Self {
            transaction: Transaction {
                compare,
                success,
                failure,
            },
            answers: Answers {
                success: wanted_if,
                failure: wanted_else,
            },
        })
    }

    /// A transaction of one operation that depends on nothing.
    pub(crate) fn single((operation, wanted): Step) -> Self {
        Self {
            transaction: Transaction {
                success: vec![operation],
                ..Transaction::default()
            },
            answers: Answers {
                success: vec![wanted],
                failure: Vec::new(),
            },
        }
    }
}

/// What to answer to a transaction.
#[derive(Debug)]
pub(crate) struct Answers {
    success: Vec<Wanted>,
    failure: Vec<Wanted>,
}

impl Answers {
    /// Returns the responses of the branch that was done.
    pub(crate) fn of(&self, outcome: TransactionOutcome) -> Vec<api::OperationResponse> {
        let wanted = if outcome.held {
            &self.success
        } else {
            &self.failure
        };
        let results = wanted.iter().zip(outcome.results);
        results.filter_map(|(it, done)| it.response(done)).collect()
    }
}

impl Wanted {
    /// `None` if the result is that of another operation, which the engine's order excludes.
    fn response(&self, done: Performed) -> Option<api::OperationResponse> {
        // The header of an operation has nothing but a revision, as etcd's.
        let header = Some(api::ResponseHeader {
            revision: number(done.revision),
            ..api::ResponseHeader::default()
        });
        match (self, done.result) {
            (Self::Range(reading), OperationResult::Read(tree)) => {
                let response = reading.of_tree(&tree);
                Some(api::OperationResponse::Range(api::RangeResponse {
                    header,
                    ..response
                }))
            }
            (Self::Put { previous: wanted }, OperationResult::Put { previous }) => {
                let previous = previous.filter(|_| *wanted);
                Some(api::OperationResponse::Put(api::PutResponse {
                    header,
                    prev_kv: previous.map(|kv| message(&kv)),
                }))
            }
            (Self::Delete { previous }, OperationResult::Deleted(deleted)) => {
                let previous = if *previous { &deleted[..] } else { &[] };
                Some(api::OperationResponse::Delete(api::DeleteRangeResponse {
                    header,
                    deleted: length(deleted.len()),
                    prev_kvs: previous.iter().map(|kv| message(kv)).collect(),
                }))
            }
            _ => {
                debug_assert!(false, "the engine returns the results in order");
                None
            }
        }
    }
}

/// Checks a put.
pub(crate) fn put(request: api::PutRequest) -> Result<Step, Status> {
    if request.key.is_empty() {
        return Err(refusal::empty_key());
    }
    if request.ignore_value && !request.value.is_empty() {
        return Err(refusal::value_provided());
    }
    if request.ignore_lease && request.lease != 0 {
        return Err(refusal::lease_provided());
    }
    let lease = Some(LeaseId(request.lease)).filter(|lease| lease.0 != 0);
    // A slice would keep the whole request in memory.
    let value = || Bytes::copy_from_slice(&request.value);
    let operation = Operation::Put {
        key: request.key,
        value: (!request.ignore_value).then(value),
        lease: if request.ignore_lease {
            PutLease::Keep
        } else {
            PutLease::Set(lease)
        },
    };
    let wanted = Wanted::Put {
        previous: request.prev_kv,
    };
    Ok((operation, wanted))
}

/// Checks a delete.
pub(crate) fn delete(request: api::DeleteRangeRequest) -> Result<Step, Status> {
    if request.key.is_empty() {
        return Err(refusal::empty_key());
    }
    let operation = Operation::Delete(key_range(request.key, request.range_end));
    let wanted = Wanted::Delete {
        previous: request.prev_kv,
    };
    Ok((operation, wanted))
}

fn branch(operations: Vec<api::RequestOp>) -> Result<(Vec<Operation>, Vec<Wanted>), Status> {
    let steps = operations.into_iter().map(step);
    let (operations, wanted): (Vec<_>, _) =
        steps.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
    check_keys(&operations)?;
    Ok((operations, wanted))
}

fn step(operation: api::RequestOp) -> Result<Step, Status> {
    match operation.request {
        Some(api::Operation::Range(request)) => {
            let reading = Reading::of(request)?;
            if reading.at.is_some() {
                let what = "a read of an earlier revision inside a transaction";
                return Err(refusal::unsupported(what));
            }
            Ok((Operation::Read, Wanted::Range(Box::new(reading))))
        }
        Some(api::Operation::Put(request)) => put(request),
        Some(api::Operation::Delete(request)) => delete(request),
        Some(api::Operation::Txn(_)) => {
            Err(refusal::unsupported("a transaction inside a transaction"))
        }
        // etcd's own answer to an operation that it does not know.
        None => Err(refusal::empty_key()),
    }
}

/// No key may be written twice, nor be written and deleted.
fn check_keys(operations: &[Operation]) -> Result<(), Status> {
    let mut written = BTreeSet::new();
    let mut deleted: Vec<&KeyRange> = Vec::new();
    for operation in operations {
        match operation {
            Operation::Put { key, .. } if !written.insert(key) => {
                return Err(refusal::duplicate_key());
            }
            Operation::Delete(range) => deleted.push(range),
            Operation::Put { .. } | Operation::Read => {}
        }
    }
    let is_deleted = |key: &&Bytes| deleted.iter().any(|range| range.contains(key));
    if written.iter().any(is_deleted) {
        return Err(refusal::duplicate_key());
    }
    Ok(())
}

fn comparison(compare: api::Compare) -> Result<Comparison, Status> {
    if compare.key.is_empty() {
        return Err(refusal::empty_key());
    }
    if !compare.range_end.is_empty() {
        return Err(refusal::unsupported("a comparison of a range"));
    }
    let result = CompareResult::try_from(compare.result);
    let relation = match result.map_err(|_| refusal::unsupported("this comparison"))? {
        CompareResult::Equal => Relation::Equal,
        CompareResult::Greater => Relation::Greater,
        CompareResult::Less => Relation::Less,
        CompareResult::NotEqual => Relation::NotEqual,
    };
    let target = CompareTarget::try_from(compare.target);
    let target = target.map_err(|_| refusal::unsupported("this comparison"))?;
    Ok(Comparison {
        key: compare.key,
        relation,
        operand: operand(target, compare.operand),
    })
}

/// An operand of another kind than the target counts as absent, which is zero or empty.
fn operand(target: CompareTarget, operand: Option<CompareOperand>) -> Operand {
    let unsigned = |number: i64| u64::try_from(number).unwrap_or(0);
    match (target, operand) {
        (CompareTarget::Version, Some(CompareOperand::Version(it))) => {
            Operand::Version(unsigned(it))
        }
        (CompareTarget::Version, _) => Operand::Version(0),
        (CompareTarget::Create, Some(CompareOperand::CreateRevision(it))) => {
            Operand::CreateRevision(Revision(unsigned(it)))
        }
        (CompareTarget::Create, _) => Operand::CreateRevision(Revision::ZERO),
        (CompareTarget::Mod, Some(CompareOperand::ModRevision(it))) => {
            Operand::ModRevision(Revision(unsigned(it)))
        }
        (CompareTarget::Mod, _) => Operand::ModRevision(Revision::ZERO),
        (CompareTarget::Value, Some(CompareOperand::Value(it))) => Operand::Value(it),
        (CompareTarget::Value, _) => Operand::Value(Bytes::new()),
        (CompareTarget::Lease, Some(CompareOperand::Lease(it))) => Operand::Lease(LeaseId(it)),
        (CompareTarget::Lease, _) => Operand::Lease(LeaseId(0)),
    }
}

//! `Transaction`: comparisons of several keys, and the reads and writes that depend on them.
//!
//! It is etcd's, with one difference: each write has a revision of its own, so a transaction of
//! several writes takes several, in the order of its operations, with nothing in between.

use crate::memory::Tree;
use crate::{KeyRange, KeyValue, LeaseId, Revision};
use bytes::Bytes;
use std::cmp::Ordering;
use std::sync::Arc;

/// The request of [`KvTransact::transact`](crate::KvTransact::transact).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a transaction has no other parts"
)]
pub struct Transaction {
    /// What must hold for `success`. Nothing holds always.
    pub compare: Vec<Comparison>,
    /// The operations if all comparisons hold.
    pub success: Vec<Operation>,
    /// The operations if one does not.
    pub failure: Vec<Operation>,
}

/// A comparison of the newest version of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a comparison has no other parts")]
pub struct Comparison {
    /// The key, not empty.
    pub key: Bytes,
    /// How the version must relate to the operand.
    pub relation: Relation,
    /// What it is compared with.
    pub operand: Operand,
}

/// How a part of a version must relate to the operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an order has no other relations")]
pub enum Relation {
    /// It is the same.
    Equal,
    /// It is another.
    NotEqual,
    /// It is above the operand.
    Greater,
    /// It is below the operand.
    Less,
}

/// The part of a version that is compared, and with what. An absent key has zeros, and a value that
/// relates to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every engine must decide on each")]
pub enum Operand {
    /// The number of writes since its creation.
    Version(u64),
    /// The revision of its creation.
    CreateRevision(Revision),
    /// The revision of its last write.
    ModRevision(Revision),
    /// Its value, in byte order.
    Value(Bytes),
    /// Its lease; zero for none.
    Lease(LeaseId),
}

/// An operation of a transaction. No two may write the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every engine must decide on each")]
pub enum Operation {
    /// Returns the state at this point, with the writes of earlier operations.
    Read,
    /// Writes a key.
    Put {
        /// The key, not empty.
        key: Bytes,
        /// The value; `None` keeps that of the existing key.
        value: Option<Bytes>,
        /// The lease.
        lease: PutLease,
    },
    /// Deletes all keys of a range.
    Delete(KeyRange),
}

/// The lease of a key that a transaction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third")]
pub enum PutLease {
    /// That of the existing key.
    Keep,
    /// This one, or none.
    Set(Option<LeaseId>),
}

/// The result of a transaction.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a result has no other parts")]
pub struct TransactionOutcome {
    /// Whether all comparisons held.
    pub held: bool,
    /// The revision of the store after the transaction.
    pub revision: Revision,
    /// The results of the operations, in their order.
    pub results: Vec<Performed>,
}

/// An operation that was done.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a result has no other parts")]
pub struct Performed {
    /// The revision of the store after the operation.
    pub revision: Revision,
    /// Its result.
    pub result: OperationResult,
}

/// The result of an operation.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "one for each operation")]
pub enum OperationResult {
    /// The state that was read.
    Read(Tree),
    /// What a put replaced.
    Put {
        /// The version that it replaced.
        previous: Option<Arc<KeyValue>>,
    },
    /// What a delete removed, in byte order.
    Deleted(Vec<Arc<KeyValue>>),
}

impl Comparison {
    /// Reports whether it holds for a key with this newest version.
    pub fn holds(&self, current: Option<&KeyValue>) -> bool {
        let revision = |it: fn(&KeyValue) -> Revision| current.map_or(Revision::ZERO, it);
        let order = match &self.operand {
            Operand::Version(operand) => current.map_or(0, |kv| kv.version).cmp(operand),
            Operand::CreateRevision(operand) => revision(|kv| kv.create_revision).cmp(operand),
            Operand::ModRevision(operand) => revision(|kv| kv.mod_revision).cmp(operand),
            Operand::Value(operand) => match current {
                Some(kv) => kv.value.cmp(operand),
                None => return false,
            },
            Operand::Lease(operand) => {
                let lease = current.and_then(|kv| kv.lease);
                lease.unwrap_or(LeaseId(0)).cmp(operand)
            }
        };
        match self.relation {
            Relation::Equal => order == Ordering::Equal,
            Relation::NotEqual => order != Ordering::Equal,
            Relation::Greater => order == Ordering::Greater,
            Relation::Less => order == Ordering::Less,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Note;

    fn holds(relation: Relation, operand: Operand, current: Option<&KeyValue>) -> bool {
        let comparison = Comparison {
            key: Bytes::from("a"),
            relation,
            operand,
        };
        comparison.holds(current)
    }

    #[test]
    fn absent_key_has_zeros_and_a_value_that_relates_to_nothing() {
        let zeros = [
            Operand::Version(0),
            Operand::CreateRevision(Revision::ZERO),
            Operand::ModRevision(Revision::ZERO),
            Operand::Lease(LeaseId(0)),
        ];
        for operand in zeros {
            assert!(holds(Relation::Equal, operand.clone(), None), "{operand:?}");
            assert!(!holds(Relation::NotEqual, operand, None));
        }
        for relation in [Relation::Equal, Relation::NotEqual, Relation::Less] {
            assert!(!holds(relation, Operand::Value(Bytes::new()), None));
        }
    }

    #[test]
    fn relation_is_that_of_the_version_to_the_operand() {
        let kv = KeyValue {
            key: Bytes::from("a"),
            value: Bytes::from("m"),
            create_revision: Revision(5),
            mod_revision: Revision(7),
            version: 2,
            lease: Some(LeaseId(9)),
            note: Note::default(),
        };
        let above = [
            Operand::Version(1),
            Operand::CreateRevision(Revision(4)),
            Operand::ModRevision(Revision(6)),
            Operand::Value(Bytes::from("l")),
            Operand::Lease(LeaseId(8)),
        ];
        for operand in above {
            assert!(holds(Relation::Greater, operand.clone(), Some(&kv)));
            assert!(holds(Relation::NotEqual, operand.clone(), Some(&kv)));
            assert!(!holds(Relation::Less, operand.clone(), Some(&kv)));
            assert!(!holds(Relation::Equal, operand, Some(&kv)));
        }
        assert!(holds(Relation::Less, Operand::Version(3), Some(&kv)));
        assert!(holds(Relation::Equal, Operand::Version(2), Some(&kv)));
    }
}

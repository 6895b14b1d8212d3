//! Response headers, and numbers in etcd's types.

use kubist_etcd_api::ResponseHeader;
use kubist_storage::{KeyValue, Revision};
use std::hash::{BuildHasher, RandomState};

/// The raft term of a cluster that elected its first leader and no other.
const TERM: u64 = 2;

/// Who responds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    cluster: u64,
    member: u64,
}

impl Identity {
    /// Chooses an identity. Nobody keeps it: a client that sees another knows another process.
    pub(crate) fn choose(name: &str) -> Self {
        let random = RandomState::new();
        Self {
            cluster: random.hash_one("cluster"),
            member: random.hash_one(name),
        }
    }

    pub(crate) fn member(self) -> u64 {
        self.member
    }

    pub(crate) fn term() -> u64 {
        TERM
    }

    /// The header of a response at this revision.
    pub(crate) fn header(self, revision: Revision) -> ResponseHeader {
        ResponseHeader {
            cluster_id: self.cluster,
            member_id: self.member,
            revision: number(revision),
            raft_term: TERM,
        }
    }
}

/// Converts a revision to etcd's type.
pub(crate) fn number(revision: Revision) -> i64 {
    signed(revision.0)
}

/// Converts a count to etcd's type.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Converts a length to etcd's type.
pub(crate) fn length(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Converts a version.
pub(crate) fn message(kv: &KeyValue) -> kubist_etcd_api::KeyValue {
    kubist_etcd_api::KeyValue {
        key: kv.key.clone(),
        create_revision: number(kv.create_revision),
        mod_revision: number(kv.mod_revision),
        version: signed(kv.version),
        value: kv.value.clone(),
        lease: kv.lease.map_or(0, |lease| lease.0),
    }
}

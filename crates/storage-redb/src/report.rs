//! What is told to people about a store.

use kubist_storage::Revision;

/// What a store holds, all of it read and verified.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Whether the file had to be repaired. What was answered is there all the same.
    pub repaired: bool,
    /// The format of the file.
    pub format: u64,
    /// Tells this store from others; its backups have the same.
    pub cluster_id: u64,
    /// Where the store stands.
    pub revision: Revision,
    /// The oldest readable revision; zero if nothing was compacted.
    pub compacted: Revision,
    /// Keys that exist.
    pub keys: usize,
    /// Events in history.
    pub history_events: usize,
    /// Leases that have not ended.
    pub leases: usize,
    /// Rows of versions in the file.
    pub versions: u64,
    /// Size of those rows in bytes.
    pub version_bytes: u64,
}

/// What a compaction has brought: the size of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compaction {
    /// Bytes before.
    pub before: u64,
    /// Bytes after.
    pub after: u64,
}

/// What was restored from a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Restored {
    /// The revision that the backup is of.
    pub backed_up: Revision,
    /// Where the store stands now: above it, and above what was written after the backup.
    pub revision: Revision,
    /// Objects.
    pub keys: u64,
}

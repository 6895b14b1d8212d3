//! Reports about a store, for users.

use kubist_storage::Revision;

/// The contents of a store, all read and verified.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Whether the file was repaired. No acknowledged write was lost.
    pub repaired: bool,
    /// The format of the file.
    pub format: u64,
    /// Identifies the store; its backups have the same id.
    pub cluster_id: u64,
    /// The current revision.
    pub revision: Revision,
    /// The oldest readable revision; zero if nothing was compacted.
    pub compacted: Revision,
    /// Number of keys.
    pub keys: usize,
    /// Number of events in history.
    pub history_events: usize,
    /// Number of active leases.
    pub leases: usize,
    /// Number of version rows in the file.
    pub versions: u64,
    /// Size of those rows in bytes.
    pub version_bytes: u64,
}

/// The effect of a compaction on the file size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compaction {
    /// Bytes before.
    pub before: u64,
    /// Bytes after.
    pub after: u64,
}

/// The result of a restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Restored {
    /// The revision of the backup.
    pub backed_up: Revision,
    /// The current revision of the store: above that of the backup and of all later writes.
    pub revision: Revision,
    /// Number of objects.
    pub keys: u64,
}

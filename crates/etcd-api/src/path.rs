//! The gRPC paths of the methods.

/// Reads a key or a range.
pub const RANGE: &str = "/etcdserverpb.KV/Range";
/// Writes a key.
pub const PUT: &str = "/etcdserverpb.KV/Put";
/// Deletes a key or a range.
pub const DELETE_RANGE: &str = "/etcdserverpb.KV/DeleteRange";
/// A transaction.
pub const TXN: &str = "/etcdserverpb.KV/Txn";
/// Discards history.
pub const COMPACT: &str = "/etcdserverpb.KV/Compact";
/// A stream of watches, in both directions.
pub const WATCH: &str = "/etcdserverpb.Watch/Watch";
/// Grants a lease.
pub const LEASE_GRANT: &str = "/etcdserverpb.Lease/LeaseGrant";
/// Ends a lease.
pub const LEASE_REVOKE: &str = "/etcdserverpb.Lease/LeaseRevoke";
/// Starts the lifetimes of leases anew: a stream in both directions.
pub const LEASE_KEEP_ALIVE: &str = "/etcdserverpb.Lease/LeaseKeepAlive";
/// Asks for the rest of a lifetime.
pub const LEASE_TIME_TO_LIVE: &str = "/etcdserverpb.Lease/LeaseTimeToLive";
/// Asks for all leases.
pub const LEASE_LEASES: &str = "/etcdserverpb.Lease/LeaseLeases";
/// Asks for the members.
pub const MEMBER_LIST: &str = "/etcdserverpb.Cluster/MemberList";
/// Reads or changes alarms.
pub const ALARM: &str = "/etcdserverpb.Maintenance/Alarm";
/// Asks for the state of a member.
pub const STATUS: &str = "/etcdserverpb.Maintenance/Status";
/// Frees unused space on the disk.
pub const DEFRAGMENT: &str = "/etcdserverpb.Maintenance/Defragment";
/// Asks whether users must authenticate.
pub const AUTH_STATUS: &str = "/etcdserverpb.Auth/AuthStatus";

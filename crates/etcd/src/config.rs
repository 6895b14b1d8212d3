//! `Config`: what the server says of itself, and its limits.

/// What the server says of itself, and its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct Config {
    /// The name of the member. Default: `default`, as etcd.
    pub name: String,
    /// The URLs that clients are told. Default: none.
    pub client_urls: Vec<String>,
    /// The URLs that other members would use. Default: none.
    pub peer_urls: Vec<String>,
    /// The quota that `endpoint status` shows, in bytes; the engine enforces it. Default: 0.
    pub quota_bytes: u64,
    /// Maximum bytes of a request. Default: 1.5 MiB, as etcd.
    pub request_bytes_max: usize,
    /// Maximum operations in a branch of a transaction, and comparisons. Default: 128, as etcd.
    pub txn_operations_max: usize,
    /// Maximum watches of one stream. Default: 16,384.
    pub stream_watches_max: usize,
    /// Maximum streams of one connection: calls and watch streams. Default: 16,384.
    pub connection_streams_max: u32,
    /// Maximum open connections; further ones wait. Default: 4,096.
    pub connections_max: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            name: "default".to_owned(),
            client_urls: Vec::new(),
            peer_urls: Vec::new(),
            quota_bytes: 0,
            request_bytes_max: 3 << 19,
            txn_operations_max: 128,
            stream_watches_max: 16_384,
            connection_streams_max: 16_384,
            connections_max: 4096,
        }
    }
}

//! `Faults`: when a proxy cuts connections by itself.

use std::time::Duration;

/// When connections are cut without a command.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    /// The fewest bytes from the server before a cut.
    pub bytes_min: u64,
    /// The most bytes from the server before a cut.
    pub bytes_max: u64,
    /// The longest silence of the server before a cut; zero for none.
    pub silence_max: Duration,
    /// The longest delay before a connection after the first cut is served.
    pub outage_max: Duration,
    /// The number of cuts after which connections are left alone.
    pub cuts_max: u64,
}

impl Faults {
    /// No cuts.
    pub const NONE: Self = Self {
        bytes_min: u64::MAX,
        bytes_max: u64::MAX,
        silence_max: Duration::ZERO,
        outage_max: Duration::ZERO,
        cuts_max: 0,
    };
    /// Cuts in mid-stream only, after a part of a watch was forwarded: a TLS handshake and one full
    /// record are 21 kB. A client that resumes its watch misses nothing and need not list again.
    pub const GENTLE: Self = Self {
        bytes_min: 24_000,
        bytes_max: 44_000,
        silence_max: Duration::ZERO,
        outage_max: Duration::ZERO,
        cuts_max: 100,
    };
    /// Cuts anywhere: in handshakes, in lists, in silence.
    pub const ROUGH: Self = Self {
        bytes_min: 100,
        bytes_max: 40_000,
        silence_max: Duration::from_millis(400),
        outage_max: Duration::ZERO,
        cuts_max: 12,
    };
    /// Cuts in mid-stream, each followed by an outage, during which the server may compact the
    /// history that a client needs to resume.
    pub const OUTAGES: Self = Self {
        bytes_min: 8_000,
        bytes_max: 24_000,
        silence_max: Duration::ZERO,
        outage_max: Duration::from_millis(500),
        cuts_max: 8,
    };
}

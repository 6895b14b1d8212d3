//! The ranges for allocation, and the band of each that is reserved for specific requests.

use std::net::Ipv4Addr;
use std::ops::{Range, RangeInclusive};

/// The ranges for allocation.
#[derive(Clone, Debug)]
pub(crate) struct Ranges {
    /// The first address of the network; it and the last are never allocated.
    pub(crate) network: Ipv4Addr,
    /// The prefix length of the network, in bits.
    pub(crate) prefix: u32,
    pub(crate) node_ports: RangeInclusive<u16>,
}

impl Ranges {
    /// Returns the number of addresses that can be allocated.
    pub(super) fn count(&self) -> u32 {
        let hosts = 32_u32.saturating_sub(self.prefix);
        u32::try_from((1_u64 << hosts).saturating_sub(2)).unwrap_or(u32::MAX)
    }

    pub(super) fn at(&self, offset: u32) -> Ipv4Addr {
        Ipv4Addr::from(u32::from(self.network).saturating_add(offset))
    }

    pub(super) fn contains(&self, address: Ipv4Addr) -> bool {
        let offset = u32::from(address).checked_sub(u32::from(self.network));
        offset.is_some_and(|offset| (1..=self.count()).contains(&offset))
    }

    /// Returns address offsets in the order in which unspecific requests use them: the low band
    /// comes last, as upstream, because users often choose low addresses.
    pub(super) fn address_bands(&self) -> [Range<u32>; 2] {
        let count = self.count();
        let low = band(count, 16, 16, 256);
        [low + 1..count.saturating_add(1), 1..low + 1]
    }

    /// Returns the node port bands in the same way.
    pub(super) fn port_bands(&self) -> [Range<u32>; 2] {
        let start = u32::from(*self.node_ports.start());
        let end = u32::from(*self.node_ports.end()) + 1;
        let middle = start + band(end.saturating_sub(start), 32, 16, 128);
        [middle..end, start..middle]
    }

    /// Returns the network in CIDR notation.
    pub(crate) fn cidr(&self) -> String {
        format!("{}/{}", self.network, self.prefix)
    }
}

/// Returns the size of the low band: a fraction of the range within limits, or zero for a small
/// range.
fn band(count: u32, part: u32, min: u32, max: u32) -> u32 {
    if count <= min {
        return 0;
    }
    (count / part).clamp(min, max)
}

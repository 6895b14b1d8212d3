//! A set of node ports, and its stored form: upstream's `RangeAllocation`, whose data is one large
//! number with a bit for each port of the range.

use kubist_api::core::v1::RangeAllocation;
use kubist_apimachinery::ByteString;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PortSet(pub(super) BTreeSet<u16>);

impl PortSet {
    /// Reads the ports of a stored allocation, relative to its own range.
    pub(super) fn read(stored: &RangeAllocation) -> Self {
        let start = stored.range.split('-').next();
        let Some(start) = start.and_then(|it| it.parse::<usize>().ok()) else {
            return Self::default();
        };
        // The last byte contains the first eight ports.
        let bytes = stored.data.0.iter().rev().enumerate();
        let ports = bytes.flat_map(|(at, byte)| {
            let bits = (0..8).filter(move |bit| byte >> bit & 1 == 1);
            bits.filter_map(move |bit| u16::try_from(start + at * 8 + bit).ok())
        });
        Self(ports.collect())
    }

    /// Writes the ports of a range into an allocation.
    pub(super) fn write(&self, range: &RangeInclusive<u16>, into: &mut RangeAllocation) {
        let (start, end) = (*range.start(), *range.end());
        into.range = format!("{start}-{end}").into();
        let inside = self.0.iter().filter(|it| range.contains(it));
        let inside: Vec<usize> = inside.map(|it| usize::from(it - start)).collect();
        let length = inside.last().map_or(0, |last| last / 8 + 1);
        let mut bytes = vec![0_u8; length];
        for offset in inside {
            bytes[length - 1 - offset / 8] |= 1 << (offset % 8);
        }
        into.data = ByteString(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{prop_assert_eq, proptest};

    #[test]
    fn the_stored_form_is_a_large_number_with_the_first_port_in_its_lowest_bit() {
        let set = PortSet([30_000, 30_001, 30_009].into());
        let mut stored = RangeAllocation::default();
        set.write(&(30_000..=32_767), &mut stored);
        assert_eq!(stored.range, "30000-32767");
        assert_eq!(stored.data.0, [0b10, 0b11]);
        PortSet::default().write(&(30_000..=32_767), &mut stored);
        assert!(stored.data.0.is_empty());
    }

    #[test]
    fn what_is_no_allocation_is_empty() {
        for (range, data) in [("", vec![1]), ("x-y", vec![255]), ("65535-65535", vec![2])] {
            let stored = RangeAllocation {
                range: range.into(),
                data: ByteString(data),
                ..RangeAllocation::default()
            };
            assert_eq!(PortSet::read(&stored), PortSet::default(), "{range}");
        }
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(ports in proptest::collection::btree_set(100_u16..400, 0..50)) {
            let mut stored = RangeAllocation::default();
            PortSet(ports.clone()).write(&(100..=300), &mut stored);
            let inside: BTreeSet<u16> = ports.into_iter().filter(|it| *it <= 300).collect();
            prop_assert_eq!(PortSet::read(&stored).0, inside);
        }
    }
}

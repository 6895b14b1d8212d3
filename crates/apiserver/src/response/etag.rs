//! The hash of entity tags, equal for equal content in every process.
//!
//! It is FNV-1a, which is no cryptographic hash.

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// Returns the FNV-1a hash.
pub(crate) fn of_bytes(bytes: &[u8]) -> u64 {
    bytes.iter().fold(OFFSET, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(PRIME)
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_hash_is_fnv_1a() {
        assert_eq!(super::of_bytes(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(super::of_bytes(b"a"), 0xaf63_dc4c_8601_ec8c);
    }
}

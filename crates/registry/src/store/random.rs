//! Uids and generated names from one seed, so that a run can be repeated.
//!
//! Not for secrets: the sequence can be predicted from a few of its values.

use parking_lot::Mutex;

/// A source of uids and name suffixes.
#[derive(Debug)]
pub struct Random(Mutex<u64>);

/// Letters and digits that form no words and are not easily confused, as upstream's.
const SUFFIX_LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
/// The length of a generated suffix.
const SUFFIX_LENGTH: usize = 5;
/// The maximum base length of a generated name, so that the whole fits into a label.
const BASE_LENGTH_MAX: usize = 63 - SUFFIX_LENGTH;

/// Returns the random (version 4) UUID of these bits; version and variant bits are replaced.
pub fn uuid_v4(high: u64, low: u64) -> String {
    let high = (high & !0xf000) | 0x4000;
    let low = (low & !(3 << 62)) | (2 << 62);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

impl Random {
    /// Creates a source from `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(seed))
    }

    /// Returns the next number, by SplitMix64: every seed gives another sequence, and none is weak.
    pub fn next(&self) -> u64 {
        let mut state = self.0.lock();
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = *state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`, which must not be 0.
    pub fn below(&self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Returns a random (version 4) UUID.
    pub fn uid(&self) -> String {
        uuid_v4(self.next(), self.next())
    }

    /// `base` with a random suffix; a base that is too long is cut.
    pub(crate) fn name(&self, base: &str) -> String {
        let mut end = base.len().min(BASE_LENGTH_MAX);
        while !base.is_char_boundary(end) {
            end -= 1;
        }
        let mut name = base[..end].to_owned();
        let letters = SUFFIX_LETTERS.len() as u64;
        for _ in 0..SUFFIX_LENGTH {
            let index = usize::try_from(self.below(letters)).expect("below 27");
            name.push(char::from(SUFFIX_LETTERS[index]));
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uids_are_uuids_of_version_4_and_a_seed_repeats_them() {
        let (one, two) = (Random::new(7), Random::new(7));
        let uid = one.uid();
        assert_eq!(uid, two.uid());
        assert_ne!(uid, one.uid());
        let dashes: Vec<_> = uid.match_indices('-').map(|(at, _)| at).collect();
        assert_eq!((uid.len(), dashes), (36, vec![8, 13, 18, 23]));
        assert_eq!(&uid[14..15], "4");
        assert!("89ab".contains(&uid[19..20]));
    }

    #[test]
    fn generated_names_keep_their_base_and_fit_a_label() {
        let random = Random::new(1);
        let name = random.name("web-");
        assert_eq!((&name[..4], name.len()), ("web-", 9));
        assert_eq!(random.name(&"a".repeat(100)).len(), 63);
        assert_eq!(random.name(&"é".repeat(100)).len(), 63);
    }
}

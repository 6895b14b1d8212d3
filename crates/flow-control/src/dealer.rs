//! Shuffle sharding: the hand of queues that a flow may use.
//!
//! Each flow has a few queues of many, always the same. Two flows rarely share all of theirs, so
//! that a flow which fills its queues leaves most others a queue that is not full.

/// The largest hand that is dealt; upstream's validation allows no larger one.
pub(crate) const HAND_MAX: usize = 10;

/// Returns the hash of a flow.
pub(crate) fn flow_hash(schema: &str, distinguisher: &str) -> u64 {
    // FNV-1a; a zero byte keeps the two texts apart.
    let bytes = schema.bytes().chain([0]).chain(distinguisher.bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // Its low bits are weak, and a hand is made of remainders.
    let mixed = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^ (mixed >> 32)
}

/// Calls `take` with each queue of a flow's hand: `hand` different numbers below `queues`.
pub(crate) fn deal(hash: u64, queues: usize, hand: usize, mut take: impl FnMut(usize)) {
    let hand = hand.min(queues).min(HAND_MAX);
    let (mut rest, mut dealt) = (hash, [0_usize; HAND_MAX]);
    for card in 0..hand {
        // The number of one of the queues that are left …
        let left = (queues - card) as u64;
        let mut queue = usize::try_from(rest % left).unwrap_or(0);
        rest /= left;
        // … among all: each smaller one that was dealt shifts it by one.
        let mut place = 0;
        while place < card && dealt[place] <= queue {
            queue += 1;
            place += 1;
        }
        dealt.copy_within(place..card, place + 1);
        dealt[place] = queue;
        take(queue);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn hand(hash: u64, queues: usize, hand: usize) -> Vec<usize> {
        let mut dealt = Vec::new();
        deal(hash, queues, hand, |it| dealt.push(it));
        dealt
    }

    proptest! {
        #[test]
        fn a_hand_has_different_queues(hash: u64, queues in 1_usize..512, size in 1_usize..10) {
            let dealt = hand(hash, queues, size);
            prop_assert_eq!(dealt.len(), size.min(queues));
            prop_assert!(dealt.iter().all(|it| *it < queues));
            let distinct: BTreeSet<usize> = dealt.iter().copied().collect();
            prop_assert_eq!(distinct.len(), dealt.len());
        }
    }

    #[test]
    fn flows_spread_over_the_queues_and_rarely_share_a_hand() {
        let mut used = vec![0; 64];
        let mut hands = BTreeSet::new();
        for flow in 0..1_000 {
            let mut dealt = hand(
                flow_hash("service-accounts", &format!("user-{flow}")),
                64,
                6,
            );
            for queue in &dealt {
                used[*queue] += 1;
            }
            dealt.sort_unstable();
            hands.insert(dealt);
        }
        assert_eq!(hands.len(), 1_000);
        // 93.75 of 6,000 cards each, on average.
        assert!(used.iter().all(|it| (50..150).contains(it)), "{used:?}");
    }
}

//! Random operations on the engine.

use proptest::prelude::*;

/// An operation. `back` counts revisions from the current one.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Put {
        key: u8,
        expected: u8,
        leased: bool,
    },
    Delete {
        key: u8,
        expected: u8,
    },
    Compact {
        back: u64,
    },
    Range {
        from: u8,
        to: u8,
        back: u64,
        limit: Option<usize>,
    },
    Watch {
        from: u8,
        to: u8,
        back: u64,
    },
    Read {
        watch: usize,
    },
    Progress {
        watch: usize,
    },
    Pass {
        seconds: u64,
    },
}

/// Up to two hundred operations.
pub(super) fn ops() -> impl Strategy<Value = Vec<Op>> {
    let key = 0_u8..12;
    let op = prop_oneof![
        8 => (key.clone(), 0_u8..4, prop::bool::weighted(0.2))
            .prop_map(|(key, expected, leased)| Op::Put { key, expected, leased }),
        4 => (key.clone(), 0_u8..4).prop_map(|(key, expected)| Op::Delete { key, expected }),
        1 => (0_u64..30).prop_map(|back| Op::Compact { back }),
        4 => (key.clone(), 0_u8..14, 0_u64..60, prop::option::of(0_usize..8))
            .prop_map(|(from, to, back, limit)| Op::Range { from, to, back, limit }),
        2 => (key, 0_u8..14, 0_u64..60)
            .prop_map(|(from, to, back)| Op::Watch { from, to, back }),
        3 => (0_usize..8).prop_map(|watch| Op::Read { watch }),
        1 => (0_usize..8).prop_map(|watch| Op::Progress { watch }),
        1 => (1_u64..8).prop_map(|seconds| Op::Pass { seconds }),
    ];
    prop::collection::vec(op, 1..200)
}

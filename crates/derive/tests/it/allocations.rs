//! Skipped fields cause no allocations, as counted by the allocator.

use super::{BOTH, PodNode, pod};
use bytes::Bytes;
use kubist_api::core::v1::{Container, EnvVar, Pod};
use kubist_apimachinery::wire::{DecodeContext, Encoding, Ingest, Interner, encode};

/// Interned strings that collide in a slot are allocated each time; with this many slots none
/// collide.
const MANY_SLOTS: usize = 1 << 20;
/// With this few slots most strings of a large object collide.
const FEW_SLOTS: usize = 16;

/// Counts the allocations of one ingest after the plan was made.
fn allocations<F: Ingest>(pod: &Pod, encoding: Encoding, slots: usize) -> u64 {
    let cx = &mut DecodeContext::new().with_interner(Interner::new(slots));
    let bytes = Bytes::from(encode(pod, encoding));
    drop(F::ingest(bytes.clone(), encoding, cx));
    let counted = allocation_counter::measure(|| {
        let object = F::ingest(bytes.clone(), encoding, cx).expect("a Pod");
        std::hint::black_box(&object);
    });
    counted.count_total
}

/// The Pod with a thousand more fields that the projection does not have.
fn large() -> Pod {
    let mut pod = pod();
    let env = |number: usize| EnvVar {
        name: format!("VARIABLE_{number}").into(),
        value: format!("a \"value\" with \\ escapes, {number}").into(),
        ..EnvVar::default()
    };
    pod.spec.init_containers = vec![Container {
        name: "init".into(),
        env: (0..1000).map(env).collect(),
        ..Container::default()
    }];
    pod.metadata.annotations = (0..100)
        .map(|it| (format!("key-{it}").into(), "v".into()))
        .collect();
    pod.status.message = "m".repeat(10_000).into();
    pod
}

/// Contract CACHE-20.
#[test]
fn skipped_fields_do_not_allocate() {
    for encoding in BOTH {
        let (small, large) = (
            allocations::<PodNode>(&pod(), encoding, MANY_SLOTS),
            allocations::<PodNode>(&large(), encoding, MANY_SLOTS),
        );
        assert_eq!(small, large, "{encoding:?}");
        assert!(small <= 12, "{encoding:?}: {small}");
        let decoded = allocations::<Pod>(&self::large(), encoding, FEW_SLOTS);
        assert!(decoded > 500, "the count counts: {decoded}");
    }
}

//! Measures Kubist's shared informer of all Pods until it is synced, with a counting allocator.

use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

fn main() -> Result<(), kubist_peer::Failure> {
    kubist_peer::run(Some(|| HEAP.current_usage()))
}

//! Measures Kubist's shared informer of all Pods with the default allocator.

fn main() -> Result<(), kubist_peer::Failure> {
    kubist_peer::run(None)
}

//! Kubist's shared informer of all Pods, measured as anybody's program would run it.

fn main() -> Result<(), kubist_peer::Failure> {
    kubist_peer::run(None)
}

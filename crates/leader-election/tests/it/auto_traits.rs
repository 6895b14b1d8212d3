//! Public types can be sent and shared, and so can the future of a run.

use crate::memory_lock::MemoryLock;
use kubist_leader_election::{
    LeaderElectionConfig, LeaderElector, LeaderStats, LeaderWatch, LeaseLock, Lock, Term,
};
use tokio_util::sync::CancellationToken;

fn is_shared<T: Send + Sync>() {}
fn is_sent<T: Send>(_: &T) {}

#[tokio::test]
async fn types_and_futures_can_be_sent() {
    is_shared::<Term>();
    is_shared::<LeaderElector>();
    is_shared::<LeaderElectionConfig>();
    is_shared::<LeaderStats>();
    is_shared::<LeaderWatch>();
    is_shared::<LeaseLock>();
    is_shared::<Box<dyn Lock>>();
    let config = LeaderElectionConfig::new(MemoryLock::default());
    let mut elector = LeaderElector::new(config).expect("the defaults are valid");
    let token = CancellationToken::new();
    token.cancel();
    let run = elector.run(token, |term| async move { term.ended().await });
    is_sent(&run);
    assert_eq!(run.await, Ok(None));
}

//! What an elector's run does with the work.

use crate::memory_lock::MemoryLock;
use kubist_leader_election::{
    InvalidConfig, LeaderElectionConfig, LeaderElectionError, LeaderElector, LostReason,
};
use std::future::pending;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

pub(crate) fn elector(lock: &MemoryLock, identity: &str) -> LeaderElector {
    let config = LeaderElectionConfig {
        identity: identity.into(),
        seed: Some(7),
        ..LeaderElectionConfig::new(lock.clone())
    };
    LeaderElector::new(config).expect("the durations are the default ones")
}

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// Contract LEAD-4.
#[tokio::test(start_paused = true)]
async fn the_lease_is_renewed_while_work_ends_and_given_up_after_that() {
    let lock = MemoryLock::default();
    let mut elector = elector(&lock, "one");
    let token = CancellationToken::new();
    let run = elector.run(token.clone(), async |term| {
        term.token().cancelled().await;
        sleep(60 * SECOND).await; // longer than any lease
        term.is_held()
    });
    let stop = async {
        sleep(5 * SECOND).await;
        token.cancel();
        sleep(59 * SECOND).await;
        assert_eq!(lock.holder().as_deref(), Some("one"));
    };
    let (ended, ()) = tokio::join!(run, stop);
    assert_eq!(ended, Ok(Some(true)));
    assert_eq!(lock.holder(), None);
}

#[tokio::test(start_paused = true)]
async fn another_candidate_takes_over_soon_after_a_release_and_late_after_a_loss() {
    for (releases, seconds) in [(true, 0..=5), (false, 15..=20)] {
        let lock = MemoryLock::default();
        let mut one = elector(&lock, "one");
        let mut two = elector(&lock, "two");
        let (begin, token) = (Instant::now(), CancellationToken::new());
        let first = async {
            let lead = one.run(token.clone(), async |term| {
                sleep(SECOND).await;
                if !releases {
                    term.ended().await;
                }
            });
            let led = timeout(2 * SECOND, lead).await; // without a release it is dropped
            assert_eq!(led.is_ok(), releases);
        };
        let second = async {
            sleep(SECOND / 2).await;
            let led = two
                .run(token.clone(), async |term| term.transitions())
                .await;
            (led, begin.elapsed().as_secs())
        };
        let ((), (led, after)) = tokio::join!(first, second);
        assert_eq!(led, Ok(Some(1)));
        assert!(seconds.contains(&after), "{after} s");
    }
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_cannot_renew_stops_at_the_deadline_of_its_last_renewal() {
    let lock = MemoryLock::default();
    let mut elector = elector(&lock, "one");
    let watch = elector.watch();
    let begin = Instant::now();
    let run = elector.run(CancellationToken::new(), async |term| {
        sleep(3 * SECOND).await; // it was renewed at 2 s
        lock.state().is_out_of_reach = true;
        let ended = term.run(pending::<()>()).await;
        panic!("it is dropped, not told: {ended:?}");
    });
    let error = run.await.expect_err("the term is lost");
    let LeaderElectionError::Lost { lock: name, reason } = error else {
        panic!("{error}");
    };
    assert_eq!(name, "shop/operator");
    assert!(matches!(reason, LostReason::DeadlineExceeded { .. }));
    assert_eq!(begin.elapsed(), 12 * SECOND);
    assert!(!watch.is_leader());
    assert!(watch.check(Duration::ZERO).is_ok(), "it has noticed");
}

/// Contract LEAD-3.
#[tokio::test(start_paused = true)]
async fn a_slow_server_cannot_prolong_the_term() {
    let lock = MemoryLock::default();
    let mut elector = elector(&lock, "one");
    let begin = Instant::now();
    let run = elector.run(CancellationToken::new(), async |term| {
        lock.state().latency = 4 * SECOND; // within the limit of a request
        sleep(60 * SECOND).await;
        assert!(term.is_held(), "slow renewals are renewals");
        lock.state().latency = 11 * SECOND;
        pending::<()>().await;
    });
    assert!(run.await.is_err());
    let took = begin.elapsed();
    assert!(took < 72 * SECOND, "{took:?}");
}

/// Contract LEAD-2.
#[tokio::test(start_paused = true)]
async fn a_lost_leader_leads_again_with_another_term() {
    let lock = MemoryLock::default();
    let mut elector = elector(&lock, "one");
    let mut old = None;
    let run = elector.run(CancellationToken::new(), |term| {
        old = Some(term);
        lock.state().is_out_of_reach = true;
        pending::<()>()
    });
    assert!(run.await.is_err());
    let old = old.expect("it has led");
    lock.state().is_out_of_reach = false;
    let run = elector.run(CancellationToken::new(), async |term| {
        assert_eq!((old.transitions(), term.transitions()), (0, 1));
        assert!(term.is_held() && !old.is_held());
        assert!(old.run(async {}).await.is_err());
    });
    assert_eq!(run.await, Ok(Some(())));
}

#[tokio::test(start_paused = true)]
async fn dropping_the_run_ends_the_term_and_renews_no_more() {
    let lock = MemoryLock::default();
    let mut elector = elector(&lock, "one");
    let mut watch = elector.watch();
    let run = elector.run(CancellationToken::new(), |_| pending::<()>());
    let term = tokio::select! {
        ended = run => panic!("{ended:?}"),
        term = watch.leading() => term.expect("it leads"),
    };
    assert!(!term.is_held() && term.token().is_cancelled());
    let requests = lock.state().requests.len();
    sleep(60 * SECOND).await;
    assert_eq!(lock.state().requests.len(), requests);
}

#[tokio::test(start_paused = true)]
async fn a_stopped_candidate_has_not_worked_and_leaves_no_lease() {
    let lock = MemoryLock::default();
    lock.state().latency = SECOND;
    let mut elector = elector(&lock, "one");
    let token = CancellationToken::new();
    let run = elector.run(token.clone(), async |_| panic!("it does not lead"));
    let stop = async {
        sleep(SECOND * 3 / 2).await; // the create is under way
        token.cancel();
    };
    let (ended, ()) = tokio::join!(run, stop);
    assert_eq!(ended, Ok(None));
    assert_eq!(lock.state().requests, ["get", "create", "get", "update"]);
    assert_eq!(lock.holder(), None);
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_panics_is_an_error() {
    let lock = MemoryLock::default();
    lock.state().panics = true;
    let mut elector = elector(&lock, "one");
    let run = elector.run(CancellationToken::new(), |_| pending::<()>());
    assert!(matches!(
        run.await,
        Err(LeaderElectionError::Panicked { .. })
    ));
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let config = LeaderElectionConfig {
        lease_duration: 10 * SECOND,
        ..LeaderElectionConfig::new(MemoryLock::default())
    };
    let error = LeaderElector::new(config).expect_err("as long as the deadline");
    assert!(matches!(error, InvalidConfig::LeaseDurationTooShort { .. }));
    let config = LeaderElectionConfig {
        identity: "".into(),
        ..LeaderElectionConfig::new(MemoryLock::default())
    };
    assert_eq!(
        LeaderElector::new(config).expect_err("no name"),
        InvalidConfig::NoIdentity
    );
}

//! What an elector shows to others.

use crate::elector::{SECOND, elector};
use crate::memory_lock::MemoryLock;
use futures_util::FutureExt as _;
use std::future::pending;
use tokio::time::{advance, sleep};
use tokio_util::sync::CancellationToken;

#[tokio::test(start_paused = true)]
async fn everybody_sees_who_leads() {
    let lock = MemoryLock::default();
    let (mut one, mut two) = (elector(&lock, "one"), elector(&lock, "two"));
    let (first, mut second) = (one.watch(), two.watch());
    assert_eq!((first.leader(), first.is_leader()), (None, false));
    let token = CancellationToken::new();
    let candidates = async {
        let lead = one.run(token.clone(), |_| pending::<()>());
        let stand_by = async {
            sleep(SECOND).await;
            two.run(token.clone(), |_| pending::<()>()).await
        };
        tokio::join!(lead, stand_by)
    };
    let look = async {
        sleep(SECOND / 2).await;
        assert!(first.is_leader());
        assert!(second.changed().await);
        assert_eq!(second.leader().as_deref(), Some("one"));
        assert!(!second.is_leader() && second.term().is_none());
        sleep(SECOND * 10).await;
    };
    tokio::select! {
        ended = candidates => panic!("{ended:?}"),
        () = look => {}
    }
    let stats = first.stats();
    assert_eq!((stats.terms, stats.renewals, stats.slow_paths), (1, 5, 0));
    assert_eq!(stats.name, "shop/operator");
    assert!(!first.is_leader(), "its run was dropped");
    assert_eq!(second.identity(), "two");
    drop((one, two));
    while second.changed().await {}
}

#[tokio::test(start_paused = true)]
async fn a_leader_whose_elector_does_not_run_is_unhealthy() {
    let lock = MemoryLock::default();
    let mut elector = elector(&lock, "one");
    let mut watch = elector.watch();
    let run = elector.run(CancellationToken::new(), |_| pending::<()>());
    let look = async {
        watch.leading().await.expect("it leads");
        assert!(watch.check(20 * SECOND).is_ok());
        // Polled once, so that the clock advances and nothing else gets to run.
        assert!(advance(35 * SECOND).now_or_never().is_none());
        assert!(watch.check(20 * SECOND).is_ok());
        assert!(advance(SECOND).now_or_never().is_none());
        let error = watch.check(20 * SECOND).expect_err("it is overdue");
        assert_eq!(error.unrenewed_for, 36 * SECOND);
        assert!(!watch.is_leader(), "and leads no more, of course");
    };
    tokio::select! {
        biased;
        () = look => {}
        ended = run => panic!("{ended:?}"),
    }
}

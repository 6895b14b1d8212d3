//! Cancellation at any point: the next reflector always ends with the server's state.

use super::scene::poll_once;
use super::server::{Exchange, Server};
use kubist_apimachinery::ObjectMeta;
use kubist_cache::{Indexer, Queue as _, RealFifo};
use kubist_reflector::{Config, InitialSync, Reflector};
use std::sync::Arc;
use std::time::Duration;

/// A sequence with pages, an expired token, a cut watch and a relist, which can start again at any
/// point.
fn server(initial_sync: InitialSync) -> Arc<Server> {
    let life: &[&str] = match initial_sync {
        InitialSync::ListThenWatch => &[
            "list rv=0 -> a@1 0.1s rv=9 more=t",
            "list rv= -> b@2 fail expired",
            "list rv=0 -> a@1 b@2 rv=9",
            "watch rv=9 -> ~a@10 0.1s -b@11 20s fail cut",
            "watch rv=11 -> +c@12 20s fail expired",
            "list rv=12 -> c@12 rv=20",
            "watch rv=20 ->",
        ],
        InitialSync::StreamingList => &[
            "stream rv= -> +a@1 0.1s +b@2 end@9 ~a@10 -b@11 20s fail cut",
            "watch rv=11 -> +c@12 20s fail expired",
            "stream rv=12 -> +c@12 end@20 0.1s mark@20",
        ],
    };
    let life = life.iter().map(|it| Exchange::parse(it)).collect();
    Server::new(life, true, Duration::from_secs(10))
}

fn config(initial_sync: InitialSync) -> Config {
    Config {
        initial_sync,
        ..Config::default()
    }
}

/// Polls `polls` times at intervals of a tenth of a second, and drops the future. Returns false if
/// there was nothing left to poll for.
async fn live(initial_sync: InitialSync, polls: usize, indexer: &mut Indexer<ObjectMeta>) -> bool {
    let server = server(initial_sync);
    let source = Arc::clone(&server);
    let mut reflector =
        Reflector::new(source, config(initial_sync), 1).with_known(indexer.lister());
    let mut queue = RealFifo::new();
    for _ in 0..polls {
        let mut ignored = |_| {};
        if !poll_once(reflector.step(&mut queue, &mut ignored)).await {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let mut changes = Vec::new();
        while let Some(batch) = queue.pop_batch() {
            for delta in batch.deltas {
                indexer.apply(delta, &mut changes);
            }
        }
        indexer.publish();
    }
    !server.is_done()
}

/// Contract REFL-8.
#[tokio::test(start_paused = true)]
async fn a_reflector_dropped_after_any_poll_leaves_a_store_that_the_next_one_brings_up_to_date() {
    for initial_sync in [InitialSync::ListThenWatch, InitialSync::StreamingList] {
        let mut polls = 0;
        loop {
            let mut indexer = Indexer::new();
            let under_way = live(initial_sync, polls, &mut indexer).await;
            // The next one runs the whole sequence on the store as it is.
            assert!(!live(initial_sync, 1000, &mut indexer).await);
            let names: Vec<_> = indexer
                .lister()
                .list()
                .iter()
                .map(|it| it.name.clone())
                .collect();
            assert_eq!(
                names,
                ["c"],
                "{initial_sync:?}, dropped after {polls} polls"
            );
            assert_eq!(indexer.lister().resource_version(), "20");
            if !under_way {
                break;
            }
            polls += 1;
        }
        assert!(polls > 50, "{polls}");
    }
}

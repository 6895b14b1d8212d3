//! Workers yield to other tasks, with a real clock and a reconciler that really blocks.

use crate::cluster::{Cluster, named};
use crate::running::{deployments, start};
use kubist_api::apps::v1::Deployment;
use kubist_apimachinery::ObjectName;
use kubist_controller::{Action, Error};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

const RUNS: u64 = 1_000;

/// Counted in reconciles of 100 µs, so that a busy machine does not affect the test.
#[tokio::test]
async fn workers_whose_runs_block_let_others_have_their_turn_after_ten_milliseconds() {
    let cluster = Cluster::default();
    for number in 0..RUNS {
        cluster.put(named::<Deployment>(&format!("web-{number}")));
    }
    let (factory, controller) = deployments(&cluster);
    let runs = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&runs);
    let reconcile = move |_: ObjectName| {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_micros(100) {
            std::hint::spin_loop();
        }
        counted.fetch_add(1, Ordering::SeqCst);
        std::future::ready(Ok::<_, Error>(Action::done()))
    };
    let running = start(controller.workers(4), &factory, reconcile);
    let (mut most, mut before) = (0, 0);
    while before < RUNS {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let now = runs.load(Ordering::SeqCst);
        most = most.max(now - before);
        before = now;
    }
    assert!(most <= 100, "{most} runs in one turn");
    running.stop().await;
}

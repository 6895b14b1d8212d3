//! Checks of concurrent writers.

use super::Subject;
use super::clients::Race;
use super::history::is_linearizable;
use crate::{Expected, Kv, PutRequest, Revision, WriteOutcome};
use bytes::Bytes;
use std::sync::Arc;
use tokio::task::JoinSet;

const WRITERS: u64 = 8;
const INCREMENTS: u64 = 25;
/// Runs competitions for several keys.
const RACES: u64 = 20;
/// Clients per competition.
const CLIENTS: usize = 5;
/// Calls per client.
const CALLS: usize = 12;

/// The calls of concurrent clients to one key are linearizable.
pub async fn compare_and_set_histories_are_linearizable(subject: &Subject) {
    let handles = vec![Arc::clone(subject.kv()); CLIENTS];
    for seed in 0..RACES {
        let race = Race {
            key: subject.key(&format!("race-{seed}")),
            calls: CALLS,
            seed,
        };
        let calls = race.run(&handles).await;
        assert!(calls.len() > CLIENTS, "the clients did something");
        assert!(is_linearizable(&calls), "seed {seed}: {calls:#?}");
    }
}

/// Compare-and-set loses no update: the counter ends at the number of increments, and each took one
/// revision.
pub async fn concurrent_increments_are_all_counted(subject: &Subject) {
    let before = subject.put("counter", "0").await;
    let mut writers = JoinSet::new();
    for _ in 0..WRITERS {
        let (kv, key) = (Arc::clone(subject.kv()), subject.key("counter"));
        writers.spawn(async move {
            for _ in 0..INCREMENTS {
                increment(&*kv, &key).await;
            }
        });
    }
    writers.join_all().await;
    let value = subject.value("counter", None).await.expect("it exists");
    assert_eq!(value, (WRITERS * INCREMENTS).to_string());
    assert_eq!(
        subject.revision().await,
        Revision(before.0 + WRITERS * INCREMENTS)
    );
}

async fn increment(kv: &dyn Kv, key: &Bytes) {
    let mut current = kv.get(key, None).await.expect("a get works").kv;
    loop {
        let kv_seen = current.expect("the counter exists");
        let seen = String::from_utf8_lossy(&kv_seen.value)
            .parse::<u64>()
            .expect("a number");
        let expected = Expected::Revision(kv_seen.mod_revision);
        let put = PutRequest::new(key.clone(), (seen + 1).to_string(), expected);
        match kv.put(put).await.expect("a put works") {
            WriteOutcome::Committed { .. } => return,
            WriteOutcome::Conflict { current: newer, .. } => current = newer,
        }
        tokio::task::yield_now().await;
    }
}

/// Of several creates of a key exactly one succeeds, and the others get its value.
pub async fn one_of_many_creates_wins(subject: &Subject) {
    let mut creates = JoinSet::new();
    for writer in 0..WRITERS {
        let (kv, key) = (Arc::clone(subject.kv()), subject.key("a"));
        let put = PutRequest::new(key, writer.to_string(), Expected::Absent);
        creates.spawn(async move { (writer, kv.put(put).await.expect("a put works")) });
    }
    let outcomes = creates.join_all().await;
    let won: Vec<_> = outcomes
        .iter()
        .filter(|(_, it)| it.committed().is_some())
        .collect();
    assert_eq!(won.len(), 1);
    for (_, outcome) in &outcomes {
        if let WriteOutcome::Conflict { current, .. } = outcome {
            assert_eq!(
                current.as_ref().expect("it exists").value,
                won[0].0.to_string()
            );
        }
    }
}

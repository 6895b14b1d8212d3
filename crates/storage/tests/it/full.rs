//! Stores with a size limit, and the errors of refused writes.

use kubist_storage::journal::{Batch, JournaledKv, Replay};
use kubist_storage::memory::{Config, MemoryKv, TokioClock};
use kubist_storage::{DeleteRequest, Expected, Fault, Journal, Kv, PutRequest, Revision};
use std::sync::Arc;

/// A journal that stores nothing.
#[derive(Debug)]
struct Nowhere;

impl Journal for Nowhere {
    fn commit(&mut self, _: &Batch) -> Result<(), Fault> {
        Ok(())
    }
}

fn config() -> Config {
    Config {
        data_bytes_max: Some(10_000),
        ..Config::default()
    }
}

async fn says_what_it_missed_until_it_has_room(kv: &dyn Kv) {
    let put = async |key: &'static str, bytes| {
        let request = PutRequest::new(key, vec![0; bytes], Expected::Any);
        kv.put(request).await
    };
    put("a", 9_000).await.unwrap();
    assert!(kv.no_space_error().is_none());
    let refused = put("b", 5_000).await.unwrap_err();
    let missed = kv.no_space_error().unwrap();
    assert_eq!(missed.to_string(), refused.to_string());
    put("a", 8_000).await.unwrap();
    assert!(kv.no_space_error().is_some(), "too little is gone");
    put("a", 1_000).await.unwrap();
    assert!(kv.no_space_error().is_none(), "it would fit");

    put("b", 8_000).await.unwrap();
    put("c", 5_000).await.unwrap_err();
    put("c", 3_000).await.unwrap_err();
    let delete = DeleteRequest::new("a", Expected::Any);
    kv.delete(delete).await.unwrap();
    assert!(kv.no_space_error().is_some(), "neither fits yet");
    put("b", 5_000).await.unwrap();
    assert!(kv.no_space_error().is_none(), "the smaller one would fit");
}

#[tokio::test]
async fn a_store_in_memory_says_what_it_missed_until_it_has_room() {
    let kv = MemoryKv::new(config(), Arc::new(TokioClock::start()));
    says_what_it_missed_until_it_has_room(&kv).await;
}

#[tokio::test]
async fn a_store_with_a_journal_says_what_it_missed_until_it_has_room() {
    let replayed = Replay::new(config(), Revision::ZERO, 0).finish(Revision::EMPTY_STORE);
    let kv = JournaledKv::new(replayed.unwrap(), Arc::new(TokioClock::start()), Nowhere);
    says_what_it_missed_until_it_has_room(&kv).await;
}

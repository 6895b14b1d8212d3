//! The redb engine against the conformance suite, on a real file.

use kubist_storage::conformance::Subject;
use kubist_storage::conformance_suite;
use kubist_storage::memory::{Config, TokioClock};
use kubist_storage_redb::Store;
use std::future::{Ready, ready};
use std::sync::Arc;
use tokio::task::JoinSet;

fn subject() -> Ready<Subject> {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let clock = Arc::new(TokioClock::start());
    let kv = store.into_kv(Config::default(), clock).unwrap();
    let mut tasks = JoinSet::new();
    let runner = kv.clone();
    tasks.spawn(async move { runner.run().await });
    ready(Subject::new(Arc::new(kv), "/check/", (tasks, folder)))
}

conformance_suite!(#[tokio::test(start_paused = true)] => subject());

//! The redb engine against the conformance suite, on a real file: with each write synced, and with
//! none, where callers store what they write themselves.

use kubist_storage::conformance::Subject;
use kubist_storage::conformance_suite;
use kubist_storage::memory::{Config, TokioClock};
use kubist_storage_redb::{Store, StoreError};
use std::future::{Ready, ready};
use std::path::Path;
use std::sync::Arc;
use tokio::task::JoinSet;

fn subject(open: impl FnOnce(&Path) -> Result<Store, StoreError>) -> Ready<Subject> {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let clock = Arc::new(TokioClock::start());
    let kv = store.into_kv(Config::default(), clock).unwrap();
    let mut tasks = JoinSet::new();
    let runner = kv.clone();
    tasks.spawn(async move { runner.run().await });
    ready(Subject::new(Arc::new(kv), "/check/", (tasks, folder)))
}

mod synced {
    use super::*;

    conformance_suite!(#[tokio::test(start_paused = true)] => subject(Store::open));
}

mod unsynced {
    use super::*;

    conformance_suite!(#[tokio::test(start_paused = true)] => subject(Store::open_unsynced));
}

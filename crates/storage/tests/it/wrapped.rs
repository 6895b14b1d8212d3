//! A wrapper without any methods against the conformance suite.

use kubist_storage::KvRead;
use kubist_storage::conformance::Subject;
use kubist_storage::conformance_suite;
use kubist_storage::memory::MemoryKv;
use kubist_storage::{Kv, KvWrapper};
use std::future::{Ready, ready};
use std::sync::Arc;
use tokio::task::JoinSet;

#[derive(Debug)]
struct Plain(MemoryKv);

impl KvWrapper for Plain {
    fn inner(&self) -> &dyn Kv {
        &self.0
    }
}

fn subject() -> Ready<Subject> {
    let kv = MemoryKv::default();
    let mut tasks = JoinSet::new();
    let runner = kv.clone();
    tasks.spawn(async move { runner.run().await });
    ready(Subject::new(Arc::new(Plain(kv)), "/check/", tasks))
}

conformance_suite!(#[tokio::test(start_paused = true)] => subject());

#[test]
fn what_would_be_read_past_a_wrapper_is_not_given_out() {
    let kv = MemoryKv::default();
    assert!(kv.head().is_some());
    assert!(Plain(kv).head().is_none());
}

//! Auto traits of the public types.

use kubist_storage::memory::MemoryKv;
use kubist_storage::{
    Event, KeyRange, Kv, KvFuture, ProgressRequester, ReadError, Watch, WriteError,
};
use std::sync::Arc;

fn sent<T: Send + 'static>() {}
fn shared<T: Send + Sync + 'static>() {}
fn unpin<T: Unpin>() {}

#[test]
fn public_types_can_cross_threads() {
    shared::<MemoryKv>();
    shared::<Arc<dyn Kv>>();
    shared::<Event>();
    shared::<KeyRange>();
    shared::<ReadError>();
    shared::<WriteError>();
    shared::<ProgressRequester>();
    sent::<Watch>();
    unpin::<Watch>();
    sent::<KvFuture<'static, u8>>();
    unpin::<KvFuture<'static, u8>>();
}

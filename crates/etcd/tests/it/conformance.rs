//! The checks that every storage engine must pass, over the wire: the server, and the engine that
//! is a client of an etcd.

use crate::client::Server;
use kubist_storage::conformance::Subject;
use kubist_storage::conformance_suite;
use kubist_storage_etcd::{Config, EtcdKv};
use std::sync::Arc;

async fn subject() -> Option<Subject> {
    let server = Server::start().await;
    let kv = EtcdKv::new(Config::new([&server.url])).unwrap();
    kv.learn_versions().await;
    Some(Subject::new(Arc::new(kv), "/check/", server))
}

conformance_suite!(#[tokio::test] => subject());

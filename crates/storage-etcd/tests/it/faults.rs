//! Errors of an etcd that refuses, is slow or is unreachable.

use crate::etcd::{Etcd, Release, free_addresses};
use kubist_storage::{
    Expected, FaultKind, KeyRange, KvRead, KvWatch, KvWrite, PutRequest, ReadError, WatchError,
};
use kubist_storage::{WatchRangeRequest, WriteError};
use kubist_storage_etcd::{Config, ConfigError, EtcdKv};
use kubist_test_support::FaultProxy;
use std::error::Error;
use std::time::Duration;
use tokio::time::Instant;

/// Time limits for tests.
pub(crate) fn impatient(server: String) -> Config {
    Config {
        request_timeout: Duration::from_secs(2),
        resume_timeout: Duration::from_secs(2),
        ..Config::new([server])
    }
}

fn kind(error: &ReadError) -> FaultKind {
    match error {
        ReadError::Fault(fault) => fault.kind(),
        other => panic!("expected a fault, found {other:?}"),
    }
}

#[tokio::test]
async fn an_etcd_that_is_not_there_is_unavailable_after_the_deadline() {
    let address = free_addresses(1)[0];
    let kv = EtcdKv::new(impatient(format!("http://{address}"))).unwrap();
    let started = Instant::now();
    assert_eq!(
        kind(&kv.revision().await.unwrap_err()),
        FaultKind::Unavailable
    );
    let put = kv.put(PutRequest::new("/a", "1", Expected::Absent)).await;
    let Err(WriteError::Fault(fault)) = put else {
        panic!("{put:?}");
    };
    assert_eq!(fault.kind(), FaultKind::Unavailable, "it was never sent");
    let watch = kv.watch(WatchRangeRequest::new(KeyRange::all())).await;
    assert!(matches!(watch, Err(WatchError::Fault(_))));
    assert!(
        started.elapsed() < Duration::from_secs(10),
        "each has its deadline"
    );
}

/// The second member accepts connections and says nothing.
#[tokio::test]
async fn a_silent_member_does_not_hide_why_the_one_before_it_failed() {
    let absent = format!("http://{}", free_addresses(1)[0]);
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}", silent.local_addr().unwrap());
    let config = Config {
        servers: vec![absent, silent],
        ..impatient(String::new())
    };
    let kv = EtcdKv::new(config).unwrap();
    let put = kv.put(PutRequest::new("/a", "1", Expected::Absent)).await;
    let Err(WriteError::Fault(fault)) = put else {
        panic!("{put:?}");
    };
    assert_eq!(fault.kind(), FaultKind::Timeout, "it may have happened");
    let causes = std::iter::successors(fault.source(), |it| (*it).source());
    let causes: Vec<String> = causes.map(ToString::to_string).collect();
    assert_eq!(
        causes[..2],
        [
            "no answer before the deadline; the attempt before it failed",
            "the storage engine is not available",
        ]
    );
    assert!(
        causes.last().unwrap().contains("refused"),
        "it is the first member's: {causes:?}"
    );
}

#[tokio::test]
async fn an_etcd_that_does_not_answer_times_out() {
    let Some(etcd) = Etcd::start(Release::Current).await else {
        return;
    };
    let proxy = FaultProxy::start(etcd.address()).unwrap();
    let kv = EtcdKv::new(impatient(proxy.url("http"))).unwrap();
    kv.revision().await.unwrap();
    proxy.hold();
    assert_eq!(kind(&kv.revision().await.unwrap_err()), FaultKind::Timeout);
    let put = kv.put(PutRequest::new("/a", "1", Expected::Absent)).await;
    let Err(WriteError::Fault(fault)) = put else {
        panic!("{put:?}");
    };
    assert_eq!(fault.kind(), FaultKind::Timeout, "it may have happened");
}

/// A request above etcd's limit and below its transport's, and one above both.
#[tokio::test]
async fn too_large_a_request_is_that_whoever_refuses_it() {
    for release in [Release::Packaged, Release::Current] {
        let Some(etcd) = Etcd::start(release).await else {
            continue;
        };
        for size in [1_600_000, 3_000_000] {
            let put = PutRequest::new("/a", vec![b'x'; size], Expected::Absent);
            let result = etcd.kv().put(put).await;
            let Err(WriteError::TooLarge { bytes, .. }) = result else {
                panic!("{release:?}, {size}: {result:?}");
            };
            assert_eq!(bytes, size + 2);
        }
    }
}

#[tokio::test]
async fn a_full_database_is_out_of_space() {
    // etcd compares the quota with what is committed, by default ten times a second.
    let quota = ["--quota-backend-bytes=200000", "--backend-batch-limit=1"];
    let Some(etcd) = Etcd::start_with(Release::Current, &quota).await else {
        return;
    };
    let kv = etcd.kv();
    let mut result = None;
    for at in 0..100 {
        let put = PutRequest::new(format!("/{at}"), vec![b'x'; 20_000], Expected::Absent);
        if let Err(error) = kv.put(put).await {
            result = Some(error);
            break;
        }
    }
    let Some(WriteError::Fault(fault)) = result else {
        panic!("{result:?}");
    };
    assert_eq!(fault.kind(), FaultKind::NoSpace);
}

#[tokio::test]
async fn a_configuration_that_cannot_work_is_refused_at_once() {
    let refused = |server: &str| EtcdKv::new(Config::new([server])).unwrap_err();
    for server in [
        "",
        "127.0.0.1:2379",
        "ftp://127.0.0.1",
        "http://",
        "not a url",
    ] {
        let error = refused(server);
        assert!(
            matches!(error, ConfigError::Server { .. }),
            "{server}: {error:?}"
        );
    }
    let none = EtcdKv::new(Config::new([""; 0])).unwrap_err();
    assert!(matches!(none, ConfigError::NoServers));
    let mut config = Config::new(["http://127.0.0.1:2379"]);
    config.tls.authorities = Some(b"what".to_vec());
    assert!(matches!(
        EtcdKv::new(config),
        Err(ConfigError::NotTls { .. })
    ));
}

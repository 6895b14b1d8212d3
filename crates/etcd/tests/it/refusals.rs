//! Errors have etcd's codes and texts, and what is not supported is refused by name.

use crate::client::{Client, Server, delete, operation, put, range};
use kubist_etcd::Config;
use kubist_etcd_api as api;
use kubist_storage::memory;
use tonic::Code;

#[tokio::test]
async fn errors_are_those_of_etcd() {
    let server = Server::start().await;
    let mut client = server.client().await;
    for value in 0..20 {
        client.put("a", &value.to_string()).await;
    }
    let compact = |revision| api::CompactionRequest {
        revision,
        physical: false,
    };
    let done = client.call::<_, api::CompactionResponse>(api::COMPACT, compact(10));
    assert_eq!(done.await.unwrap().header.unwrap().revision, 21);
    let at = |revision| api::RangeRequest {
        revision,
        ..range("a", "")
    };
    let cases: [(&'static str, api::RangeRequest, Code, &str); 4] = [
        (
            api::RANGE,
            at(9),
            Code::OutOfRange,
            "etcdserver: mvcc: required revision has been compacted",
        ),
        (
            api::RANGE,
            at(22),
            Code::OutOfRange,
            "etcdserver: mvcc: required revision is a future revision",
        ),
        (
            api::RANGE,
            range("", ""),
            Code::InvalidArgument,
            "etcdserver: key is not provided",
        ),
        (
            "/etcdserverpb.Maintenance/Snapshot",
            range("", ""),
            Code::Unimplemented,
            "Maintenance/Snapshot is not supported by this server: stop it, and run `kubist storage \
             backup`",
        ),
    ];
    for (path, request, code, text) in cases {
        let status = client.call::<_, api::RangeResponse>(path, request).await;
        let status = status.unwrap_err();
        assert_eq!((status.code(), status.message()), (code, text));
    }
    for (revision, text) in [
        (10, "etcdserver: mvcc: required revision has been compacted"),
        (
            99,
            "etcdserver: mvcc: required revision is a future revision",
        ),
    ] {
        let done = client.call::<_, api::CompactionResponse>(api::COMPACT, compact(revision));
        assert_eq!(done.await.unwrap_err().message(), text);
    }
}

#[tokio::test]
async fn transaction_that_etcd_would_refuse_is_refused() {
    let config = Config {
        txn_operations_max: 3,
        ..Config::default()
    };
    let server = Server::start_with(memory::Config::default(), config).await;
    let mut client = server.client().await;
    let puts = |keys: &[&str]| {
        let put = |key: &&str| operation(api::Operation::Put(put(key, "1")));
        keys.iter().map(put).collect::<Vec<_>>()
    };
    let mut deleted = puts(&["a", "b"]);
    deleted.push(operation(api::Operation::Delete(delete("a", "c"))));
    let nested = api::Operation::Txn(api::TxnRequest::default());
    let past = api::Operation::Range(api::RangeRequest {
        revision: 1,
        ..range("a", "")
    });
    let cases = [
        (
            puts(&["a", "b", "a"]),
            "etcdserver: duplicate key given in txn request",
        ),
        (deleted, "etcdserver: duplicate key given in txn request"),
        (
            puts(&["a", "b", "c", "d"]),
            "etcdserver: too many operations in txn request",
        ),
        (puts(&[""]), "etcdserver: key is not provided"),
        (
            vec![operation(nested)],
            "a transaction inside a transaction is not supported by this server",
        ),
        (
            vec![operation(past)],
            "a read of an earlier revision inside a transaction is not supported by this server",
        ),
    ];
    for (operations, text) in cases {
        for in_failure in [false, true] {
            let mut txn = api::TxnRequest::default();
            let branch = if in_failure {
                &mut txn.failure
            } else {
                &mut txn.success
            };
            branch.clone_from(&operations);
            let done = client.call::<_, api::TxnResponse>(api::TXN, txn).await;
            assert_eq!(done.unwrap_err().message(), text);
        }
    }
    assert_eq!(server.kv.stats().keys, 0);
}

/// It is refused before anything is encoded.
#[tokio::test]
async fn response_that_no_client_takes_is_refused() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let value = "v".repeat(1_400_000);
    for key in 0..20 {
        client.put(&format!("k{key}"), &value).await;
    }
    let all = || operation(api::Operation::Range(range("k", "l")));
    let txn = |reads: usize| api::TxnRequest {
        success: (0..reads).map(|_| all()).collect(),
        ..api::TxnRequest::default()
    };
    let refused = client.call::<_, api::TxnResponse>(api::TXN, txn(100)).await;
    let status = refused.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    let text = "grpc: trying to send message larger than max (28";
    assert!(status.message().starts_with(text), "{status:?}");
    // A large one is encoded apart from others, and is the same.
    let mut client = Client::unlimited(&server.url).await;
    let done: api::TxnResponse = client.call(api::TXN, txn(2)).await.unwrap();
    let sizes = done.responses.into_iter().map(|it| match it.response {
        Some(api::OperationResponse::Range(found)) => {
            let values = found.kvs.iter().map(|it| it.value.len());
            values.sum::<usize>()
        }
        other => panic!("{other:?}"),
    });
    assert_eq!(sizes.collect::<Vec<_>>(), [28_000_000, 28_000_000]);
}

#[tokio::test]
async fn full_store_raises_an_alarm_and_takes_deletes() {
    let limits = memory::Config {
        data_bytes_max: Some(4096),
        ..memory::Config::default()
    };
    let server = Server::start_with(limits, Config::default()).await;
    let mut client = server.client().await;
    client.put("a", &"x".repeat(3000)).await;
    let full = client.call::<_, api::PutResponse>(api::PUT, put("b", &"x".repeat(3000)));
    let full = full.await.unwrap_err();
    assert_eq!(
        (full.code(), full.message()),
        (
            Code::ResourceExhausted,
            "etcdserver: mvcc: database space exceeded"
        )
    );
    let alarms = |client: Client| async move {
        let mut client = client;
        let alarms = client.call::<_, api::AlarmResponse>(api::ALARM, api::AlarmRequest::default());
        let alarms = alarms.await.unwrap().alarms;
        alarms.iter().map(|it| it.alarm).collect::<Vec<_>>()
    };
    assert_eq!(
        alarms(client.clone()).await,
        [api::AlarmType::NoSpace as i32]
    );
    let deleted = client.call::<_, api::DeleteRangeResponse>(api::DELETE_RANGE, delete("a", ""));
    assert_eq!(deleted.await.unwrap().deleted, 1);
    assert_eq!(alarms(client).await, [0; 0]);
}

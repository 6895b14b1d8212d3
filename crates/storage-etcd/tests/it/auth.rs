//! An etcd with authentication.

use crate::etcd::{Etcd, Release};
use kubist_storage::{
    Expected, FaultKind, KeyRange, KvRead, KvWatch, KvWrite, PutRequest, ReadError, WatchError,
};
use kubist_storage::{WatchRangeRequest, WriteError};
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Calls etcd's JSON gateway.
async fn call(etcd: SocketAddr, path: &str, body: &str) {
    let mut stream = TcpStream::connect(etcd).await.unwrap();
    let length = body.len();
    let request = format!(
        "POST /v3/auth/{path} HTTP/1.1\r\nHost: etcd\r\nContent-Type: application/json\r\n\
         Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
}

#[tokio::test]
async fn an_etcd_that_wants_a_user_denies_permission() {
    for release in [Release::Packaged, Release::Current] {
        let Some(etcd) = Etcd::start(release).await else {
            continue;
        };
        let kv = etcd.kv();
        kv.revision().await.unwrap();
        let address = etcd.address();
        call(
            address,
            "user/add",
            r#"{"name":"root","password":"secret"}"#,
        )
        .await;
        call(address, "user/grant", r#"{"user":"root","role":"root"}"#).await;
        call(address, "enable", "{}").await;

        let Err(ReadError::Fault(read)) = kv.revision().await else {
            panic!("{release:?} let a stranger read");
        };
        assert_eq!(read.kind(), FaultKind::PermissionDenied, "{release:?}");
        let put = kv.put(PutRequest::new("/a", "1", Expected::Absent)).await;
        let Err(WriteError::Fault(write)) = put else {
            panic!("{release:?} let a stranger write");
        };
        assert_eq!(write.kind(), FaultKind::PermissionDenied, "{release:?}");
        assert!(!write.is_transient());
        let watch = WatchRangeRequest::new(KeyRange::all()).from(1.into());
        let end = match kv.watch(watch).await {
            Ok(mut watch) => watch.next().await.unwrap().unwrap_err(),
            Err(error) => error,
        };
        let WatchError::Fault(fault) = end else {
            panic!("{release:?}: {end:?}");
        };
        assert_eq!(fault.kind(), FaultKind::PermissionDenied, "{release:?}");
    }
}

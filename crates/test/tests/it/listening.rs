//! Servers with a port.

use crate::objects::{map, maps};
use kubist::kubeconfig::Options;
use kubist_test::{TestError, TestServer};

#[tokio::test]
async fn a_kubeconfig_reaches_a_server_with_a_port() -> kubist_test::Result {
    let server = TestServer::builder()
        .controllers([])
        .listen()
        .start()
        .await?;
    maps(&server).create(&map("a", "1")).await?;
    let folder = tempfile::tempdir().expect("there is a place for it");
    let file = folder.path().join("kubeconfig");
    server.write_kubeconfig(&file)?;
    assert!(server.kubeconfig()?.contains(&server.server().url()));
    let client = kubist::infer_with(&Options {
        file: Some(file),
        ..Options::default()
    });
    let client = client.map_err(|error| TestError::Other(Box::new(error)))?;
    let maps =
        kubist::client::Api::<kubist::api::core::v1::ConfigMap>::namespaced(client, "default");
    assert_eq!(maps.get("a").await?.data.len(), 1);
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn a_server_without_a_port_has_no_kubeconfig() -> kubist_test::Result {
    let server = TestServer::start().await?;
    let error = server.kubeconfig().expect_err("there is no port");
    assert!(matches!(error, TestError::NoPort), "{error}");
    assert_eq!(server.server().url(), "");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_port_and_virtual_time_exclude_each_other() {
    let error = TestServer::builder()
        .listen()
        .start()
        .await
        .expect_err("time is virtual");
    assert!(matches!(error, TestError::PortInVirtualTime), "{error}");
}

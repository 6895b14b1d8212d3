//! A first test of a controller, and a first exploration.

mod explored;
mod labeler;
mod passwords;

use kubist::api::core::v1::ConfigMap;
use kubist::apimachinery::StrOption as _;
use kubist_test::TestServer;
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn config_maps_are_labelled_and_then_left_alone() -> kubist_test::Result {
    let server = TestServer::start().await?;
    server.run("labeler", labeler::run)?;
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}";
    server.apply_yaml(map).await?;
    let is_labelled = |map: &ConfigMap| map.metadata.labels.get("seen").is("yes");
    let map = || server.object::<ConfigMap>("default", "a");
    map().eventually(is_labelled).await?;
    map()
        .never(Duration::from_secs(3600), |it| !is_labelled(it))
        .await?;
    assert_eq!(server.journal().count("labeler", "PATCH"), 3); // the cluster has two of its own
    Ok(())
}

//! The server's controllers, and those of tests.

use crate::objects::{map, maps};
use kubist::api::apps::v1::Deployment;
use kubist::api::core::v1::{ConfigMap, Namespace, ResourceQuota};
use kubist::client::{Api, ApiError};
use kubist_test::{RunError, ServerController, TestServer};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test(start_paused = true)]
async fn controllers_are_started_and_stopped_one_by_one() -> kubist_test::Result {
    let server = TestServer::builder().controllers([]).start().await?;
    let namespaces: Api<Namespace> = Api::all(server.client());
    server
        .apply_yaml("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")
        .await?;
    let shop: Api<ConfigMap> = Api::namespaced(server.client(), "shop");
    shop.create(&map("a", "")).await?;
    namespaces.delete("shop").await?;
    server
        .object::<ConfigMap>("shop", "a")
        .never(MINUTE, |it| it.metadata.deletion_timestamp.is_some())
        .await?;
    let controller = server.start_controller(ServerController::Namespace)?;
    server
        .object::<Namespace>("", "shop")
        .eventually_gone()
        .await?;
    server
        .objects::<ConfigMap>("shop")
        .eventually(<[ConfigMap]>::is_empty)
        .await?;
    controller.stop().await?;
    server
        .apply_yaml("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")
        .await?;
    namespaces.delete("shop").await?;
    let mut is_there = false;
    server
        .object::<Namespace>("", "shop")
        .never(MINUTE, |_| {
            is_there = true;
            false
        })
        .await?;
    assert!(is_there, "nobody empties it any more");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn quotas_limit_what_is_created() -> kubist_test::Result {
    let server = TestServer::start().await?;
    server
        .apply_yaml(
            "{apiVersion: v1, kind: ResourceQuota, metadata: {name: few}, \
             spec: {hard: {count/configmaps: '1'}}}",
        )
        .await?;
    let quota = server.object::<ResourceQuota>("default", "few");
    quota.eventually(|it| !it.status.used.is_empty()).await?;
    let maps = maps(&server);
    maps.create(&map("a", "")).await?;
    let error = maps
        .create(&map("b", ""))
        .await
        .expect_err("one is allowed");
    let expected = "exceeded quota: few, requested: count/configmaps=1, used: count/configmaps=1, \
                    limited: count/configmaps=1";
    assert!(error.to_string().contains(expected), "{error}");
    maps.delete("a").await?;
    server.advance(MINUTE).await?;
    maps.create(&map("b", "")).await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn dependents_of_what_is_deleted_are_collected() -> kubist_test::Result {
    let server = TestServer::start().await?;
    let maps = maps(&server);
    let owner = maps.create(&map("owner", "")).await?;
    let mut child = map("child", "");
    child.metadata.owner_references = vec![kubist::apimachinery::OwnerReference {
        api_version: "v1".into(),
        kind: "ConfigMap".into(),
        name: "owner".into(),
        uid: owner.metadata.uid,
        ..Default::default()
    }];
    maps.create(&child).await?;
    maps.delete("owner").await?;
    server
        .object::<ConfigMap>("default", "child")
        .eventually_gone()
        .await?;
    Ok(())
}

const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: web}]}
";

#[tokio::test(start_paused = true)]
async fn workloads_become_ready_where_they_are_simulated() -> kubist_test::Result {
    let mut controllers = ServerController::USUAL.to_vec();
    controllers.push(ServerController::Workloads);
    let server = TestServer::builder()
        .controllers(controllers)
        .yaml(WEB)
        .start()
        .await?;
    let web = server.object::<Deployment>("default", "web");
    web.eventually(|it| it.status.ready_replicas == 3).await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_a_controller_fails_with_is_reported() -> kubist_test::Result {
    let server = TestServer::builder().controllers([]).start().await?;
    server.run("breaks", |client, _| async move {
        maps_of(client).get("no").await.map(drop)
    })?;
    let panics = server.run("panics", |_, _| async {
        assert!(std::hint::black_box(false), "on purpose");
        Ok::<_, ApiError>(())
    })?;
    let error = server
        .object::<ConfigMap>("default", "a")
        .eventually(|_| true)
        .await;
    let text = error.expect_err("nobody creates it").to_string();
    assert!(
        text.contains("  breaks has failed: configmaps \"no\" not found"),
        "{text}"
    );
    assert!(
        text.contains("  panics has failed: it panicked: on purpose"),
        "{text}"
    );
    let error = panics.stop().await.expect_err("it has panicked");
    assert!(
        format!("{error:?}").contains("it panicked: on purpose"),
        "{error:?}"
    );
    Ok(())
}

fn maps_of(client: kubist::client::Client) -> Api<ConfigMap> {
    Api::namespaced(client, "default")
}

#[tokio::test(start_paused = true)]
async fn what_ignores_its_token_is_dropped_after_a_bound() -> kubist_test::Result {
    let server = TestServer::builder().controllers([]).start().await?;
    let deaf = server.run("deaf", |_, _| {
        std::future::pending::<Result<(), RunError>>()
    })?;
    let error = deaf.stop().await.expect_err("it does not end");
    let text = format!("{error:?}");
    assert!(
        text.contains("deaf did not end within 30 s after its token was cancelled"),
        "{text}"
    );
    let crashed = server.run("crashes", |_, _| {
        std::future::pending::<Result<(), RunError>>()
    })?;
    crashed.crash().await;
    server.shutdown().await;
    Ok(())
}

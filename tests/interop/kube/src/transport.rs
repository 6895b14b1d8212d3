//! kube's client over Kubist's transport.

use crate::{Both, Failure, expect};
use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{
    DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams,
};

pub async fn under_kube(both: &Both) -> Result<(), Failure> {
    let maps: Api<ConfigMap> = Api::namespaced(both.kube.clone(), &both.namespace);
    let made: ConfigMap = serde_json::from_value(serde_json::json!({
        "metadata": {"name": "one"}, "data": {"a": "1"},
    }))?;
    let created = maps.create(&PostParams::default(), &made).await?;
    let listed = maps.list(&ListParams::default()).await?;
    expect("listed", listed.items.len(), 1)?;
    let version = listed.metadata.resource_version.unwrap_or_default();

    let watched = maps.watch(&WatchParams::default(), &version).await?;
    let mut events = watched.boxed();
    let patch = Patch::Merge(serde_json::json!({"data": {"a": "2"}}));
    maps.patch("one", &PatchParams::default(), &patch).await?;
    maps.delete("one", &DeleteParams::default()).await?;
    let mut kinds = Vec::new();
    while let Some(event) = events.try_next().await? {
        match event {
            WatchEvent::Modified(map) => {
                kinds.push("modified");
                let value = map.data.as_ref().and_then(|it| it.get("a"));
                expect("patched", value.map(String::as_str), Some("2"))?;
            }
            WatchEvent::Deleted(map) => {
                kinds.push("deleted");
                expect("uid", &map.metadata.uid, &created.metadata.uid)?;
                break;
            }
            WatchEvent::Bookmark(_) => {}
            other => return Err(format!("unexpected {other:?}").into()),
        }
    }
    expect("events", kinds, vec!["modified", "deleted"])?;
    match maps.get("one").await {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        other => Err(format!("expected 404, found {other:?}").into()),
    }
}

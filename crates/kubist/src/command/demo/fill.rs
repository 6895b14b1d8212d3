//! Creates Pods so that caches are as large as in a real cluster.

use super::error::{DemoError, Doing as _, check};
use super::pods::PodGenerator;
use super::progress::Bar;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use kubist_api::core::v1::{Namespace, Pod};
use kubist_apimachinery::{ListOptions, Object as _, ObjectMeta};
use kubist_cache::Metadata;
use kubist_client::{Api, Client};

/// Concurrent requests.
const IN_FLIGHT: usize = 32;

/// Creates a namespace, unless it exists.
pub(super) async fn create_namespace(client: &Client, name: &str) -> Result<(), DemoError> {
    let metadata = ObjectMeta {
        name: name.into(),
        ..ObjectMeta::default()
    };
    let namespace = Namespace {
        metadata,
        ..Namespace::default()
    };
    match Api::<Namespace>::all(client.clone())
        .create(&namespace)
        .await
    {
        Err(error) if error.is_already_exists() => Ok(()),
        outcome => outcome
            .map(drop)
            .doing(|| format!("create namespace {name}")),
    }
}

/// Creates `count` Pods with their status, and counts them through the API.
pub(super) async fn fill(
    client: &Client,
    seed: u64,
    count: u32,
    bar: &Bar,
) -> Result<(), DemoError> {
    let generator = PodGenerator::new(seed, count);
    for namespace in generator.namespaces() {
        create_namespace(client, &namespace).await?;
    }
    let (pods, generator) = (&Api::<Pod>::all(client.clone()), &generator);
    let mut created = stream::iter(0..count)
        .map(|index| async move {
            let (pod, status) = generator.pod(index);
            let doing = || format!("create Pod {}", pod.object_name());
            let mut pod = pods.create(&pod).await.doing(doing)?;
            pod.status = status;
            let doing = || format!("set the status of Pod {}", pod.object_name());
            pods.replace_status(&pod).await.doing(doing)
        })
        .buffer_unordered(IN_FLIGHT);
    let mut done = 0;
    while created.try_next().await?.is_some() {
        done += 1;
        bar.set(done, "");
    }
    let found = count_pods(client).await?;
    check("the server holds the Pods", found, u64::from(count))
}

/// Lists the metadata of all Pods, page by page.
async fn count_pods(client: &Client) -> Result<u64, DemoError> {
    let pods = Api::<Metadata<Pod>>::all(client.clone());
    let mut all = pods.list_all(&ListOptions::default());
    let mut count = 0;
    while all
        .try_next()
        .await
        .doing(|| "count the Pods".to_owned())?
        .is_some()
    {
        count += 1;
    }
    Ok(count)
}

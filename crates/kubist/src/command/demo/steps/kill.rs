//! A Pod is deleted and replaced.

use super::super::availability::{is_live, is_ready};
use super::super::error::{DemoError, Doing as _, check};
use super::super::stage::Stage;
use super::super::verify;
use kubist_api::core::v1::Pod;

pub(in super::super) async fn run(
    stage: &Stage,
    app: &str,
    replicas: u64,
) -> Result<String, DemoError> {
    let before = verify::rolled_out(stage, app, replicas).await?;
    let Some(victim) = before.first() else {
        let found = "no Pod".to_owned();
        return Err(DemoError::Check {
            what: format!("{app} has a Pod to kill"),
            found,
        });
    };
    let (name, uid) = (&victim.metadata.name, &victim.metadata.uid);
    let deleted = stage.api::<Pod>().delete(name).await;
    deleted.doing(|| format!("delete Pod {name}"))?;
    let known = |uid: &str| before.iter().any(|pod| pod.metadata.uid.as_str() == uid);
    stage
        .until(&format!("Pod {name} is replaced"), |stage| {
            let pods = stage.pods(app);
            let fresh = pods
                .iter()
                .filter(|pod| is_live(pod) && is_ready(pod) && !known(&pod.metadata.uid))
                .count();
            let there = pods.iter().any(|pod| pod.metadata.uid == *uid);
            if fresh == 1 && !there {
                return Ok(());
            }
            let still = if there { "there" } else { "gone" };
            Err(format!("it is {still}, {fresh} new Pods are ready"))
        })
        .await?;
    stage.until_rolled_out(app, replicas, |_| ()).await?;
    let after = verify::rolled_out(stage, app, replicas).await?;
    let kept = after.iter().filter(|pod| known(&pod.metadata.uid)).count();
    check("all other Pods are untouched", kept, before.len() - 1)?;
    let fresh = after.iter().find(|pod| !known(&pod.metadata.uid));
    let fresh = fresh.map_or("?", |pod| pod.metadata.name.as_str());
    Ok(format!("{name} replaced by {fresh}"))
}

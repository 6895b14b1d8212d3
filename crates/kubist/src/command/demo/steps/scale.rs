//! A Deployment is scaled up through its scale subresource, and later down.

use super::super::error::{DemoError, Doing as _, check};
use super::super::progress::Progress;
use super::super::stage::Stage;
use super::super::verify;
use kubist_api::apps::v1::Deployment;

pub(in super::super) async fn run(
    stage: &Stage,
    app: &str,
    counts: [u64; 2],
    progress: &Progress,
) -> Result<String, DemoError> {
    let bar = progress.bar(app, counts[0]);
    let mut before = verify::pods(stage, app).await?.len();
    let first = before;
    for replicas in counts {
        let deployments = stage.api::<Deployment>();
        let doing = || format!("scale Deployment {app}");
        let mut scale = deployments.scale().get(app).await.doing(doing)?;
        check(
            "the scale subresource has the replicas",
            scale.status.replicas,
            to_i32(before),
        )?;
        scale.spec.replicas = to_i32(replicas);
        deployments
            .scale()
            .replace(app, &scale)
            .await
            .doing(doing)?;
        bar.set_total(replicas);
        stage
            .until_rolled_out(app, replicas, |available| bar.set(available, "available"))
            .await?;
        before = verify::rolled_out(stage, app, replicas).await?.len();
    }
    Ok(format!(
        "{app} {first} → {} → {} replicas",
        counts[0], counts[1]
    ))
}

fn to_i32(count: impl TryInto<i32>) -> i32 {
    count.try_into().unwrap_or(i32::MAX)
}

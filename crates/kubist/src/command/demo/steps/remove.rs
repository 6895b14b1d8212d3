//! A Deployment is deleted, and the garbage collector removes its dependents.

use super::super::error::{DemoError, Doing as _};
use super::super::stage::Stage;
use super::super::{units, verify};
use kubist_api::apps::v1::Deployment;

pub(in super::super) async fn run(stage: &Stage, app: &str) -> Result<String, DemoError> {
    let pods = verify::pods(stage, app).await?.len();
    let deleted = stage.api::<Deployment>().delete(app).await;
    deleted.doing(|| format!("delete Deployment {app}"))?;
    stage
        .until(&format!("nothing of {app} is left"), |stage| {
            let (sets, pods) = (stage.replica_sets(app).len(), stage.pods(app).len());
            if stage.deployment(app).is_none() && sets == 0 && pods == 0 {
                return Ok(());
            }
            Err(format!("{sets} ReplicaSets and {pods} Pods"))
        })
        .await?;
    verify::removed(stage, app).await?;
    let pods = units::of(pods as u64, "Pod");
    Ok(format!("{app}, its ReplicaSet and {pods} are gone"))
}

//! A new image is rolled out, with no more Pods missing at any moment than the strategy allows.

use kubist_api::apps::v1::Deployment;
use kubist_apimachinery::{IntOrString, Rounding};
use kubist_client::Patch;
use serde_json::json;

use super::super::error::{DemoError, Doing as _, check};
use super::super::progress::{Progress, Step};
use super::super::stage::Stage;
use super::super::verify;

/// The tag of the new image.
const TAG: &str = "2.0.0";

pub(in super::super) async fn run(
    stage: &Stage,
    app: &str,
    replicas: u64,
    progress: &Progress,
    step: &Step<'_>,
) -> Result<String, DemoError> {
    let deployments = stage.api::<Deployment>();
    let deployment = deployments
        .get(app)
        .await
        .doing(|| format!("get Deployment {app}"))?;
    let bounds = Bounds::of(&deployment, replicas)?;
    let Some(container) = deployment.spec.template.spec.containers.first() else {
        let found = "none".to_owned();
        return Err(DemoError::Check {
            what: format!("{app} has a container"),
            found,
        });
    };
    let (repository, old) = container
        .image
        .rsplit_once(':')
        .unwrap_or((&container.image, ""));
    let image = format!("{repository}:{TAG}");

    let availability = stage.follow(app).await?;
    availability.begin();
    let bar = progress.bar(app, replicas);
    step.note(&image);
    let patch = json!({"spec": {"template": {"spec": {"containers": [
        {"name": container.name, "image": image},
    ]}}}});
    let patched = deployments.patch(app, &Patch::Strategic(patch)).await;
    let patched = patched.doing(|| format!("set the image of {app}"))?;
    stage
        .until(&format!("the rollout of {image} is seen"), |stage| {
            let status = stage
                .deployment(app)
                .map_or(0, |it| it.status.observed_generation);
            let wanted = patched.metadata.generation;
            if status >= wanted {
                Ok(())
            } else {
                Err(format!("generation {status} of {wanted}"))
            }
        })
        .await?;
    stage
        .until_rolled_out(app, replicas, |available| bar.set(available, "available"))
        .await?;

    let pods = verify::rolled_out(stage, app, replicas).await?;
    let updated = |pod: &&kubist_api::core::v1::Pod| {
        pod.spec
            .containers
            .iter()
            .any(|it| it.image.as_str() == image)
    };
    check(
        "every Pod runs the new image",
        pods.iter().filter(updated).count(),
        pods.len(),
    )?;
    let sets = verify::replica_sets(stage, app).await?;
    let old_pods: i32 = sets
        .iter()
        .filter(|set| {
            !set.spec
                .template
                .spec
                .containers
                .iter()
                .any(|it| it.image.as_str() == image)
        })
        .map(|set| set.status.replicas)
        .sum();
    check(
        "the old ReplicaSet has no Pods",
        (sets.len() >= 2, old_pods),
        (true, 0),
    )?;
    let extremes = availability.extremes();
    let (least, most) = (extremes.ready_least as u64, extremes.live_most as u64);
    if least < bounds.ready_least || most > bounds.live_most {
        return Err(DemoError::Check {
            what: format!(
                "{app} always had {} ready Pods and never over {}",
                bounds.ready_least, bounds.live_most
            ),
            found: format!("at worst {least} ready, at most {most} Pods"),
        });
    }
    Ok(format!(
        "{app} {old} → {TAG}, never below {least} ready of {replicas} ({} allowed)",
        bounds.ready_least
    ))
}

/// What the strategy allows.
#[derive(Debug, PartialEq, Eq)]
struct Bounds {
    ready_least: u64,
    live_most: u64,
}

impl Bounds {
    /// The default of both numbers is 25 %; the missing are rounded down, the surplus up.
    fn of(deployment: &Deployment, replicas: u64) -> Result<Self, DemoError> {
        let strategy = deployment.spec.strategy.rolling_update.as_deref();
        let quarter = IntOrString::from("25%");
        let unavailable = strategy
            .and_then(|it| it.max_unavailable.as_ref())
            .unwrap_or(&quarter);
        let surge = strategy
            .and_then(|it| it.max_surge.as_ref())
            .unwrap_or(&quarter);
        let scaled = |value: &IntOrString, rounding| {
            let total = i64::try_from(replicas).unwrap_or(i64::MAX);
            let scaled = value
                .scaled(total, rounding)
                .map_err(|error| DemoError::Check {
                    what: "the strategy can be computed".to_owned(),
                    found: error.to_string(),
                })?;
            Ok::<_, DemoError>(u64::try_from(scaled).unwrap_or(0))
        };
        let surge = scaled(surge, Rounding::Up)?;
        let unavailable = match scaled(unavailable, Rounding::Down)? {
            // With both zero nothing could move; controllers take it as one.
            0 if surge == 0 => 1,
            unavailable => unavailable,
        };
        Ok(Self {
            ready_least: replicas.saturating_sub(unavailable),
            live_most: replicas + surge,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::apps::v1::RollingUpdateDeployment;

    #[test]
    fn missing_pods_are_rounded_down_and_surplus_up() {
        let mut deployment = Deployment::default();
        let bounds = Bounds::of(&deployment, 7).unwrap();
        assert_eq!(
            bounds,
            Bounds {
                ready_least: 6,
                live_most: 9
            }
        );
        let zero = RollingUpdateDeployment {
            max_unavailable: Some(IntOrString::from("0%")),
            max_surge: Some(IntOrString::from("0%")),
        };
        deployment.spec.strategy.rolling_update = Some(Box::new(zero));
        let bounds = Bounds::of(&deployment, 4).unwrap();
        assert_eq!(
            bounds,
            Bounds {
                ready_least: 3,
                live_most: 4
            }
        );
    }
}

//! A new image is rolled out within the limits of the update strategy.

use super::super::availability::Extremes;
use super::super::error::{DemoError, Doing as _, check};
use super::super::progress::{Progress, Step};
use super::super::stage::Stage;
use super::super::verify;
use kubist_api::apps::v1::Deployment;
use kubist_api::core::v1::PodSpec;
use kubist_apimachinery::{IntOrString, Rounding};
use kubist_client::{Api, Patch};
use serde_json::json;

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
    let generation = set_image(&deployments, app, &container.name, &image).await?;
    let what = format!("the rollout of {image} is seen");
    let seen = |stage: &Stage| {
        let seen = stage
            .deployment(app)
            .map_or(0, |it| it.status.observed_generation);
        if seen >= generation {
            Ok(())
        } else {
            Err(format!("generation {seen} of {generation}"))
        }
    };
    stage.until(&what, seen).await?;
    stage
        .until_rolled_out(app, replicas, |available| bar.set(available, "available"))
        .await?;

    check_image(stage, app, replicas, &image).await?;
    let extremes = availability.extremes();
    bounds.check(app, extremes)?;
    let (least, allowed) = (extremes.ready_least, bounds.ready_least);
    Ok(format!(
        "{app} {old} → {TAG}, never below {least} ready of {replicas} ({allowed} allowed)"
    ))
}

/// Returns the resulting generation of the Deployment.
async fn set_image(
    deployments: &Api<Deployment>,
    app: &str,
    container: &str,
    image: &str,
) -> Result<i64, DemoError> {
    let containers = json!([{"name": container, "image": image}]);
    let patch = json!({"spec": {"template": {"spec": {"containers": containers}}}});
    let patched = deployments.patch(app, &Patch::Strategic(patch)).await;
    Ok(patched
        .doing(|| format!("set the image of {app}"))?
        .metadata
        .generation)
}

/// All Pods run the image, and the old `ReplicaSet` has no replicas.
async fn check_image(
    stage: &Stage,
    app: &str,
    replicas: u64,
    image: &str,
) -> Result<(), DemoError> {
    let runs = |spec: &PodSpec| spec.containers.iter().any(|it| it.image.as_str() == image);
    let pods = verify::rolled_out(stage, app, replicas).await?;
    let updated = pods.iter().filter(|pod| runs(&pod.spec)).count();
    check("every Pod runs the new image", updated, pods.len())?;
    let sets = verify::replica_sets(stage, app).await?;
    let old = sets.iter().filter(|set| !runs(&set.spec.template.spec));
    let left: i32 = old.map(|set| set.status.replicas).sum();
    check(
        "the old ReplicaSet has no Pods",
        (sets.len() >= 2, left),
        (true, 0),
    )
}

/// The limits of the strategy.
#[derive(Debug, PartialEq, Eq)]
struct Bounds {
    ready_least: u64,
    live_most: u64,
}

impl Bounds {
    /// Both default to 25 %; the unavailable are rounded down, the surge up.
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
            // Both being zero would block the rollout; controllers then use one.
            0 if surge == 0 => 1,
            unavailable => unavailable,
        };
        Ok(Self {
            ready_least: replicas.saturating_sub(unavailable),
            live_most: replicas + surge,
        })
    }
}

impl Bounds {
    fn check(&self, app: &str, extremes: Extremes) -> Result<(), DemoError> {
        let (least, most) = (extremes.ready_least as u64, extremes.live_most as u64);
        let Self {
            ready_least,
            live_most,
        } = self;
        if least >= *ready_least && most <= *live_most {
            return Ok(());
        }
        let what = format!("{app} always had {ready_least} ready Pods and never over {live_most}");
        let found = format!("at worst {least} ready, at most {most} Pods");
        Err(DemoError::Check { what, found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::apps::v1::RollingUpdateDeployment;

    #[test]
    fn a_pod_too_few_or_too_many_fails_the_step() {
        let bounds = Bounds {
            ready_least: 3,
            live_most: 5,
        };
        let passes = |ready_least, live_most| {
            bounds
                .check(
                    "web",
                    Extremes {
                        ready_least,
                        live_most,
                    },
                )
                .is_ok()
        };
        assert!(passes(3, 5) && passes(4, 4));
        assert!(!passes(2, 5) && !passes(3, 6));
    }

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

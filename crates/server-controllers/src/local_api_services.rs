//! The controller of local `APIService`s: one for each group version that the API server itself
//! serves, as upstream's aggregator registers them, so that `kubectl get apiservices` lists all.
//!
//! Those of built-in versions are made once, when the controller starts. Those of custom resources
//! follow their definitions. An `APIService` that somebody else made for the same version stays.

use crate::outdated::ignore_outdated;
use kubist_api::apiextensions::v1::CustomResourceDefinition;
use kubist_api::apiregistration::v1::{APIService, APIServiceSpec};
use kubist_api::{ApiServicePriority, api_service_priority};
use kubist_apimachinery::{ObjectName, Str};
use kubist_cache::Lister;
use kubist_client::{Api, Client};
use kubist_controller::{Action, Controller, Error, Manager, ManagerError, Reconciler, Stats};
use kubist_informers::SharedInformerFactory;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Upstream's label of those that the server makes.
const MANAGED: &str = "kube-aggregator.kubernetes.io/automanaged";
/// Its value for those that are made when the server starts.
const ON_START: &str = "onstart";
/// Its value for those that follow definitions.
const ALWAYS: &str = "true";
/// The pause after a failed round.
const RETRY: Duration = Duration::from_secs(1);

/// Runs until `token` is cancelled.
///
/// # Errors
/// `APIService`s or definitions could not be listed for two minutes.
pub async fn run(client: Client, token: CancellationToken) -> Result<Stats, ManagerError> {
    let api = Api::all(client.clone());
    tokio::select! {
        biased;
        () = token.cancelled() => return Ok(Stats::default()),
        () = make_built_in(&client, &api) => {}
    }
    let factory = SharedInformerFactory::new(client);
    let services = factory.informer::<APIService>();
    let definitions = factory.informer::<CustomResourceDefinition>();
    // There are few, and a burst of changes is one key.
    let controller = Controller::keyed("local-apiservices")
        .watches(&services, |_: &APIService| vec![ObjectName::default()])
        .watches(&definitions, |_: &CustomResourceDefinition| {
            vec![ObjectName::default()]
        });
    let reconciler = LocalApiServices {
        api,
        services: services.lister_unsynced(),
        definitions: definitions.lister_unsynced(),
    };
    let manager = Manager::new(factory).with(controller, reconciler);
    let monitors = manager.monitors();
    manager.run(token).await?;
    let stats = monitors.first().map(kubist_controller::Monitor::stats);
    Ok(stats.unwrap_or_default())
}

struct LocalApiServices {
    api: Api<APIService>,
    services: Lister<APIService>,
    definitions: Lister<CustomResourceDefinition>,
}

/// The `APIService`s that should exist, by name, and the value of their label.
type Wanted = BTreeMap<String, (APIServiceSpec, &'static str)>;

impl Reconciler for LocalApiServices {
    async fn reconcile(&self, _all: ObjectName) -> Result<Action, Error> {
        let mut wanted = Wanted::new();
        for definition in self.definitions.list() {
            add_custom(&mut wanted, &definition);
        }
        for service in self.services.list() {
            let name = &*service.metadata.name;
            let label = service.metadata.labels.get(MANAGED);
            match wanted.remove(name) {
                None if label.is_some_and(|it| it == ALWAYS) => {
                    ignore_outdated(self.api.delete(name).await)?;
                }
                // It is somebody else's, or as it should be.
                None => {}
                Some(_) if label.is_none() => {}
                Some((spec, label)) => correct(&self.api, &service, spec, label).await?,
            }
        }
        for (name, (spec, label)) in wanted {
            create(&self.api, &name, spec, label).await?;
        }
        Ok(Action::done())
    }
}

/// Makes those of the built-in versions, until they are there.
async fn make_built_in(client: &Client, api: &Api<APIService>) {
    while let Err(error) = try_built_in(client, api).await {
        tracing::warn!(%error, "local APIServices could not be made");
        tokio::time::sleep(RETRY).await;
    }
}

async fn try_built_in(client: &Client, api: &Api<APIService>) -> Result<(), Error> {
    let mut wanted = Wanted::new();
    for found in client.discover().await?.resources() {
        add_built_in(&mut wanted, &found.resource.group, &found.resource.version);
    }
    for (name, (spec, label)) in wanted {
        match api.get(&name).await {
            Ok(stored) if stored.metadata.labels.contains_key(MANAGED) => {
                correct(api, &stored, spec, label).await?;
            }
            Ok(_) => {}
            Err(error) if error.is_not_found() => create(api, &name, spec, label).await?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

async fn create(
    api: &Api<APIService>,
    name: &str,
    spec: APIServiceSpec,
    label: &'static str,
) -> Result<(), Error> {
    let mut service = APIService::default();
    service.metadata.name = name.into();
    service.metadata.labels.insert(MANAGED.into(), label.into());
    service.spec = spec;
    match api.create(&service).await {
        Err(error) if error.is_already_exists() => Ok(()),
        created => Ok(created.map(drop)?),
    }
}

/// Writes what the spec and the label should be, unless they are.
async fn correct(
    api: &Api<APIService>,
    stored: &APIService,
    spec: APIServiceSpec,
    label: &'static str,
) -> Result<(), Error> {
    let labelled = stored.metadata.labels.get(MANAGED);
    if stored.spec == spec && labelled.is_some_and(|it| it == label) {
        return Ok(());
    }
    let mut service = stored.clone();
    service.metadata.labels.insert(MANAGED.into(), label.into());
    service.spec = spec;
    ignore_outdated(api.replace(&service).await)
}

fn add_built_in(wanted: &mut Wanted, group: &str, version: &str) {
    if let Some(priority) = api_service_priority(group, version) {
        add(wanted, group, version, priority, ON_START);
    }
}

fn add_custom(wanted: &mut Wanted, definition: &CustomResourceDefinition) {
    let group = &*definition.spec.group;
    for version in definition.spec.versions.iter().filter(|it| it.served) {
        // A version of a built-in group keeps its priority.
        if api_service_priority(group, &version.name).is_none() {
            let priority = ApiServicePriority::CUSTOM;
            add(wanted, group, &version.name, priority, ALWAYS);
        }
    }
}

fn add(
    wanted: &mut Wanted,
    group: &str,
    version: &str,
    priority: ApiServicePriority,
    label: &'static str,
) {
    let spec = APIServiceSpec {
        group: Str::from(group),
        version: Str::from(version),
        group_priority_minimum: priority.group,
        version_priority: priority.version,
        ..APIServiceSpec::default()
    };
    wanted.insert(format!("{version}.{group}"), (spec, label));
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::apiextensions::v1::CustomResourceDefinitionVersion;

    #[test]
    fn each_served_version_has_one_with_upstreams_priorities() {
        let mut wanted = Wanted::new();
        add_built_in(&mut wanted, "", "v1");
        add_built_in(&mut wanted, "apps", "v1");
        add_built_in(&mut wanted, "apiregistration.k8s.io", "v1");
        let mut definition = CustomResourceDefinition::default();
        definition.spec.group = "example.com".into();
        for (name, served) in [("v1", true), ("v1beta1", false)] {
            definition
                .spec
                .versions
                .push(CustomResourceDefinitionVersion {
                    name: name.into(),
                    served,
                    ..CustomResourceDefinitionVersion::default()
                });
        }
        add_custom(&mut wanted, &definition);
        let found: Vec<_> = wanted
            .iter()
            .map(|(name, (spec, label))| {
                let priorities = (spec.group_priority_minimum, spec.version_priority);
                (name.as_str(), priorities, *label)
            })
            .collect();
        assert_eq!(
            found,
            [
                ("v1.", (18000, 1), ON_START),
                ("v1.apps", (17800, 15), ON_START),
                ("v1.example.com", (1000, 100), ALWAYS),
            ]
        );
    }
}

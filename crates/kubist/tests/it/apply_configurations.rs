//! Apply configurations against a server: what they own, what they leave alone, reading them back.

use kubist::api::apply::apps::v1::{DeploymentApply, DeploymentSpecApply, DeploymentStatusApply};
use kubist::api::apply::core::v1::{
    ContainerApply, ContainerPortApply, EnvVarApply, PodSpecApply, PodTemplateSpecApply,
    ServiceApply, ServicePortApply, ServiceSpecApply,
};
use kubist::api::apps::v1::Deployment;
use kubist::api::core::v1::Service;
use kubist::apimachinery::apply::{ApplyConfiguration as _, ObjectMetaApply};
use kubist::apimachinery::{LabelSelector, PatchOptions};
use kubist::client::Api;
use kubist::{Server, ServerConfig};
use kubist_field_manager::{Extractor, FieldSet};

fn by(manager: &str) -> PatchOptions {
    PatchOptions::managed_by(manager)
}

/// The smallest valid Deployment.
fn deployment(container: ContainerApply) -> DeploymentApply {
    let selector = LabelSelector {
        match_labels: [("app".into(), "web".into())].into(),
        ..LabelSelector::default()
    };
    let template = PodTemplateSpecApply::new()
        .metadata(ObjectMetaApply::new().labels([("app", "web")]))
        .spec(PodSpecApply::new().containers([container]));
    let spec = DeploymentSpecApply::new()
        .selector(selector)
        .template(template);
    DeploymentApply::new("web").spec(spec)
}

/// The paths that a manager owns.
fn owned(live: &Deployment, manager: &str) -> String {
    let entries = &live.metadata.managed_fields;
    let entry = entries.iter().find(|it| it.manager == manager).unwrap();
    let fields = &entry.fields_v1.as_ref().unwrap().raw;
    FieldSet::from_json(fields).unwrap().leaves().to_string()
}

#[tokio::test]
async fn a_configuration_owns_what_was_set_on_it_and_zero_is_set() {
    let server = Server::start(ServerConfig::default()).await.unwrap();
    let deployments: Api<Deployment> = Api::namespaced(server.client(), "default");
    let web = deployment(ContainerApply::new("web").image("web:1"));
    let web = web.spec(
        DeploymentSpecApply::new()
            .paused(false)
            .min_ready_seconds(0),
    );
    let live = deployments.apply(&web, &by("installer")).await.unwrap();

    let owned = owned(&live, "installer");
    for path in [
        ".spec.paused",
        ".spec.minReadySeconds",
        "containers[name=\"web\"].image",
    ] {
        assert!(owned.contains(path), "{path} in {owned}");
    }
    assert!(!owned.contains("replicas"), "{owned}");
    server.shutdown().await;
}

#[tokio::test]
async fn what_others_own_survives_and_what_one_no_longer_sets_goes() {
    let server = Server::start(ServerConfig::default()).await.unwrap();
    let deployments: Api<Deployment> = Api::namespaced(server.client(), "default");
    let container = ContainerApply::new("web").image("web:1");
    let with_env = container
        .clone()
        .env([EnvVarApply::new("LEVEL").value("debug")]);
    deployments
        .apply(&deployment(with_env), &by("installer"))
        .await
        .unwrap();
    let scale = DeploymentApply::new("web").spec(DeploymentSpecApply::new().replicas(5));
    deployments.apply(&scale, &by("scaler")).await.unwrap();

    let live = deployments
        .apply(&deployment(container), &by("installer"))
        .await
        .unwrap();
    assert_eq!(live.spec.replicas, Some(5), "the scaler owns it");
    let containers = &live.spec.template.spec.containers;
    assert!(containers[0].env.is_empty(), "the installer gave it up");

    let grab = DeploymentApply::new("web").spec(DeploymentSpecApply::new().replicas(1));
    let refused = deployments
        .apply(&grab, &by("installer"))
        .await
        .unwrap_err();
    let conflicts = refused.field_conflicts();
    assert_eq!(conflicts.len(), 1);
    assert_eq!(conflicts[0].manager, "scaler");
    assert_eq!(conflicts[0].field, ".spec.replicas");
    server.shutdown().await;
}

#[tokio::test]
async fn what_was_applied_can_be_extracted_changed_and_applied_again() {
    let server = Server::start(ServerConfig::default()).await.unwrap();
    let deployments: Api<Deployment> = Api::namespaced(server.client(), "default");
    let port = ContainerPortApply::new(80).name("http");
    let container = ContainerApply::new("web").image("web:1").ports([port]);
    let applied = deployment(container).labels([("team", "shop")]);
    deployments.apply(&applied, &by("installer")).await.unwrap();
    let scale = DeploymentApply::new("web").spec(DeploymentSpecApply::new().replicas(5));
    let live = deployments.apply(&scale, &by("scaler")).await.unwrap();

    let extractor = Extractor::<DeploymentApply>::new();
    assert_eq!(extractor.extract(&live, "nobody").unwrap(), None);
    let found = extractor.extract(&live, "scaler").unwrap().unwrap();
    assert_eq!(found, scale.namespace("default"));
    let found = extractor.extract(&live, "installer").unwrap().unwrap();
    assert_eq!(
        found,
        applied.namespace("default"),
        "no defaults, no fields of others"
    );

    // The container that is there is changed by its key; the sidecar is added.
    let containers = [
        ContainerApply::new("web").image("web:2"),
        ContainerApply::new("log").image("log:1"),
    ];
    let pod = PodSpecApply::new().containers(containers);
    let template = PodTemplateSpecApply::new().spec(pod);
    let changed = found.spec(DeploymentSpecApply::new().template(template));
    let live = deployments.apply(&changed, &by("installer")).await.unwrap();
    let containers = &live.spec.template.spec.containers;
    let images: Vec<&str> = containers.iter().map(|it| &*it.image).collect();
    assert_eq!(images, ["web:2", "log:1"]);
    assert_eq!(containers[0].ports[0].container_port, 80, "still applied");
    server.shutdown().await;
}

#[tokio::test]
async fn a_status_is_applied_and_extracted_by_itself() {
    let server = Server::start(ServerConfig::default()).await.unwrap();
    let deployments: Api<Deployment> = Api::namespaced(server.client(), "default");
    let web = deployment(ContainerApply::new("web").image("web:1"));
    deployments.apply(&web, &by("installer")).await.unwrap();

    let status = DeploymentStatusApply::new()
        .observed_generation(1)
        .replicas(2);
    let status = DeploymentApply::new("web").status(status);
    let live = deployments
        .apply_status(&status, &by("observer"))
        .await
        .unwrap();
    assert_eq!(live.status.replicas, 2);
    let extractor = Extractor::<DeploymentApply>::new();
    assert_eq!(extractor.extract(&live, "observer").unwrap(), None);
    let found = extractor
        .extract_subresource(&live, "observer", "status")
        .unwrap();
    assert_eq!(found, Some(status.namespace("default")));
    server.shutdown().await;
}

#[tokio::test]
async fn items_with_the_same_keys_are_one_and_default_keys_count() {
    let server = Server::start(ServerConfig::default()).await.unwrap();
    let services: Api<Service> = Api::namespaced(server.client(), "default");
    let ports = [
        ServicePortApply::new(80).name("http"),
        ServicePortApply::new(53).name("dns").protocol("UDP"),
    ];
    let spec = ServiceSpecApply::new()
        .selector([("app", "web")])
        .ports(ports);
    let again = [ServicePortApply::new(80).protocol("TCP").target_port(8080)];
    let service = ServiceApply::new("web").spec(spec.ports(again));
    let live = services.apply(&service, &by("installer")).await.unwrap();
    assert_eq!(live.spec.ports.len(), 2);
    assert_eq!(live.spec.ports[0].name, "http");
    assert_eq!(live.spec.ports[0].target_port, 8080.into());

    // Fields that are newer than the types go by name.
    let newer = ServiceApply::new("web")
        .spec(ServiceSpecApply::new().set("publishNotReadyAddresses", true.into()));
    let live = services.apply(&newer, &by("other")).await.unwrap();
    assert!(live.spec.publish_not_ready_addresses);
    server.shutdown().await;
}

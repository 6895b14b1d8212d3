//! The bundled application: its manifests, and their application to a cluster.

use super::error::{DemoError, Doing as _};
use kubist_api::apps::v1::Deployment;
use kubist_api::core::v1::Service;
use kubist_apimachinery::{ApiResource, Object as _, ObjectName, Resource as _, Str, Unstructured};
use kubist_client::{Api, Client, Discovery};
use kubist_codec::yaml;

/// The manifests, as a user would write them.
const MANIFESTS: &str = include_str!("shop.yaml");

/// The objects of the application, in the order of creation.
#[derive(Debug)]
pub(super) struct Application {
    objects: Vec<Unstructured>,
}

impl Application {
    /// Parses the bundled manifests.
    pub(super) fn bundled() -> Result<Self, DemoError> {
        let broken = |reason: String| DemoError::Manifest { reason };
        let documents = yaml::parse_all(MANIFESTS.as_bytes());
        let documents = documents.map_err(|error| broken(error.to_string()))?;
        let mut objects = Vec::with_capacity(documents.len());
        for document in documents {
            let line = document.line;
            let object: Unstructured = serde_json::from_value(document.value)
                .map_err(|error| broken(format!("line {line}: {error}")))?;
            objects.push(object);
        }
        Ok(Self { objects })
    }

    /// Returns the Deployments with their replicas.
    pub(super) fn deployments(&self) -> Vec<(Str, u64)> {
        let of_kind = self
            .objects
            .iter()
            .filter(|object| object.kind() == Deployment::KIND);
        let replicas = |object: &Unstructured| {
            let replicas = object.pointer("/spec/replicas");
            replicas.and_then(serde_json::Value::as_u64).unwrap_or(1)
        };
        of_kind
            .map(|object| (object.name().into(), replicas(object)))
            .collect()
    }

    /// Returns the names of its Services.
    pub(super) fn services(&self) -> Vec<Str> {
        let of_kind = self
            .objects
            .iter()
            .filter(|object| object.kind() == Service::KIND);
        of_kind.map(|object| object.name().into()).collect()
    }

    /// Creates each object in `namespace`, or replaces it if it exists. Returns how many were new.
    pub(super) async fn apply(
        &self,
        client: &Client,
        discovery: &Discovery,
        namespace: &str,
    ) -> Result<usize, DemoError> {
        let mut created = 0;
        for object in &self.objects {
            let resource = resource_of(discovery, object)?;
            let mut object = object.clone();
            object.set_metadata("namespace", namespace);
            let api = Api::<Unstructured>::dynamic_namespaced(client.clone(), resource, namespace);
            let name = ObjectName::new(namespace, object.name());
            let doing = || format!("apply {} {name}", resource.kind);
            match api.create(&object).await {
                Err(error) if error.is_already_exists() => {
                    let current = api.get(object.name()).await.doing(doing)?;
                    object.set_metadata("resourceVersion", current.resource_version());
                    api.replace(&object).await.doing(doing)?;
                }
                outcome => {
                    outcome.doing(doing)?;
                    created += 1;
                }
            }
        }
        Ok(created)
    }
}

fn resource_of<'a>(
    discovery: &'a Discovery,
    object: &Unstructured,
) -> Result<&'a ApiResource, DemoError> {
    let found = object.gvk().and_then(|gvk| discovery.of_kind(&gvk));
    let reason = || format!("{} {} is not served", object.api_version(), object.kind());
    found
        .map(|found| &found.resource)
        .ok_or_else(|| DemoError::Manifest { reason: reason() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_application_has_a_service_for_each_deployment() {
        let application = Application::bundled().unwrap();
        let deployments = application.deployments();
        assert!(deployments.len() >= 8);
        for service in application.services() {
            assert!(
                deployments.iter().any(|(name, _)| *name == service),
                "{service}"
            );
        }
        assert!(
            deployments
                .iter()
                .map(|(_, replicas)| replicas)
                .sum::<u64>()
                >= 15
        );
    }
}

//! Deletes the contents of a namespace and counts what remains.

use crate::resources::with_verbs;
use kubist_apimachinery::{DeleteOptions, ListOptions, PropagationPolicy, Str, Unstructured};
use kubist_cache::{IngestAny, Metadata};
use kubist_client::{Api, ApiError, Client, DiscoveredResource, Discovery};
use std::collections::BTreeMap;

/// What remained after everything was deleted.
#[derive(Debug, Default)]
pub(super) struct Remains {
    /// The number of remaining objects of each resource.
    pub(super) objects: BTreeMap<String, usize>,
    /// The number of objects that wait for each finalizer.
    pub(super) finalizers: BTreeMap<Str, usize>,
    /// The errors of deletions and lists.
    pub(super) failures: Vec<(String, ApiError)>,
}

impl Remains {
    pub(super) fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.failures.is_empty()
    }
}

/// Deletes everything in the namespace, Pods first: the objects that they use must outlive them.
pub(super) async fn delete_all(client: &Client, discovery: &Discovery, namespace: &str) -> Remains {
    let mut remains = Remains::default();
    let resources = with_verbs(discovery, &["list", "delete"]);
    let namespaced = resources.into_iter().filter(|it| it.resource.namespaced);
    let (pods, others): (Vec<_>, Vec<_>) =
        namespaced.partition(|it| it.resource.group.is_empty() && it.resource.plural == "pods");
    for group in [pods, others] {
        for resource in group {
            empty(client, resource, namespace, &mut remains).await;
        }
        if !remains.is_empty() {
            break;
        }
    }
    remains
}

async fn empty(
    client: &Client,
    resource: &DiscoveredResource,
    namespace: &str,
    remains: &mut Remains,
) {
    let place = Place {
        client,
        resource,
        namespace,
    };
    let name = resource.resource.gvr().group_resource().to_string();
    match place.empty().await {
        Ok(left) if left.is_empty() => {}
        Ok(left) => {
            remains.objects.insert(name, left.len());
            for finalizer in left.iter().flat_map(|it| &it.metadata.finalizers) {
                *remains.finalizers.entry(finalizer.clone()).or_default() += 1;
            }
        }
        // The resource is no longer served, so nothing of it can be left.
        Err(error) if error.is_not_found() => {}
        Err(error) => remains.failures.push((name, error)),
    }
}

/// One resource in one namespace.
struct Place<'a> {
    client: &'a Client,
    resource: &'a DiscoveredResource,
    namespace: &'a str,
}

impl Place<'_> {
    fn api<K: IngestAny>(&self) -> Api<K> {
        Api::dynamic_namespaced(self.client.clone(), &self.resource.resource, self.namespace)
    }

    /// Deletes everything and returns what remains.
    async fn empty(&self) -> Result<Vec<Metadata<()>>, ApiError> {
        let (api, all) = (self.api::<Metadata<()>>(), ListOptions::default());
        let found = api.list(&all).await?.items;
        if found.is_empty() {
            return Ok(found);
        }
        let options = DeleteOptions::default().with_propagation(PropagationPolicy::Background);
        if self.resource.has_verb("deletecollection") {
            // Servers do not support metadata-only responses to this request.
            self.api::<Unstructured>()
                .delete_collection(&all, &options)
                .await?;
        } else {
            for object in found {
                match api.delete_with(&object.metadata.name, &options).await {
                    Err(error) if error.is_not_found() => {}
                    answer => drop(answer?),
                }
            }
        }
        Ok(api.list(&all).await?.items)
    }
}

//! `Catalogue`: the kinds that sequences use, valid objects of each, and the values of their
//! fields.

use crate::random::Random;
use serde_json::Value;
use std::collections::BTreeMap;

/// Valid objects.
const OBJECTS: &str = include_str!("../testdata/objects.yaml");
/// Values for one field name.
const WORDS_MAX: usize = 48;

/// A served kind: API version, kind, plural, whether it is namespaced, subresources.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    bool,
    &'static [&'static str],
);

const STATUS: &[&str] = &["status"];
const SCALED: &[&str] = &["status", "scale"];
const NONE: &[&str] = &[];

#[rustfmt::skip]
const ROWS: [Row; 49] = [
    ("v1", "ConfigMap", "configmaps", true, NONE),
    ("v1", "Secret", "secrets", true, NONE),
    ("v1", "Pod", "pods", true, &["status", "ephemeralcontainers", "resize", "binding", "eviction"]),
    ("v1", "Service", "services", true, STATUS),
    ("v1", "ServiceAccount", "serviceaccounts", true, NONE),
    ("v1", "Endpoints", "endpoints", true, NONE),
    ("v1", "Event", "events", true, NONE),
    ("v1", "LimitRange", "limitranges", true, NONE),
    ("v1", "ResourceQuota", "resourcequotas", true, STATUS),
    ("v1", "PersistentVolumeClaim", "persistentvolumeclaims", true, STATUS),
    ("v1", "PodTemplate", "podtemplates", true, NONE),
    ("v1", "ReplicationController", "replicationcontrollers", true, SCALED),
    ("v1", "Namespace", "namespaces", false, STATUS),
    ("v1", "Node", "nodes", false, STATUS),
    ("v1", "PersistentVolume", "persistentvolumes", false, STATUS),
    ("apps/v1", "Deployment", "deployments", true, SCALED),
    ("apps/v1", "ReplicaSet", "replicasets", true, SCALED),
    ("apps/v1", "StatefulSet", "statefulsets", true, SCALED),
    ("apps/v1", "DaemonSet", "daemonsets", true, STATUS),
    ("apps/v1", "ControllerRevision", "controllerrevisions", true, NONE),
    ("batch/v1", "Job", "jobs", true, STATUS),
    ("batch/v1", "CronJob", "cronjobs", true, STATUS),
    ("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true, STATUS),
    ("autoscaling/v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true, STATUS),
    ("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", true, STATUS),
    ("networking.k8s.io/v1", "Ingress", "ingresses", true, STATUS),
    ("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", true, NONE),
    ("networking.k8s.io/v1", "IngressClass", "ingressclasses", false, NONE),
    ("rbac.authorization.k8s.io/v1", "Role", "roles", true, NONE),
    ("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", true, NONE),
    ("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", false, NONE),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", false, NONE),
    ("storage.k8s.io/v1", "StorageClass", "storageclasses", false, NONE),
    ("storage.k8s.io/v1", "CSIDriver", "csidrivers", false, NONE),
    ("storage.k8s.io/v1", "CSINode", "csinodes", false, NONE),
    ("storage.k8s.io/v1", "VolumeAttachment", "volumeattachments", false, STATUS),
    ("storage.k8s.io/v1", "CSIStorageCapacity", "csistoragecapacities", true, NONE),
    ("coordination.k8s.io/v1", "Lease", "leases", true, NONE),
    ("discovery.k8s.io/v1", "EndpointSlice", "endpointslices", true, NONE),
    ("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", false, NONE),
    ("node.k8s.io/v1", "RuntimeClass", "runtimeclasses", false, NONE),
    ("events.k8s.io/v1", "Event", "events", true, NONE),
    ("certificates.k8s.io/v1", "CertificateSigningRequest", "certificatesigningrequests", false, &["status", "approval"]),
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", false, NONE),
    ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", false, NONE),
    ("resource.k8s.io/v1", "DeviceClass", "deviceclasses", false, NONE),
    ("resource.k8s.io/v1", "ResourceClaim", "resourceclaims", true, STATUS),
    ("resource.k8s.io/v1", "ResourceClaimTemplate", "resourceclaimtemplates", true, NONE),
    ("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", "prioritylevelconfigurations", false, STATUS),
];

/// Kinds whose objects are about all requests. A quota is refused everything while nobody counts.
const FAR_REACHING: [&str; 4] = [
    "validatingwebhookconfigurations",
    "mutatingwebhookconfigurations",
    "prioritylevelconfigurations",
    "resourcequotas",
];

/// A defect in the files of this crate.
#[derive(Debug, thiserror::Error)]
#[error("testdata/objects.yaml is not understood")]
pub(crate) struct CatalogueError(#[from] Box<serde_saphyr::Error>);

/// A kind, and its resource.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    pub(crate) api_version: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) is_namespaced: bool,
    pub(crate) subresources: &'static [&'static str],
    /// Valid objects, with `{{name}}` for the name.
    objects: Vec<Value>,
}

impl Kind {
    /// Returns the path of its collection.
    pub(crate) fn collection(&self) -> String {
        let namespace = if self.is_namespaced {
            "/namespaces/{{ns}}"
        } else {
            ""
        };
        format!("{}{namespace}/{}", self.root(), self.plural)
    }

    /// Returns the path of its collection over all namespaces.
    pub(crate) fn everywhere(&self) -> String {
        format!("{}/{}", self.root(), self.plural)
    }

    fn root(&self) -> String {
        if self.api_version == "v1" {
            "/api/v1".to_owned()
        } else {
            format!("/apis/{}", self.api_version)
        }
    }

    /// Returns a name for an object in a sequence.
    pub(crate) fn name(&self, number: usize) -> String {
        if self.is_namespaced {
            format!("it-{number}")
        } else {
            format!("{{{{tag}}}}-{number}")
        }
    }

    /// Returns a valid object with this name.
    pub(crate) fn object(&self, name: &str, random: &mut Random) -> Value {
        let mut object = random.pick(&self.objects).clone();
        rename(&mut object, name);
        object
    }
}

fn rename(value: &mut Value, name: &str) {
    match value {
        Value::String(text) if text.contains("{{name}}") => *text = text.replace("{{name}}", name),
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, name)),
        Value::Object(fields) => fields.values_mut().for_each(|field| rename(field, name)),
        _ => {}
    }
}

/// The kinds, and the values in their objects.
#[derive(Debug)]
pub(crate) struct Catalogue {
    kinds: Vec<Kind>,
    /// The kinds that are chosen from, by their numbers.
    chosen: Vec<usize>,
    /// Values by the name of the field and of its parent.
    children: BTreeMap<String, Vec<(String, Value)>>,
    /// Values by the name of the field.
    words: BTreeMap<String, Vec<Value>>,
}

impl Catalogue {
    /// Parses the objects that are compiled into this program. `obeyed`: no kind is chosen whose
    /// objects would be about the requests of other sequences.
    pub(crate) fn read(obeyed: bool) -> Result<Self, CatalogueError> {
        let objects: Vec<Value> = serde_saphyr::from_multiple(OBJECTS).map_err(Box::new)?;
        let mut catalogue = Self {
            kinds: Vec::new(),
            chosen: Vec::new(),
            children: BTreeMap::new(),
            words: BTreeMap::new(),
        };
        for object in &objects {
            catalogue.learn("", object);
        }
        for (api_version, kind, plural, is_namespaced, subresources) in ROWS {
            let is_it = |it: &&Value| it["apiVersion"] == api_version && it["kind"] == kind;
            let objects: Vec<Value> = objects.iter().filter(is_it).cloned().collect();
            if !objects.is_empty() {
                if !obeyed || !FAR_REACHING.contains(&plural) {
                    catalogue.chosen.push(catalogue.kinds.len());
                }
                catalogue.kinds.push(Kind {
                    api_version,
                    plural,
                    is_namespaced,
                    subresources,
                    objects,
                });
            }
        }
        Ok(catalogue)
    }

    fn learn(&mut self, around: &str, value: &Value) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let words = self.words.entry(name.clone()).or_default();
                    if words.len() < WORDS_MAX && !words.contains(value) {
                        words.push(value.clone());
                    }
                    let children = self.children.entry(around.to_owned()).or_default();
                    let child = (name.clone(), value.clone());
                    if children.len() < WORDS_MAX && !children.contains(&child) {
                        children.push(child);
                    }
                    self.learn(name, value);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.learn(around, item)),
            _ => {}
        }
    }

    #[cfg(test)]
    fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// Returns the kind of a plural; of several, the first.
    ///
    /// # Panics
    ///
    /// If there is none: plurals are constants of this program.
    pub(crate) fn kind(&self, plural: &str) -> &Kind {
        let found = self.kinds.iter().find(|kind| kind.plural == plural);
        found.unwrap_or_else(|| panic!("the catalogue has no {plural}"))
    }

    /// Returns a kind; those that clusters have many objects of are more frequent.
    pub(crate) fn any(&self, random: &mut Random) -> &Kind {
        if random.percent(35) {
            let plural = random.pick(&["configmaps", "pods", "services", "deployments", "jobs"]);
            return self.kind(plural);
        }
        &self.kinds[*random.pick(&self.chosen)]
    }

    /// Returns a namespaced kind.
    pub(crate) fn any_namespaced(&self, random: &mut Random) -> &Kind {
        loop {
            let kind = self.any(random);
            if kind.is_namespaced {
                return kind;
            }
        }
    }

    /// Returns a field that may be a child of one of this name.
    pub(crate) fn child(&self, around: &str, random: &mut Random) -> Option<(String, Value)> {
        let children = self.children.get(around)?;
        Some(random.pick(children).clone())
    }

    /// Returns a value of a field of this name in another object.
    pub(crate) fn word(&self, field: &str, random: &mut Random) -> Option<Value> {
        let words = self.words.get(field)?;
        Some(random.pick(words).clone())
    }
}

/// Removes the name of an object, and sets `generateName`.
pub(crate) fn with_generated_name(mut object: Value, prefix: &str) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("name");
        metadata.insert("generateName".to_owned(), Value::from(prefix));
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_document_of_the_file_is_of_a_kind_that_is_served() {
        let documents = OBJECTS.split("\n---\n").count();
        let catalogue = Catalogue::read(false).unwrap();
        let known: usize = catalogue
            .kinds()
            .iter()
            .map(|kind| kind.objects.len())
            .sum();
        assert_eq!(documents, known);
        assert_eq!(catalogue.kinds().len(), ROWS.len());
    }

    #[test]
    fn objects_have_the_name_that_they_are_given() {
        let catalogue = Catalogue::read(false).unwrap();
        let mut random = Random::new(3);
        for kind in catalogue.kinds() {
            let object = kind.object("given", &mut random);
            let name = object["metadata"]["name"].as_str().unwrap_or_default();
            assert!(name.starts_with("given"), "{object}");
            assert_eq!(object["apiVersion"], kind.api_version);
        }
    }

    #[test]
    fn paths_of_namespaced_kinds_have_the_namespace() {
        let catalogue = Catalogue::read(false).unwrap();
        let path = |plural| catalogue.kind(plural).collection();
        assert_eq!(path("pods"), "/api/v1/namespaces/{{ns}}/pods");
        assert_eq!(path("nodes"), "/api/v1/nodes");
        assert_eq!(path("jobs"), "/apis/batch/v1/namespaces/{{ns}}/jobs");
    }
}

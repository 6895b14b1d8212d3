//! The table rows of objects, as `kubectl get` prints them.
//!
//! [`table_columns`] returns the columns of a resource, and [`table_cells`] returns one row. Both
//! are for built-in resources. Rows are made from the storage version of a resource, and objects of
//! other versions are converted first. No clock is read: ages are relative to the `now` argument.

mod access;
mod admissionregistration;
mod age;
mod autoscaler;
mod config;
mod containers;
mod custom;
pub(crate) mod descriptions;
mod device;
mod endpoints;
mod event;
mod jobs;
mod listing;
mod network;
mod node;
mod pod;
mod policy;
mod preview;
mod service;
mod volume;
mod workloads;

use crate::built_in::SCHEME;
use kubist_api::autoscaling::v1::Scale;
use kubist_api::{Column, GROUPS, ResourceFacts, find_kind};
use kubist_apimachinery::{AnyObject, Time};
use kubist_registry::storage_version;
use serde_json::Value;
use std::any::Any;
use std::borrow::Cow;

/// The columns of resources without their own.
static DEFAULT_COLUMNS: [Column; 2] = [
    Column {
        name: "Name",
        type_: "string",
        format: "name",
        priority: 0,
    },
    Column {
        name: "Created At",
        type_: "date",
        format: "",
        priority: 0,
    },
];

/// The columns of scales, which are not a resource of their own.
static SCALE_COLUMNS: [Column; 4] = [
    Column {
        name: "Name",
        type_: "string",
        format: "",
        priority: 0,
    },
    Column {
        name: "Desired",
        type_: "integer",
        format: "",
        priority: 0,
    },
    Column {
        name: "Available",
        type_: "integer",
        format: "",
        priority: 0,
    },
    Column {
        name: "Age",
        type_: "string",
        format: "",
        priority: 0,
    },
];

/// Builds cells from values that convert to JSON.
macro_rules! cells {
    ($($cell:expr),* $(,)?) => {
        vec![$(serde_json::Value::from($cell)),*]
    };
}
use cells;

/// Returns the cells of an object in the storage version, or `None` for another version.
type Printer = fn(&dyn AnyObject, Time) -> Option<Vec<Value>>;

/// Returns the columns of a resource's table: its own, those of another version of it, or the name
/// and the creation time.
pub fn table_columns(facts: &ResourceFacts) -> &'static [Column] {
    if !facts.columns.is_empty() {
        return facts.columns;
    }
    if let Some(columns) = preview::columns(facts) {
        return columns;
    }
    let group = GROUPS.iter().filter(|it| it.name == facts.group);
    let mut resources = group.flat_map(|it| it.versions).flat_map(|it| it.resources);
    let other = resources.find(|it| it.plural == facts.plural && !it.columns.is_empty());
    other.map_or(&DEFAULT_COLUMNS, |it| it.columns)
}

/// Reports whether a resource has columns besides those of every object.
pub fn has_own_columns(facts: &ResourceFacts) -> bool {
    let names = |columns: &'static [Column]| columns.iter().map(|it| it.name);
    !names(table_columns(facts)).eq(names(&DEFAULT_COLUMNS))
}

/// Returns the cells of `object`, one for each of [`table_columns`]. `object` must have the
/// resource and version in `facts`. An object of any other kind shows its name and age.
pub fn table_cells(facts: &'static ResourceFacts, object: &dyn AnyObject, now: Time) -> Vec<Value> {
    let columns = table_columns(facts);
    if let Some(cells) = custom::cells(facts, object, now) {
        return cells;
    }
    let cells = printer(facts).and_then(|printer| {
        printer(object, now).or_else(|| printer(&*in_storage_version(facts, object)?, now))
    });
    let mut cells = cells.unwrap_or_else(|| plain(columns, object, now));
    cells.resize(columns.len(), Value::Null);
    cells
}

/// Returns the descriptions of [`table_columns`]. Columns without a description have an empty one.
pub fn column_descriptions(facts: &'static ResourceFacts) -> Vec<Cow<'static, str>> {
    custom::descriptions(facts).unwrap_or_else(|| {
        let columns = table_columns(facts).iter();
        columns
            .map(|column| descriptions::of(facts, column).into())
            .collect()
    })
}

/// Returns the columns of a scale's table.
pub fn scale_columns() -> &'static [Column] {
    &SCALE_COLUMNS
}

/// Returns the descriptions of [`scale_columns`].
pub fn scale_descriptions() -> Vec<Cow<'static, str>> {
    let texts = SCALE_COLUMNS.iter().map(descriptions::of_scale);
    texts.map(Cow::Borrowed).collect()
}

/// Returns the cells of a scale, one for each of [`scale_columns`].
pub fn scale_cells(object: &dyn AnyObject, now: Time) -> Vec<Value> {
    let any: &dyn Any = object;
    match any.downcast_ref::<Scale>() {
        Some(scale) => cells![
            &*scale.metadata.name,
            scale.spec.replicas,
            scale.status.replicas,
            age::age(&scale.metadata, now),
        ],
        None => plain(&SCALE_COLUMNS, object, now),
    }
}

fn in_storage_version(facts: &ResourceFacts, object: &dyn AnyObject) -> Option<Box<dyn AnyObject>> {
    let group = match facts.group {
        "events.k8s.io" => "",
        group => group,
    };
    let groups = GROUPS.iter().filter(|it| it.name == group);
    let mut resources = groups
        .flat_map(|it| it.versions)
        .flat_map(|it| it.resources);
    let stored = resources.find(|it| it.plural == facts.plural)?;
    let to = storage_version(stored.group, stored)?;
    let from = find_kind(facts.group, facts.version, facts.kind)?;
    SCHEME.convert(object.boxed_clone(), from, to).ok()
}

/// Returns cells with the data that every object has.
fn plain(columns: &[Column], object: &dyn AnyObject, now: Time) -> Vec<Value> {
    let meta = object.meta();
    let cell = |column: &Column| match column.name {
        "Name" => Value::from(&*meta.name),
        "Age" => Value::from(age::age(meta, now)),
        "Created At" => Value::from(meta.creation_timestamp.unwrap_or_default().to_string()),
        _ => Value::Null,
    };
    columns.iter().map(cell).collect()
}

/// Makes a printer from a function for one type.
macro_rules! over {
    ($cells:path) => {
        |object: &dyn AnyObject, now: Time| {
            let object: &dyn Any = object;
            object.downcast_ref().map(|object| $cells(object, now))
        }
    };
}

fn printer(facts: &ResourceFacts) -> Option<Printer> {
    match facts.group {
        "" | "events.k8s.io" => core_printer(facts.plural),
        "apps" | "batch" => workload_printer(facts.plural),
        "networking.k8s.io" | "discovery.k8s.io" => network_printer(facts.plural),
        "storage.k8s.io" => storage_printer(facts.plural),
        "admissionregistration.k8s.io" => admission_printer(facts.plural),
        group => other_printer(group, facts.plural),
    }
}

fn core_printer(plural: &str) -> Option<Printer> {
    Some(match plural {
        "componentstatuses" => over!(config::component_status),
        "configmaps" => over!(config::config_map),
        "endpoints" => over!(endpoints::endpoints),
        "events" => over!(event::event),
        "namespaces" => over!(config::namespace),
        "nodes" => over!(node::node),
        "persistentvolumeclaims" => over!(volume::claim),
        "persistentvolumes" => over!(volume::volume),
        "pods" => over!(pod::pod),
        "podtemplates" => over!(workloads::pod_template),
        "replicationcontrollers" => over!(workloads::replication_controller),
        "resourcequotas" => over!(policy::resource_quota),
        "secrets" => over!(config::secret),
        "services" => over!(service::service),
        _ => return None,
    })
}

fn workload_printer(plural: &str) -> Option<Printer> {
    Some(match plural {
        "controllerrevisions" => over!(workloads::controller_revision),
        "cronjobs" => over!(jobs::cron_job),
        "daemonsets" => over!(workloads::daemon_set),
        "deployments" => over!(workloads::deployment),
        "jobs" => over!(jobs::job),
        "replicasets" => over!(workloads::replica_set),
        "statefulsets" => over!(workloads::stateful_set),
        _ => return None,
    })
}

fn network_printer(plural: &str) -> Option<Printer> {
    Some(match plural {
        "endpointslices" => over!(endpoints::endpoint_slice),
        "ingressclasses" => over!(network::ingress_class),
        "ingresses" => over!(network::ingress),
        "ipaddresses" => over!(network::ip_address),
        "networkpolicies" => over!(network::network_policy),
        "servicecidrs" => over!(network::service_cidr),
        _ => return None,
    })
}

fn storage_printer(plural: &str) -> Option<Printer> {
    Some(match plural {
        "csidrivers" => over!(volume::csi_driver),
        "csinodes" => over!(volume::csi_node),
        "storageclasses" => over!(volume::storage_class),
        "volumeattachments" => over!(volume::attachment),
        "volumeattributesclasses" => over!(volume::attributes_class),
        _ => return None,
    })
}

fn admission_printer(plural: &str) -> Option<Printer> {
    Some(match plural {
        "mutatingadmissionpolicies" => over!(admissionregistration::mutating_policy),
        "mutatingadmissionpolicybindings" => over!(admissionregistration::mutating_binding),
        "mutatingwebhookconfigurations" => over!(admissionregistration::mutating_webhooks),
        "validatingadmissionpolicies" => over!(admissionregistration::validating_policy),
        "validatingadmissionpolicybindings" => over!(admissionregistration::validating_binding),
        "validatingwebhookconfigurations" => over!(admissionregistration::validating_webhooks),
        _ => return None,
    })
}

fn other_printer(group: &str, plural: &str) -> Option<Printer> {
    Some(match (group, plural) {
        ("apiregistration.k8s.io", "apiservices") => over!(config::api_service),
        ("autoscaling", "horizontalpodautoscalers") => over!(autoscaler::autoscaler),
        ("certificates.k8s.io", "certificatesigningrequests") => over!(access::signing_request),
        ("certificates.k8s.io", "clustertrustbundles") => over!(preview::trust_bundle),
        ("certificates.k8s.io", "podcertificaterequests") => {
            over!(preview::pod_certificate_request)
        }
        ("coordination.k8s.io", "leasecandidates") => over!(preview::lease_candidate),
        ("coordination.k8s.io", "leases") => over!(config::lease),
        ("flowcontrol.apiserver.k8s.io", "flowschemas") => over!(policy::flow_schema),
        ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations") => {
            over!(policy::priority_level)
        }
        ("internal.apiserver.k8s.io", "storageversions") => over!(preview::storage_version),
        ("node.k8s.io", "runtimeclasses") => over!(config::runtime_class),
        ("policy", "poddisruptionbudgets") => over!(policy::disruption_budget),
        ("rbac.authorization.k8s.io", "clusterrolebindings") => {
            over!(access::cluster_role_binding)
        }
        ("rbac.authorization.k8s.io", "rolebindings") => over!(access::role_binding),
        ("resource.k8s.io", "devicetaintrules") => over!(preview::taint_rule),
        ("resource.k8s.io", "resourceclaims") => over!(device::claim),
        ("resource.k8s.io", "resourcepoolstatusrequests") => over!(preview::pool_request),
        ("resource.k8s.io", "resourceslices") => over!(device::slice),
        ("scheduling.k8s.io", "podgroups") => over!(preview::pod_group),
        ("scheduling.k8s.io", "priorityclasses") => over!(config::priority_class),
        ("storagemigration.k8s.io", "storageversionmigrations") => over!(preview::migration),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;

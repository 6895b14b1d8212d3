//! Columns and rows of kinds that have no stable version yet.
//!
//! The columns of all others come with their facts, which name what a server serves by default.

use super::age::{age, since};
use super::cells;
use super::listing::{FirstFew, labels, text_or};
use kubist_api::apiserverinternal::v1alpha1::StorageVersion;
use kubist_api::certificates::v1beta1::{ClusterTrustBundle, PodCertificateRequest};
use kubist_api::coordination::v1beta1::LeaseCandidate;
use kubist_api::resource::v1alpha3::{PoolStatus, ResourcePoolStatusRequest};
use kubist_api::resource::v1beta2::DeviceTaintRule;
use kubist_api::scheduling::v1alpha2::PodGroup;
use kubist_api::storagemigration::v1beta1::StorageVersionMigration;
use kubist_api::{Column, ResourceFacts};
use kubist_apimachinery::{Condition, Time};
use serde_json::Value;

const NAME: Column = Column {
    name: "Name",
    type_: "string",
    format: "name",
    priority: 0,
};

const fn text(name: &'static str) -> Column {
    Column {
        name,
        type_: "string",
        format: "",
        priority: 0,
    }
}

const AGE: Column = text("Age");
const TRUST_BUNDLES: &[Column] = &[NAME, text("SignerName")];
const POD_CERTIFICATES: &[Column] = &[
    NAME,
    text("PodName"),
    text("ServiceAccountName"),
    text("NodeName"),
    text("SignerName"),
    text("State"),
    text("UnverifiedUserAnnotations"),
];
const LEASE_CANDIDATES: &[Column] = &[
    NAME,
    text("LeaseName"),
    text("BinaryVersion"),
    text("EmulationVersion"),
    AGE,
];
const STORAGE_VERSIONS: &[Column] = &[
    NAME,
    text("CommonEncodingVersion"),
    text("StorageVersions"),
    AGE,
];
const TAINT_RULES: &[Column] = &[
    NAME,
    text("Key"),
    text("Value"),
    text("Effect"),
    text("TimeAdded"),
    AGE,
];
const POOL_REQUESTS: &[Column] = &[
    NAME,
    text("Driver"),
    text("Total"),
    text("Available"),
    text("Allocated"),
    text("Unavailable"),
    text("Errors"),
    Column {
        type_: "integer",
        ..text("Pools")
    },
    text("Status"),
    text("Completed"),
];
const POD_GROUPS: &[Column] = &[NAME, text("Policy"), text("Workload"), text("Status"), AGE];
const WORKLOADS: &[Column] = &[NAME, AGE];
const MIGRATIONS: &[Column] = &[text("Name"), text("Resource"), text("Status")];

/// Returns the columns of a kind that is served only on request.
pub(super) fn columns(facts: &ResourceFacts) -> Option<&'static [Column]> {
    Some(match (facts.group, facts.plural) {
        ("certificates.k8s.io", "clustertrustbundles") => TRUST_BUNDLES,
        ("certificates.k8s.io", "podcertificaterequests") => POD_CERTIFICATES,
        ("coordination.k8s.io", "leasecandidates") => LEASE_CANDIDATES,
        ("internal.apiserver.k8s.io", "storageversions") => STORAGE_VERSIONS,
        ("resource.k8s.io", "devicetaintrules") => TAINT_RULES,
        ("resource.k8s.io", "resourcepoolstatusrequests") => POOL_REQUESTS,
        ("scheduling.k8s.io", "podgroups") => POD_GROUPS,
        ("scheduling.k8s.io", "workloads") => WORKLOADS,
        ("storagemigration.k8s.io", "storageversionmigrations") => MIGRATIONS,
        _ => return None,
    })
}

pub(super) fn trust_bundle(object: &ClusterTrustBundle, _: Time) -> Vec<Value> {
    let signer = object.spec.signer_name.as_str();
    cells![&*object.metadata.name, text_or(signer, "<none>")]
}

pub(super) fn pod_certificate_request(object: &PodCertificateRequest, _: Time) -> Vec<Value> {
    let spec = &object.spec;
    let decided = |it: &&Condition| matches!(&*it.type_, "Issued" | "Denied" | "Failed");
    let decision = object.status.conditions.iter().rfind(decided);
    cells![
        &*object.metadata.name,
        &*spec.pod_name,
        &*spec.service_account_name,
        &*spec.node_name,
        &*spec.signer_name,
        decision.map_or("Pending", |it| &*it.type_),
        labels(&spec.unverified_user_annotations),
    ]
}

pub(super) fn lease_candidate(object: &LeaseCandidate, now: Time) -> Vec<Value> {
    cells![
        &*object.metadata.name,
        &*object.spec.lease_name,
        &*object.spec.binary_version,
        &*object.spec.emulation_version,
        age(&object.metadata, now),
    ]
}

pub(super) fn storage_version(object: &StorageVersion, now: Time) -> Vec<Value> {
    const SHOWN: usize = 3;
    let common = object.status.common_encoding_version.as_deref();
    let mut versions = FirstFew::new(SHOWN);
    for it in &object.status.storage_versions {
        versions.push(|| format!("{}={}", it.api_server_id, it.encoding_version));
    }
    cells![
        &*object.metadata.name,
        common.unwrap_or("<unset>"),
        text_or(&versions.cell(","), "<unset>"),
        age(&object.metadata, now),
    ]
}

pub(super) fn taint_rule(object: &DeviceTaintRule, now: Time) -> Vec<Value> {
    let taint = &object.spec.taint;
    let added = taint.time_added.map(|it| since(Some(it), now));
    cells![
        &*object.metadata.name,
        &*taint.key,
        &*taint.value,
        &*taint.effect,
        added.unwrap_or_default(),
        age(&object.metadata, now),
    ]
}

pub(super) fn pool_request(object: &ResourcePoolStatusRequest, now: Time) -> Vec<Value> {
    let name = &*object.metadata.name;
    let driver = &*object.spec.driver;
    let Some(status) = object.status.as_deref() else {
        return cells![
            name, driver, "-", "-", "-", "-", "-", 0, "Pending", "<none>"
        ];
    };
    let decided =
        |it: &&Condition| it.status == "True" && matches!(&*it.type_, "Complete" | "Failed");
    let decision = status.conditions.iter().find(decided);
    let pools = status.pool_count.unwrap_or_default();
    let shown = status.pools.len();
    let completed = decision.filter(|it| it.type_ == "Complete");
    let word = match decision {
        Some(_) if completed.is_some() && i64::from(pools) > as_i64(shown) => {
            format!("Complete ({shown}/{pools} pools)")
        }
        Some(decision) => decision.type_.to_string(),
        None => "Pending".to_owned(),
    };
    let failed = decision.is_some_and(|it| it.type_ == "Failed");
    let sum = |count: fn(&PoolStatus) -> i64| {
        if failed {
            return "-".to_owned();
        }
        status.pools.iter().map(count).sum::<i64>().to_string()
    };
    cells![
        name,
        driver,
        sum(|it| it.total_devices.unwrap_or_default().into()),
        sum(|it| it.available_devices.unwrap_or_default().into()),
        sum(|it| it.allocated_devices.unwrap_or_default().into()),
        sum(|it| it.unavailable_devices.unwrap_or_default().into()),
        sum(|it| it.validation_error.is_some().into()),
        pools,
        word,
        completed.map_or_else(
            || "<none>".to_owned(),
            |it| since(it.last_transition_time, now)
        ),
    ]
}

fn as_i64(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

pub(super) fn pod_group(object: &PodGroup, now: Time) -> Vec<Value> {
    let spec = &object.spec;
    let conditions = &object.status.conditions;
    let last = |kind: &str| conditions.iter().rev().find(|it| it.type_ == *kind);
    let status = match (last("DisruptionTarget"), last("PodGroupScheduled")) {
        (Some(disrupted), _) => &*disrupted.reason,
        (None, Some(scheduled)) if scheduled.status == "True" => "Scheduled",
        (None, Some(_)) => "Unschedulable",
        (None, None) => "Pending",
    };
    let policy = match spec.scheduling_policy.gang {
        Some(_) => "Gang",
        None => "Basic",
    };
    let template = spec.pod_group_template_ref.as_deref();
    let workload = template.map(|it| it.workload.as_deref().map_or("", |it| &*it.workload_name));
    cells![
        &*object.metadata.name,
        policy,
        workload.unwrap_or("<none>"),
        status,
        age(&object.metadata, now),
    ]
}

pub(super) fn migration(object: &StorageVersionMigration, _: Time) -> Vec<Value> {
    let resource = &object.spec.resource;
    let resource = match &*resource.group {
        "" => resource.resource.to_string(),
        group => format!("{}.{group}", resource.resource),
    };
    let reached = |it: &&Condition| {
        it.status == "True" && matches!(&*it.type_, "Running" | "Failed" | "Succeeded")
    };
    let status = object.status.conditions.iter().rfind(reached);
    cells![
        &*object.metadata.name,
        resource,
        status.map_or("Unknown", |it| &*it.type_),
    ]
}

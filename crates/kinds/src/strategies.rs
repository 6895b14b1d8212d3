//! The table that maps each resource to its strategy.

use crate::{
    admissionregistration, apiextensions, apiregistration, apps, autoscaling, batch, certificates,
    coordination, core, discovery, flowcontrol, networking, node, policy, rbac, resource,
    scheduling, shared, storage, storagemigration,
};
use kubist_registry::{ForKind, KindStrategy, Strategy};
use std::sync::Arc;

/// A resource, by its storage group and plural, and the constructor of its strategy.
type Row = (&'static str, &'static str, fn() -> Arc<dyn Strategy>);

/// All resources with a strategy of their own.
const STRATEGIES: [Row; 61] = [
    ("", "configmaps", || typed(core::config_map::ConfigMaps)),
    ("", "endpoints", || {
        typed(core::endpoints::EndpointsOfServices)
    }),
    ("", "events", || typed(core::event::Events)),
    ("", "limitranges", || typed(core::limit_range::LimitRanges)),
    ("", "namespaces", || typed(core::namespace::Namespaces)),
    ("", "nodes", || typed(core::node::Nodes)),
    ("", "persistentvolumeclaims", || {
        typed(core::persistent_volume_claim::PersistentVolumeClaims)
    }),
    ("", "persistentvolumes", || {
        typed(core::persistent_volume::PersistentVolumes)
    }),
    ("", "pods", || typed(core::pod::Pods)),
    ("", "podtemplates", || {
        typed(core::pod_template::PodTemplates)
    }),
    ("", "replicationcontrollers", || {
        typed(core::replication_controller::ReplicationControllers)
    }),
    ("", "resourcequotas", || {
        typed(core::resource_quota::ResourceQuotas)
    }),
    ("", "secrets", || typed(core::secret::Secrets)),
    ("", "serviceaccounts", || {
        typed(core::service_account::ServiceAccounts)
    }),
    ("", "services", || typed(core::service::Services)),
    ("apps", "controllerrevisions", || {
        typed(apps::controller_revision::ControllerRevisions)
    }),
    ("apps", "daemonsets", || typed(apps::daemon_set::DaemonSets)),
    ("apps", "deployments", || {
        typed(apps::deployment::Deployments)
    }),
    ("apps", "replicasets", || {
        typed(apps::replica_set::ReplicaSets)
    }),
    ("apps", "statefulsets", || {
        typed(apps::stateful_set::StatefulSets)
    }),
    ("autoscaling", "horizontalpodautoscalers", || {
        typed(autoscaling::horizontal_pod_autoscaler::HorizontalPodAutoscalers)
    }),
    ("batch", "cronjobs", || typed(batch::cron_job::CronJobs)),
    ("batch", "jobs", || typed(batch::job::Jobs)),
    ("policy", "poddisruptionbudgets", || {
        typed(policy::pod_disruption_budget::PodDisruptionBudgets)
    }),
    ("discovery.k8s.io", "endpointslices", || {
        typed(discovery::endpoint_slice::EndpointSlices)
    }),
    ("networking.k8s.io", "ingressclasses", || {
        typed(networking::ingress_class::IngressClasses)
    }),
    ("networking.k8s.io", "ingresses", || {
        typed(networking::ingress::Ingresses)
    }),
    ("networking.k8s.io", "ipaddresses", || {
        typed(networking::ip_address::IpAddresses)
    }),
    ("networking.k8s.io", "networkpolicies", || {
        typed(networking::network_policy::NetworkPolicies)
    }),
    ("networking.k8s.io", "servicecidrs", || {
        typed(networking::service_cidr::ServiceCidrs)
    }),
    ("node.k8s.io", "runtimeclasses", || {
        typed(node::runtime_class::RuntimeClasses)
    }),
    ("resource.k8s.io", "deviceclasses", || {
        typed(resource::device_class::DeviceClasses)
    }),
    ("resource.k8s.io", "devicetaintrules", || {
        typed(resource::device_taint_rule::DeviceTaintRules)
    }),
    ("resource.k8s.io", "resourceclaims", || {
        typed(resource::resource_claim::ResourceClaims)
    }),
    ("resource.k8s.io", "resourceclaimtemplates", || {
        typed(resource::resource_claim::ResourceClaimTemplates)
    }),
    ("resource.k8s.io", "resourceslices", || {
        typed(resource::resource_slice::ResourceSlices)
    }),
    ("scheduling.k8s.io", "priorityclasses", || {
        typed(scheduling::priority_class::PriorityClasses)
    }),
    ("storage.k8s.io", "csidrivers", || {
        typed(storage::csi_driver::CsiDrivers)
    }),
    ("storage.k8s.io", "csinodes", || {
        typed(storage::csi_node::CsiNodes)
    }),
    ("storage.k8s.io", "csistoragecapacities", || {
        typed(storage::csi_storage_capacity::CsiStorageCapacities)
    }),
    ("storage.k8s.io", "storageclasses", || {
        typed(storage::storage_class::StorageClasses)
    }),
    ("storage.k8s.io", "volumeattachments", || {
        typed(storage::volume_attachment::VolumeAttachments)
    }),
    ("storage.k8s.io", "volumeattributesclasses", || {
        typed(storage::volume_attributes_class::VolumeAttributesClasses)
    }),
    (
        "admissionregistration.k8s.io",
        "mutatingadmissionpolicies",
        || typed(admissionregistration::admission_policy::MutatingPolicies),
    ),
    (
        "admissionregistration.k8s.io",
        "mutatingadmissionpolicybindings",
        || typed(admissionregistration::admission_policy::MutatingBindings),
    ),
    (
        "admissionregistration.k8s.io",
        "mutatingwebhookconfigurations",
        || typed(admissionregistration::webhook_configuration::MutatingWebhooks),
    ),
    (
        "admissionregistration.k8s.io",
        "validatingadmissionpolicies",
        || typed(admissionregistration::admission_policy::ValidatingPolicies),
    ),
    (
        "admissionregistration.k8s.io",
        "validatingadmissionpolicybindings",
        || typed(admissionregistration::admission_policy::ValidatingBindings),
    ),
    (
        "admissionregistration.k8s.io",
        "validatingwebhookconfigurations",
        || typed(admissionregistration::webhook_configuration::ValidatingWebhooks),
    ),
    ("apiextensions.k8s.io", "customresourcedefinitions", || {
        typed(apiextensions::custom_resource_definition::CustomResourceDefinitions)
    }),
    ("apiregistration.k8s.io", "apiservices", || {
        typed(apiregistration::api_service::ApiServices)
    }),
    ("certificates.k8s.io", "certificatesigningrequests", || {
        typed(certificates::certificate_signing_request::CertificateSigningRequests)
    }),
    ("certificates.k8s.io", "clustertrustbundles", || {
        typed(certificates::cluster_trust_bundle::ClusterTrustBundles)
    }),
    ("coordination.k8s.io", "leases", || {
        typed(coordination::lease::Leases)
    }),
    ("flowcontrol.apiserver.k8s.io", "flowschemas", || {
        typed(flowcontrol::flow_control::FlowSchemas)
    }),
    (
        "flowcontrol.apiserver.k8s.io",
        "prioritylevelconfigurations",
        || typed(flowcontrol::flow_control::PriorityLevelConfigurations),
    ),
    (
        "storagemigration.k8s.io",
        "storageversionmigrations",
        || typed(storagemigration::storage_version_migration::StorageVersionMigrations),
    ),
    ("rbac.authorization.k8s.io", "clusterrolebindings", || {
        typed(rbac::role_binding::ClusterRoleBindings)
    }),
    ("rbac.authorization.k8s.io", "clusterroles", || {
        typed(rbac::role::ClusterRoles)
    }),
    ("rbac.authorization.k8s.io", "rolebindings", || {
        typed(rbac::role_binding::RoleBindings)
    }),
    ("rbac.authorization.k8s.io", "roles", || {
        typed(rbac::role::Roles)
    }),
];

/// Returns the strategy of a resource, given its storage group and plural.
pub(crate) fn strategy(group: &str, plural: &str) -> Arc<dyn Strategy> {
    let row = STRATEGIES
        .iter()
        .find(|row| (row.0, row.1) == (group, plural));
    row.map_or_else(|| shared::plain::strategy(group, plural), |row| row.2())
}

fn typed<S: KindStrategy>(strategy: S) -> Arc<dyn Strategy> {
    Arc::new(ForKind(strategy))
}

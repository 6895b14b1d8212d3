//! What each kind does differently: one module a kind, found by group and plural.
//!
//! Modules named `…_rules` check what users wrote, in upstream's order and words; `…_defaults`
//! fill in what they left out. Kinds without a module are `plain`.

mod address_rules;
mod address_warnings;
mod admission_policy;
mod affinity_rules;
mod annotation_rules;
mod any_container;
mod api_service;
mod certificate_signing_request;
mod claim_rules;
mod claim_status_rules;
mod claim_update_rules;
mod condition_rules;
mod config_map;
mod container_policy_rules;
mod container_port_rules;
mod container_rules;
mod container_status_rules;
mod controller_revision;
mod cron_job;
mod cron_schedule;
mod csi_driver;
mod csi_node;
mod csi_storage_capacity;
mod custom_resource_definition;
mod daemon_set;
mod definition_conversion_rules;
mod definition_field_rules;
mod definition_form;
mod definition_name_rules;
mod definition_rules;
mod definition_schema_rules;
mod deployment;
mod device_class;
mod device_rules;
mod dns_rules;
mod endpoint_slice;
mod endpoints;
mod env_rules;
mod ephemeral_container_rules;
mod event;
pub(crate) mod event_rules;
mod fill;
mod flow_control;
mod go_struct;
mod horizontal_pod_autoscaler;
mod image;
mod ingress;
mod ingress_class;
mod ingress_rules;
mod ip_address;
mod job;
mod job_index_rules;
mod job_policy_rules;
mod job_rules;
mod job_status_rules;
mod job_update_rules;
mod lease;
mod limit_range;
mod metadata_checks;
mod metric_rules;
mod namespace;
mod namespace_label_rules;
mod network_policy;
mod node;
mod node_config_rules;
mod persistent_volume;
mod persistent_volume_claim;
mod persistent_volume_rules;
mod plain;
mod pod;
mod pod_admission;
mod pod_annotation_rules;
mod pod_claim_status_rules;
mod pod_defaults;
mod pod_disabled_fields;
mod pod_disruption_budget;
mod pod_gate_rules;
mod pod_host_rules;
mod pod_part_rules;
mod pod_preparation;
mod pod_resize_admission;
mod pod_resize_rules;
mod pod_resource_rules;
mod pod_rules;
mod pod_security_rules;
mod pod_spec_rules;
mod pod_status_rules;
mod pod_subject;
mod pod_template;
mod pod_template_rules;
mod pod_update_rules;
mod pod_warnings;
mod priority_class;
mod probe_rules;
mod profile_rules;
mod projected_volume_rules;
mod quality_of_service;
mod replica_set;
mod replication_controller;
mod resource_claim;
mod resource_quota;
mod resource_rules;
mod role;
mod role_binding;
mod rules;
mod runtime_class;
mod secret;
mod service;
mod service_account;
pub(crate) mod service_address_rules;
mod service_change_rules;
mod service_cidr;
pub(crate) mod service_rules;
mod service_warnings;
mod signer_rules;
mod signing_conditions;
mod spread_rules;
mod stateful_set;
mod stop_signal_rules;
mod storage_class;
mod sysctl_rules;
mod text_diff;
mod toleration_rules;
mod volume_attachment;
mod volume_attributes_class;
mod volume_defaults;
mod volume_mount_rules;
mod volume_path_warnings;
mod volume_provider_rules;
mod volume_rules;
mod volume_source_rules;
mod volume_sources;
mod volume_warnings;
mod webhook_configuration;
mod webhook_rules;
mod windows_rules;

pub(crate) use daemon_set::TEMPLATE_GENERATION;

use crate::{ForKind, KindStrategy, Strategy};
use std::sync::Arc;

/// The strategy of a resource, by the group and plural that it is stored under.
pub(crate) fn strategy(group: &str, plural: &str) -> Arc<dyn Strategy> {
    let found = match group {
        "" => of_core(plural),
        "apps" | "batch" | "autoscaling" | "policy" => of_workloads(plural),
        "networking.k8s.io" | "discovery.k8s.io" | "storage.k8s.io" => of_infrastructure(plural),
        _ => of_cluster(plural),
    };
    found.unwrap_or_else(|| plain::strategy(group, plural))
}

fn typed<S: KindStrategy>(strategy: S) -> Arc<dyn Strategy> {
    Arc::new(ForKind(strategy))
}

fn of_core(plural: &str) -> Option<Arc<dyn Strategy>> {
    Some(match plural {
        "configmaps" => typed(config_map::ConfigMaps),
        "endpoints" => typed(endpoints::EndpointsOfServices),
        "events" => typed(event::Events),
        "limitranges" => typed(limit_range::LimitRanges),
        "namespaces" => typed(namespace::Namespaces),
        "nodes" => typed(node::Nodes),
        "persistentvolumeclaims" => typed(persistent_volume_claim::PersistentVolumeClaims),
        "persistentvolumes" => typed(persistent_volume::PersistentVolumes),
        "pods" => typed(pod::Pods),
        "podtemplates" => typed(pod_template::PodTemplates),
        "replicationcontrollers" => typed(replication_controller::ReplicationControllers),
        "resourcequotas" => typed(resource_quota::ResourceQuotas),
        "secrets" => typed(secret::Secrets),
        "serviceaccounts" => typed(service_account::ServiceAccounts),
        "services" => typed(service::Services),
        _ => return None,
    })
}

fn of_workloads(plural: &str) -> Option<Arc<dyn Strategy>> {
    Some(match plural {
        "controllerrevisions" => typed(controller_revision::ControllerRevisions),
        "cronjobs" => typed(cron_job::CronJobs),
        "daemonsets" => typed(daemon_set::DaemonSets),
        "deployments" => typed(deployment::Deployments),
        "horizontalpodautoscalers" => typed(horizontal_pod_autoscaler::HorizontalPodAutoscalers),
        "jobs" => typed(job::Jobs),
        "poddisruptionbudgets" => typed(pod_disruption_budget::PodDisruptionBudgets),
        "replicasets" => typed(replica_set::ReplicaSets),
        "statefulsets" => typed(stateful_set::StatefulSets),
        _ => return None,
    })
}

fn of_infrastructure(plural: &str) -> Option<Arc<dyn Strategy>> {
    Some(match plural {
        "csidrivers" => typed(csi_driver::CsiDrivers),
        "csinodes" => typed(csi_node::CsiNodes),
        "csistoragecapacities" => typed(csi_storage_capacity::CsiStorageCapacities),
        "endpointslices" => typed(endpoint_slice::EndpointSlices),
        "ingressclasses" => typed(ingress_class::IngressClasses),
        "ingresses" => typed(ingress::Ingresses),
        "ipaddresses" => typed(ip_address::IpAddresses),
        "networkpolicies" => typed(network_policy::NetworkPolicies),
        "servicecidrs" => typed(service_cidr::ServiceCidrs),
        "storageclasses" => typed(storage_class::StorageClasses),
        "volumeattachments" => typed(volume_attachment::VolumeAttachments),
        "volumeattributesclasses" => typed(volume_attributes_class::VolumeAttributesClasses),
        _ => return None,
    })
}

fn of_cluster(plural: &str) -> Option<Arc<dyn Strategy>> {
    Some(match plural {
        "apiservices" => typed(api_service::ApiServices),
        "certificatesigningrequests" => {
            typed(certificate_signing_request::CertificateSigningRequests)
        }
        "clusterrolebindings" => typed(role_binding::ClusterRoleBindings),
        "clusterroles" => typed(role::ClusterRoles),
        "customresourcedefinitions" => typed(custom_resource_definition::CustomResourceDefinitions),
        "deviceclasses" => typed(device_class::DeviceClasses),
        "flowschemas" => typed(flow_control::FlowSchemas),
        "leases" => typed(lease::Leases),
        "mutatingadmissionpolicies" => typed(admission_policy::MutatingPolicies),
        "mutatingadmissionpolicybindings" => typed(admission_policy::MutatingBindings),
        "mutatingwebhookconfigurations" => typed(webhook_configuration::MutatingWebhooks),
        "priorityclasses" => typed(priority_class::PriorityClasses),
        "prioritylevelconfigurations" => typed(flow_control::PriorityLevelConfigurations),
        "resourceclaims" => typed(resource_claim::ResourceClaims),
        "resourceclaimtemplates" => typed(resource_claim::ResourceClaimTemplates),
        "rolebindings" => typed(role_binding::RoleBindings),
        "roles" => typed(role::Roles),
        "runtimeclasses" => typed(runtime_class::RuntimeClasses),
        "validatingadmissionpolicies" => typed(admission_policy::ValidatingPolicies),
        "validatingadmissionpolicybindings" => typed(admission_policy::ValidatingBindings),
        "validatingwebhookconfigurations" => typed(webhook_configuration::ValidatingWebhooks),
        _ => return None,
    })
}

//! The kinds that Kubist, k8s-openapi and k8s-pb all have.

use crate::case::{Case, Failure, measure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1 as serde_extensions;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1 as serde_registration;
use k8s_pb::apiextensions_apiserver::pkg::apis::apiextensions::v1 as prost_extensions;
use k8s_pb::kube_aggregator::pkg::apis::apiregistration::v1 as prost_registration;

type Measure = fn(u64) -> Result<Case, Failure>;

macro_rules! kinds {
    ($($group:ident::$version:ident::{$($kind:ident),* $(,)?})*) => {
        vec![$($((
            concat!(stringify!($group), "/", stringify!($version), "/", stringify!($kind)),
            measure::<
                kubist_api::$group::$version::$kind,
                k8s_openapi::api::$group::$version::$kind,
                k8s_pb::api::$group::$version::$kind,
            > as Measure,
        ),)*)*]
    };
}

/// Returns the name of each, and what measures it.
pub(crate) fn kinds() -> Vec<(&'static str, Measure)> {
    let mut all = kinds! {
        admissionregistration::v1::{
            MutatingWebhookConfiguration, ValidatingAdmissionPolicy,
            ValidatingAdmissionPolicyBinding, ValidatingWebhookConfiguration,
        }
        admissionregistration::v1alpha1::{MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding}
        admissionregistration::v1beta1::{MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding}
        apiserverinternal::v1alpha1::{StorageVersion}
        apps::v1::{ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet}
        authentication::v1::{SelfSubjectReview, TokenRequest, TokenReview}
        authorization::v1::{
            LocalSubjectAccessReview, SelfSubjectAccessReview, SelfSubjectRulesReview,
            SubjectAccessReview,
        }
        autoscaling::v1::{HorizontalPodAutoscaler, Scale}
        autoscaling::v2::{HorizontalPodAutoscaler}
        batch::v1::{CronJob, Job}
        certificates::v1::{CertificateSigningRequest}
        certificates::v1alpha1::{ClusterTrustBundle}
        certificates::v1beta1::{ClusterTrustBundle, PodCertificateRequest}
        coordination::v1::{Lease}
        coordination::v1alpha2::{LeaseCandidate}
        coordination::v1beta1::{LeaseCandidate}
        core::v1::{
            Binding, ComponentStatus, ConfigMap, Endpoints, Event, LimitRange, Namespace, Node,
            PersistentVolume, PersistentVolumeClaim, Pod, PodTemplate, ReplicationController,
            ResourceQuota, Secret, Service, ServiceAccount,
        }
        discovery::v1::{EndpointSlice}
        events::v1::{Event}
        flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration}
        networking::v1::{IPAddress, Ingress, IngressClass, NetworkPolicy, ServiceCIDR}
        networking::v1beta1::{IPAddress, ServiceCIDR}
        node::v1::{RuntimeClass}
        policy::v1::{Eviction, PodDisruptionBudget}
        rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding}
        resource::v1::{DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice}
        resource::v1alpha3::{DeviceTaintRule}
        resource::v1beta1::{DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice}
        resource::v1beta2::{DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice}
        scheduling::v1::{PriorityClass}
        storage::v1::{
            CSIDriver, CSINode, CSIStorageCapacity, StorageClass, VolumeAttachment,
            VolumeAttributesClass,
        }
        storage::v1beta1::{VolumeAttributesClass}
        storagemigration::v1beta1::{StorageVersionMigration}
    };
    all.push((
        "apiextensions/v1/CustomResourceDefinition",
        measure::<
            kubist_api::apiextensions::v1::CustomResourceDefinition,
            serde_extensions::CustomResourceDefinition,
            prost_extensions::CustomResourceDefinition,
        >,
    ));
    all.push((
        "apiregistration/v1/APIService",
        measure::<
            kubist_api::apiregistration::v1::APIService,
            serde_registration::APIService,
            prost_registration::APIService,
        >,
    ));
    all
}

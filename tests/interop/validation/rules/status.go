package rules

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/core/resourcequota"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/networking/ingress"
	"k8s.io/kubernetes/pkg/registry/networking/servicecidr"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattachment"
)

// statusStrategies are upstream's strategies for the status of each resource.
var statusStrategies = map[schema.GroupResource]rest.RESTUpdateStrategy{
	{Resource: "namespaces"}:             namespace.StatusStrategy,
	{Resource: "nodes"}:                  node.StatusStrategy,
	{Resource: "persistentvolumes"}:      persistentvolume.StatusStrategy,
	{Resource: "persistentvolumeclaims"}: persistentvolumeclaim.StatusStrategy,
	{Resource: "pods"}:                   pod.StatusStrategy,
	{Resource: "replicationcontrollers"}: replicationcontroller.StatusStrategy,
	{Resource: "resourcequotas"}:         resourcequota.StatusStrategy,
	{Resource: "services"}:               service.StatusStrategy,

	{Group: "apps", Resource: "daemonsets"}:   daemonset.StatusStrategy,
	{Group: "apps", Resource: "deployments"}:  deployment.StatusStrategy,
	{Group: "apps", Resource: "replicasets"}:  replicaset.StatusStrategy,
	{Group: "apps", Resource: "statefulsets"}: statefulset.StatusStrategy,

	{Group: "autoscaling", Resource: "horizontalpodautoscalers"}: horizontalpodautoscaler.StatusStrategy,

	{Group: "batch", Resource: "cronjobs"}: cronjob.StatusStrategy,
	{Group: "batch", Resource: "jobs"}:     job.StatusStrategy,

	{Group: "networking.k8s.io", Resource: "ingresses"}:    ingress.StatusStrategy,
	{Group: "networking.k8s.io", Resource: "servicecidrs"}: servicecidr.StatusStrategy,

	{Group: "policy", Resource: "poddisruptionbudgets"}: poddisruptionbudget.StatusStrategy,

	{Group: "storage.k8s.io", Resource: "volumeattachments"}: volumeattachment.StatusStrategy,
}

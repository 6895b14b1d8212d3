package rules

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	"k8s.io/kubernetes/pkg/registry/apps/controllerrevision"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/coordination/lease"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/event"
	"k8s.io/kubernetes/pkg/registry/core/limitrange"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/podtemplate"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/core/resourcequota"
	"k8s.io/kubernetes/pkg/registry/core/secret"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/networking/ingress"
	"k8s.io/kubernetes/pkg/registry/networking/ingressclass"
	"k8s.io/kubernetes/pkg/registry/networking/ipaddress"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"k8s.io/kubernetes/pkg/registry/networking/servicecidr"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrole"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding"
	"k8s.io/kubernetes/pkg/registry/rbac/role"
	"k8s.io/kubernetes/pkg/registry/rbac/rolebinding"
	"k8s.io/kubernetes/pkg/registry/storage/csidriver"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
	"k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattachment"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattributesclass"
)

// strategies are upstream's strategies for each resource.
var strategies = map[schema.GroupResource]rest.RESTCreateUpdateStrategy{
	{Resource: "endpoints"}:       endpointsStrategy,
	{Resource: "serviceaccounts"}: serviceAccountStrategy,

	{Resource: "configmaps"}:             configmap.Strategy,
	{Resource: "events"}:                 event.Strategy,
	{Resource: "limitranges"}:            limitrange.Strategy,
	{Resource: "namespaces"}:             namespace.Strategy,
	{Resource: "nodes"}:                  node.Strategy,
	{Resource: "persistentvolumes"}:      persistentvolume.Strategy,
	{Resource: "persistentvolumeclaims"}: persistentvolumeclaim.Strategy,
	{Resource: "pods"}:                   pod.Strategy,
	{Resource: "podtemplates"}:           podtemplate.Strategy,
	{Resource: "replicationcontrollers"}: replicationcontroller.Strategy,
	{Resource: "resourcequotas"}:         resourcequota.Strategy,
	{Resource: "secrets"}:                secret.Strategy,
	{Resource: "services"}:               service.Strategy,

	{Group: "apps", Resource: "controllerrevisions"}: controllerrevision.Strategy,
	{Group: "apps", Resource: "daemonsets"}:          daemonset.Strategy,
	{Group: "apps", Resource: "deployments"}:         deployment.Strategy,
	{Group: "apps", Resource: "replicasets"}:         replicaset.Strategy,
	{Group: "apps", Resource: "statefulsets"}:        statefulset.Strategy,

	{Group: "autoscaling", Resource: "horizontalpodautoscalers"}: horizontalpodautoscaler.Strategy,

	{Group: "batch", Resource: "cronjobs"}: cronjob.Strategy,
	{Group: "batch", Resource: "jobs"}:     job.Strategy,

	{Group: "coordination.k8s.io", Resource: "leases"}: lease.Strategy,

	{Group: "networking.k8s.io", Resource: "ingresses"}:       ingress.Strategy,
	{Group: "networking.k8s.io", Resource: "ingressclasses"}:  ingressclass.Strategy,
	{Group: "networking.k8s.io", Resource: "ipaddresses"}:     ipaddress.Strategy,
	{Group: "networking.k8s.io", Resource: "networkpolicies"}: networkpolicy.Strategy,
	{Group: "networking.k8s.io", Resource: "servicecidrs"}:    servicecidr.Strategy,

	{Group: "policy", Resource: "poddisruptionbudgets"}: poddisruptionbudget.Strategy,

	{Group: "rbac.authorization.k8s.io", Resource: "clusterroles"}:        clusterrole.Strategy,
	{Group: "rbac.authorization.k8s.io", Resource: "clusterrolebindings"}: clusterrolebinding.Strategy,
	{Group: "rbac.authorization.k8s.io", Resource: "roles"}:               role.Strategy,
	{Group: "rbac.authorization.k8s.io", Resource: "rolebindings"}:        rolebinding.Strategy,

	{Group: "storage.k8s.io", Resource: "csidrivers"}:              csidriver.Strategy,
	{Group: "storage.k8s.io", Resource: "csinodes"}:                csinode.Strategy,
	{Group: "storage.k8s.io", Resource: "csistoragecapacities"}:    csistoragecapacity.Strategy,
	{Group: "storage.k8s.io", Resource: "storageclasses"}:          storageclass.Strategy,
	{Group: "storage.k8s.io", Resource: "volumeattachments"}:       volumeattachment.Strategy,
	{Group: "storage.k8s.io", Resource: "volumeattributesclasses"}: volumeattributesclass.Strategy,
}

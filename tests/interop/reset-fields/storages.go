package main

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/registry/generic"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	baseversion "k8s.io/component-base/version"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	api "k8s.io/kubernetes/pkg/apis/core"
	kubelet "k8s.io/kubernetes/pkg/kubelet/client"
	admissionregistration "k8s.io/kubernetes/pkg/registry/admissionregistration/rest"
	apiserverinternal "k8s.io/kubernetes/pkg/registry/apiserverinternal/rest"
	apps "k8s.io/kubernetes/pkg/registry/apps/rest"
	autoscaling "k8s.io/kubernetes/pkg/registry/autoscaling/rest"
	batch "k8s.io/kubernetes/pkg/registry/batch/rest"
	certificates "k8s.io/kubernetes/pkg/registry/certificates/rest"
	coordination "k8s.io/kubernetes/pkg/registry/coordination/rest"
	configmap "k8s.io/kubernetes/pkg/registry/core/configmap/storage"
	endpoint "k8s.io/kubernetes/pkg/registry/core/endpoint/storage"
	event "k8s.io/kubernetes/pkg/registry/core/event/storage"
	limitrange "k8s.io/kubernetes/pkg/registry/core/limitrange/storage"
	namespace "k8s.io/kubernetes/pkg/registry/core/namespace/storage"
	node "k8s.io/kubernetes/pkg/registry/core/node/storage"
	persistentvolume "k8s.io/kubernetes/pkg/registry/core/persistentvolume/storage"
	persistentvolumeclaim "k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim/storage"
	pod "k8s.io/kubernetes/pkg/registry/core/pod/storage"
	podtemplate "k8s.io/kubernetes/pkg/registry/core/podtemplate/storage"
	replicationcontroller "k8s.io/kubernetes/pkg/registry/core/replicationcontroller/storage"
	resourcequota "k8s.io/kubernetes/pkg/registry/core/resourcequota/storage"
	secret "k8s.io/kubernetes/pkg/registry/core/secret/storage"
	service "k8s.io/kubernetes/pkg/registry/core/service/storage"
	serviceaccount "k8s.io/kubernetes/pkg/registry/core/serviceaccount/storage"
	discovery "k8s.io/kubernetes/pkg/registry/discovery/rest"
	events "k8s.io/kubernetes/pkg/registry/events/rest"
	flowcontrol "k8s.io/kubernetes/pkg/registry/flowcontrol/rest"
	networking "k8s.io/kubernetes/pkg/registry/networking/rest"
	noderest "k8s.io/kubernetes/pkg/registry/node/rest"
	policy "k8s.io/kubernetes/pkg/registry/policy/rest"
	rbac "k8s.io/kubernetes/pkg/registry/rbac/rest"
	resource "k8s.io/kubernetes/pkg/registry/resource/rest"
	scheduling "k8s.io/kubernetes/pkg/registry/scheduling/rest"
	storagerest "k8s.io/kubernetes/pkg/registry/storage/rest"
	storagemigration "k8s.io/kubernetes/pkg/registry/storagemigration/rest"
)

// provider creates the storages of a group.
type provider interface {
	NewRESTStorage(serverstorage.APIResourceConfigSource, generic.RESTOptionsGetter) (genericapiserver.APIGroupInfo, error)
}

// gates are the features, off by default, without which resources have no storage.
var gates = map[string]bool{
	"ClusterTrustBundle":     true,
	"GenericWorkload":        true,
	"PodCertificateRequest":  true,
	"StorageVersionMigrator": true,
}

// noClient is a client that storages require, and that nothing here calls.
type noClient struct{ corev1.NamespaceInterface }

// nowhere stores nothing.
type nowhere struct{}

func (nowhere) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	return generic.RESTOptions{
		StorageConfig:  &storagebackend.ConfigForResource{GroupResource: resource},
		ResourcePrefix: "/" + resource.String(),
		Decorator:      noStorage,
	}, nil
}

func noStorage(
	*storagebackend.ConfigForResource,
	string,
	func(runtime.Object) (string, error),
	func() runtime.Object,
	func() runtime.Object,
	storage.AttrFunc,
	storage.IndexerFuncs,
	*cache.Indexers,
) (storage.Interface, factory.DestroyFunc, error) {
	return nil, func() {}, nil
}

// addGroups adds the groups other than core, in all versions.
func addGroups(served map[schema.GroupVersion]storages) error {
	enabled := serverstorage.NewResourceConfig()
	enabled.EnableVersions(legacyscheme.Scheme.PrioritizedVersionsAllGroups()...)
	allowed := authorizerfactory.NewAlwaysAllowAuthorizer()
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(gates); err != nil {
		return err
	}
	expiration, err := genericapiserver.NewResourceExpirationEvaluator(version.MustParse(baseversion.DefaultKubeBinaryVersion))
	if err != nil {
		return err
	}
	for _, provider := range []provider{
		admissionregistration.RESTStorageProvider{Authorizer: allowed},
		apiserverinternal.StorageProvider{},
		apps.StorageProvider{},
		autoscaling.RESTStorageProvider{},
		batch.RESTStorageProvider{},
		certificates.RESTStorageProvider{Authorizer: allowed},
		coordination.RESTStorageProvider{},
		discovery.StorageProvider{},
		events.RESTStorageProvider{},
		flowcontrol.RESTStorageProvider{},
		networking.RESTStorageProvider{},
		noderest.RESTStorageProvider{},
		policy.RESTStorageProvider{},
		rbac.RESTStorageProvider{Authorizer: allowed},
		resource.RESTStorageProvider{NamespaceClient: noClient{}, Authorizer: allowed},
		scheduling.RESTStorageProvider{},
		storagemigration.RESTStorageProvider{},
		storagerest.RESTStorageProvider{},
	} {
		info, err := provider.NewRESTStorage(enabled, nowhere{})
		if err != nil {
			return fmt.Errorf("%T: %w", provider, err)
		}
		group := info.PrioritizedVersions[0].Group
		all := info.VersionedResourcesStorageMap
		if err := expiration.RemoveUnavailableKinds(group, info.Scheme, all, enabled); err != nil {
			return fmt.Errorf("%s: %w", group, err)
		}
		addInfo(served, &info)
	}
	return nil
}

func addInfo(served map[schema.GroupVersion]storages, info *genericapiserver.APIGroupInfo) {
	group := info.PrioritizedVersions[0].Group
	for version, all := range info.VersionedResourcesStorageMap {
		added := storages{}
		for path, storage := range all {
			added[path] = storage
		}
		served[schema.GroupVersion{Group: group, Version: version}] = added
	}
}

// addCore adds the core group, whose own provider needs a running server.
func addCore(served map[schema.GroupVersion]storages) error {
	all := storages{}
	var errs [15]error
	all["configmaps"], errs[0] = configmap.NewREST(nowhere{})
	all["endpoints"], errs[1] = endpoint.NewREST(nowhere{})
	all["events"], errs[2] = event.NewREST(nowhere{}, 0)
	all["limitranges"], errs[3] = limitrange.NewREST(nowhere{})
	all["namespaces"], all["namespaces/status"], all["namespaces/finalize"], errs[4] = namespace.NewREST(nowhere{})
	all["persistentvolumeclaims"], all["persistentvolumeclaims/status"], errs[5] = persistentvolumeclaim.NewREST(nowhere{})
	all["persistentvolumes"], all["persistentvolumes/status"], errs[6] = persistentvolume.NewREST(nowhere{})
	all["podtemplates"], errs[7] = podtemplate.NewREST(nowhere{})
	all["resourcequotas"], all["resourcequotas/status"], errs[8] = resourcequota.NewREST(nowhere{})
	all["secrets"], errs[9] = secret.NewREST(nowhere{})
	all["serviceaccounts"], errs[10] = serviceaccount.NewREST(nowhere{}, nil, nil, 0, nil, nil, nil, false, 0)
	all["services"], all["services/status"], _, errs[11] = service.NewREST(nowhere{}, api.IPv4Protocol, nil, nil, nil, nil, nil)
	controllers, err := replicationcontroller.NewStorage(nowhere{})
	errs[12] = err
	nodes, err := node.NewStorage(nowhere{}, kubelet.KubeletClientConfig{}, nil)
	errs[13] = err
	pods, err := pod.NewStorage(nowhere{}, nil, nil, nil, nil)
	errs[14] = err
	if err := errors.Join(errs[:]...); err != nil {
		return fmt.Errorf("core: %w", err)
	}
	all["nodes"], all["nodes/status"] = nodes.Node, nodes.Status
	all["pods"], all["pods/status"] = pods.Pod, pods.Status
	all["pods/ephemeralcontainers"], all["pods/resize"] = pods.EphemeralContainers, pods.Resize
	all["replicationcontrollers"] = controllers.Controller
	all["replicationcontrollers/status"] = controllers.Status
	all["replicationcontrollers/scale"] = controllers.Scale
	served[schema.GroupVersion{Version: "v1"}] = all
	return nil
}

package main

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	aggregator "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiservice "k8s.io/kube-aggregator/pkg/registry/apiservice/rest"
)

// addExtensions adds the resources of the extension server and of the aggregator.
func addExtensions(served map[schema.GroupVersion]storages) error {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	definitions, err := customresourcedefinition.NewREST(scheme, nowhere{})
	if err != nil {
		return fmt.Errorf("definitions: %w", err)
	}
	served[schema.GroupVersion{Group: apiextensions.GroupName, Version: "v1"}] = storages{
		"customresourcedefinitions":        definitions,
		"customresourcedefinitions/status": customresourcedefinition.NewStatusREST(scheme, definitions),
	}
	enabled := serverstorage.NewResourceConfig()
	enabled.EnableVersions(aggregator.SchemeGroupVersion)
	info := apiservice.NewRESTStorage(enabled, nowhere{}, false)
	addInfo(served, &info)
	return nil
}

// addCustom adds two custom resources: one with subresources, and one without.
func addCustom(served map[schema.GroupVersion]storages) error {
	version := schema.GroupVersion{Group: "example.com", Version: "v1"}
	all := storages{}
	served[version] = all
	full, err := custom(version, "fulls", true)
	if err != nil {
		return err
	}
	all["fulls"], all["fulls/status"], all["fulls/scale"] = full.CustomResource, full.Status, full.Scale
	plain, err := custom(version, "plains", false)
	all["plains"] = plain.CustomResource
	return err
}

func custom(version schema.GroupVersion, plural string, full bool) (customresource.CustomResourceStorage, error) {
	var status *apiextensions.CustomResourceSubresourceStatus
	var scale *apiextensions.CustomResourceSubresourceScale
	if full {
		status = &apiextensions.CustomResourceSubresourceStatus{}
		scale = &apiextensions.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas"}
	}
	kind := version.WithKind("Custom")
	strategy := customresource.NewStrategy(typer{}, true, kind, nil, nil, nil, status, scale, nil)
	storage, err := customresource.NewStorage(
		version.WithResource(plural).GroupResource(), version.WithResource("custom").GroupResource(),
		kind, version.WithKind("CustomList"), strategy, nowhere{}, nil,
		rest.NewDefaultTableConvertor(version.WithResource(plural).GroupResource()), nil)
	if err != nil {
		return storage, fmt.Errorf("%s: %w", plural, err)
	}
	return storage, nil
}

// typer returns the kind that an object names.
type typer struct{}

func (typer) ObjectKinds(object runtime.Object) ([]schema.GroupVersionKind, bool, error) {
	kind := object.(*unstructured.Unstructured).GroupVersionKind()
	return []schema.GroupVersionKind{kind}, false, nil
}

func (typer) Recognizes(schema.GroupVersionKind) bool {
	return true
}

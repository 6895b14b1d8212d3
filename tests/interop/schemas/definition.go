package main

import (
	"context"
	"sort"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// definition returns the errors of the schema of a definition that is valid otherwise.
func definition(props, old *apiextensions.JSONSchemaProps, status bool) []string {
	var errors field.ErrorList
	if old == nil {
		errors = validation.ValidateCustomResourceDefinition(context.Background(), definitionOf(props, status))
	} else {
		errors = validation.ValidateCustomResourceDefinitionUpdate(context.Background(), definitionOf(props, status), definitionOf(old, status))
	}
	const prefix = "spec.versions[0].schema"
	var out []string
	for _, err := range errors {
		if text := err.Error(); strings.HasPrefix(text, prefix) {
			// Some errors name another path as well.
			out = append(out, strings.ReplaceAll(text, prefix, "s"))
		}
	}
	sort.Strings(out)
	return normal(out)
}

func definitionOf(props *apiextensions.JSONSchemaProps, status bool) *apiextensions.CustomResourceDefinition {
	version := apiextensions.CustomResourceDefinitionVersion{
		Name:    "v1",
		Served:  true,
		Storage: true,
		Schema:  &apiextensions.CustomResourceValidation{OpenAPIV3Schema: props},
	}
	if status {
		version.Subresources = &apiextensions.CustomResourceSubresources{
			Status: &apiextensions.CustomResourceSubresourceStatus{},
		}
	}
	preserve := false
	return &apiextensions.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "figs.example.com", ResourceVersion: "1"},
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group: "example.com",
			Scope: apiextensions.NamespaceScoped,
			Names: apiextensions.CustomResourceDefinitionNames{
				Plural: "figs", Singular: "fig", Kind: "Fig", ListKind: "FigList",
			},
			Versions:              []apiextensions.CustomResourceDefinitionVersion{version},
			PreserveUnknownFields: &preserve,
		},
		Status: apiextensions.CustomResourceDefinitionStatus{StoredVersions: []string{"v1"}},
	}
}

// schema prints the types that upstream's API server derives for server-side apply, in the notation
// of structured-merge-diff.
//
// "schema kinds" prints the types of all built-in kinds. "schema custom" reads lines of JSON, each
// the OpenAPI schema of a custom resource definition's version, or null, and prints a line for each:
// the types, where that of the objects is called "com.example.v1.Widget". The test `upstream_schemas`
// of kubist-field-manager compares them.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/pkg/generated/openapi"
	kyaml "sigs.k8s.io/yaml"

	"go.yaml.in/yaml/v2"
)

// lineMax bounds a schema.
const lineMax = 8 << 20

// Preserving unknown fields for a whole definition is not possible in its version v1.
const preserveUnknownFields = false

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "schema:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	switch {
	case len(args) == 1 && args[0] == "kinds":
		return write(out, kinds())
	case len(args) == 1 && args[0] == "custom":
		in := bufio.NewScanner(os.Stdin)
		in.Buffer(make([]byte, 0, 64<<10), lineMax)
		for in.Scan() {
			models, err := custom(in.Bytes())
			if err != nil {
				return err
			}
			if err := write(out, models); err != nil {
				return err
			}
		}
		return in.Err()
	default:
		return fmt.Errorf("usage: schema kinds|custom")
	}
}

// kinds returns the models of all built-in types, as the server has them for v3 of OpenAPI.
func kinds() map[string]*spec.Schema {
	ref := func(name string) spec.Ref { return spec.MustCreateRef("#/components/schemas/" + name) }
	models := map[string]*spec.Schema{}
	for name, definition := range openapi.GetOpenAPIDefinitions(ref) {
		models[name] = &definition.Schema
	}
	return models
}

// custom returns the models of a definition with this schema, as the server builds them for apply.
func custom(line []byte) (map[string]*spec.Schema, error) {
	version := apiextensions.CustomResourceDefinitionVersion{Name: "v1", Served: true, Storage: true}
	var schema *apiextensions.JSONSchemaProps
	if err := json.Unmarshal(line, &schema); err != nil {
		return nil, fmt.Errorf("reading a schema: %w", err)
	}
	if schema != nil {
		version.Schema = &apiextensions.CustomResourceValidation{OpenAPIV3Schema: schema}
	}
	definition := &apiextensions.CustomResourceDefinition{
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group: "example.com",
			Names: apiextensions.CustomResourceDefinitionNames{
				Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList",
			},
			Scope:    apiextensions.NamespaceScoped,
			Versions: []apiextensions.CustomResourceDefinitionVersion{version},
		},
	}
	document, err := builder.BuildOpenAPIV3(definition, "v1", builder.Options{})
	if err != nil {
		return nil, fmt.Errorf("building a document: %w", err)
	}
	merged, err := builder.MergeSpecsV3(document)
	if err != nil {
		return nil, fmt.Errorf("merging documents: %w", err)
	}
	return merged.Components.Schemas, nil
}

// write writes the types of models as a line of JSON.
func write(out *bufio.Writer, models map[string]*spec.Schema) error {
	schema, err := schemaconv.ToSchemaFromOpenAPI(models, preserveUnknownFields)
	if err != nil {
		return fmt.Errorf("converting a schema: %w", err)
	}
	text, err := yaml.Marshal(schema)
	if err != nil {
		return fmt.Errorf("writing a schema: %w", err)
	}
	line, err := kyaml.YAMLToJSON(text)
	if err != nil {
		return fmt.Errorf("writing a schema: %w", err)
	}
	_, err = out.Write(append(line, '\n'))
	return err
}

package main

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// openSchema is the used part of an OpenAPI v3 schema.
type openSchema struct {
	Type       string
	Format     string
	Properties map[string]openSchema
	Required   []string
	Default    any
	Enum       []any
	ListType   string   `json:"x-kubernetes-list-type"`
	ListKeys   []string `json:"x-kubernetes-list-map-keys"`
	MapType    string   `json:"x-kubernetes-map-type"`
	Strategy   string   `json:"x-kubernetes-patch-strategy"`
	MergeKey   string   `json:"x-kubernetes-patch-merge-key"`
	Unions     []any    `json:"x-kubernetes-unions"`
}

// readOpenAPI gathers the schemas of all documents by name.
func readOpenAPI(data string) (map[string]openSchema, error) {
	files, err := filepath.Glob(filepath.Join(data, "openapi-v3", "*.json"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no OpenAPI documents in %s", data)
	}
	slices.Sort(files)
	out := map[string]openSchema{}
	for _, f := range files {
		var doc struct {
			Components struct{ Schemas map[string]openSchema }
		}
		if err := readJSON(f, &doc); err != nil {
			return nil, err
		}
		for name, s := range doc.Components.Schemas {
			out[name] = s
		}
	}
	return out, nil
}

// checkOpenAPI compares the messages with the server's documents. Facts that are
// in both markers and documents must agree.
func (w *walker) checkOpenAPI(docs map[string]openSchema) {
	for name, doc := range docs {
		m := w.messages[name]
		if m == nil {
			w.problems.addf("OpenAPI has %s, the modules have not", name)
			continue
		}
		m.OpenAPI = true
		if m.Special != "" || m.Form == "list" {
			continue
		}
		if m.MapType != doc.MapType {
			w.problems.addf("%s: map type %q, OpenAPI %q", name, m.MapType, doc.MapType)
		}
		if m.Union != (len(doc.Unions) > 0) {
			w.problems.addf("%s: union %t, OpenAPI %t", name, m.Union, len(doc.Unions) > 0)
		}
		fields := map[string]*Field{}
		w.flatten(m, fields)
		for json, prop := range doc.Properties {
			f := fields[json]
			if f == nil {
				w.problems.addf("%s.%s: only in OpenAPI", name, json)
				continue
			}
			delete(fields, json)
			w.compareProperty(name+"."+json, f, prop, slices.Contains(doc.Required, json))
		}
		for json := range fields {
			w.problems.addf("%s.%s: not in OpenAPI", name, json)
		}
	}
}

// compareProperty compares one field with its OpenAPI property.
func (w *walker) compareProperty(at string, f *Field, doc openSchema, required bool) {
	differ := func(what string, ours, theirs any) {
		if !reflect.DeepEqual(ours, theirs) {
			w.problems.addf("%s: %s %v, OpenAPI %v", at, what, ours, theirs)
		}
	}
	differ("required", f.Required, required)
	differ("list type", f.ListType, doc.ListType)
	differ("list map keys", append([]string{}, f.ListMapKeys...), append([]string{}, doc.ListKeys...))
	differ("map type", f.MapType, doc.MapType)
	differ("patch strategy", f.PatchStrategy, doc.Strategy)
	differ("patch merge key", f.PatchMergeKey, doc.MergeKey)
	if len(doc.Enum) > 0 {
		w.problems.addf("%s: OpenAPI has an enum; read it", at)
	}
	if f.Default != nil || !isZeroDefault(doc.Default) {
		differ("default", f.Default, doc.Default)
	}
	// Named special types bring their own format; only scalars are compared.
	if derived := scalarFormats[strings.TrimLeft(f.Type, "*")]; doc.Format != derived {
		f.Format = doc.Format
	}
}

// isZeroDefault reports whether a default is one that the OpenAPI generator
// writes for every field that is always present.
func isZeroDefault(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	}
	return reflect.ValueOf(v).IsZero()
}

// scalarFormats are the OpenAPI formats that follow from a type.
var scalarFormats = map[string]string{
	"int": "int32", "int32": "int32", "int64": "int64", "float64": "double", "bytes": "byte",
}

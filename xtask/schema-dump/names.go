package main

import (
	"reflect"
	"strings"
)

// modelNamer is implemented by the types that the OpenAPI generator visited.
type modelNamer interface{ OpenAPIModelName() string }

// fullName is the dotted name of a Go type as OpenAPI writes it.
func fullName(t reflect.Type) string {
	return modelName(t.PkgPath(), t.Name())
}

// modelName turns a Go package and type name into the OpenAPI name: the host
// reversed, slashes as dots.
func modelName(pkg, name string) string {
	host, path, _ := strings.Cut(pkg, "/")
	labels := strings.Split(host, ".")
	for i, j := 0, len(labels)-1; i < j; i, j = i+1, j-1 {
		labels[i], labels[j] = labels[j], labels[i]
	}
	parts := labels
	if path != "" {
		parts = append(parts, strings.Split(path, "/")...)
	}
	return strings.Join(append(parts, name), ".")
}

// modelNameMismatch returns the name that the type itself reports when it is
// not the one that fullName computes.
func modelNameMismatch(t reflect.Type) string {
	if n, ok := reflect.New(t).Interface().(modelNamer); ok {
		if got := n.OpenAPIModelName(); got != fullName(t) {
			return got
		}
	}
	return ""
}

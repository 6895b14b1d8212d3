// Command schema-dump writes the facts of one version of the Kubernetes API
// into a JSON file: groups, resources, kinds, and for every message its fields
// with JSON name, protobuf number, type and merge markers.
//
// It reflects over the Go types of the published modules, reads the marker
// comments of their sources, and joins them with discovery, OpenAPI and table
// documents of a server of that version. It fails when two sources disagree.
//
//	go run . -data DIR -out ../schema/kubernetes-v1.36.json
package main

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
)

func main() {
	data := flag.String("data", "", "folder with discovery/, openapi-v3/ and table-columns.json")
	out := flag.String("out", "", "file to write")
	flag.Parse()
	if *data == "" || *out == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*data, *out); err != nil {
		fmt.Fprintln(os.Stderr, "schema-dump:", err)
		os.Exit(1)
	}
}

// run creates the file; it writes nothing when the sources disagree.
func run(data, out string) error {
	mods, err := listModules()
	if err != nil {
		return err
	}
	kinds, err := registeredKinds()
	if err != nil {
		return err
	}
	p := &problems{}
	w := &walker{
		mods: mods, problems: p,
		sources: map[string]*source{}, protos: map[string]*protoFile{},
		types: map[string]*NamedType{}, messages: map[string]*Message{},
		goTypes: map[string]reflect.Type{},
	}
	if err := w.visitRoots(kinds); err != nil {
		return err
	}
	if err := w.checkPackages(); err != nil {
		return err
	}
	s := &Schema{
		CommonKinds: map[string]string{}, Modules: map[string]string{},
		Types: w.types, Messages: w.messages,
	}
	for _, m := range mods {
		s.Modules[m.Path] = m.Version
		s.Version = "1." + strings.Split(m.Version, ".")[1]
	}
	if s.Groups, err = readGroups(data); err != nil {
		return err
	}
	w.addKinds(s, kinds)
	s.checkResources(p)
	w.checkNames()
	w.checkProto()
	docs, err := readOpenAPI(data)
	if err != nil {
		return err
	}
	w.checkOpenAPI(docs)
	if err := p.err(); err != nil {
		return err
	}
	return os.WriteFile(out, s.render(), 0o644)
}

// visitRoots walks down from every kind and from the extra roots.
func (w *walker) visitRoots(kinds []kind) error {
	for _, k := range kinds {
		if err := w.visit(k.typ); err != nil {
			return err
		}
	}
	for _, r := range extraRoots {
		if err := w.visit(reflect.TypeOf(r)); err != nil {
			return err
		}
	}
	return nil
}

// checkPackages fails on packages and protobuf messages that were not reached.
func (w *walker) checkPackages() error {
	seen := map[string]bool{}
	for pkg := range w.sources {
		seen[pkg] = true
	}
	if err := checkCovered(w.mods, seen, w.problems); err != nil {
		return err
	}
	for pkg, file := range w.protos {
		for name := range file.messages {
			full := modelName(pkg, name)
			if w.messages[full] == nil && !slices.Contains(unreachable, full) {
				w.problems.addf("%s is in generated.proto but nothing reaches it", full)
			}
		}
	}
	return nil
}

// unreachable are messages of generated.proto that no API object contains: a
// helper of the Quantity code, and a pair that is always written as a string.
var unreachable = []string{
	"io.k8s.apimachinery.pkg.api.resource.QuantityValue",
	"io.k8s.apimachinery.pkg.apis.meta.v1.GroupVersion",
}

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// apiGroup is the used part of an APIGroup document.
type apiGroup struct {
	Name             string
	PreferredVersion struct{ Version string }
	Versions         []struct{ Version string }
}

// apiResource is one entry of an APIResourceList document.
type apiResource struct {
	Name, SingularName, Group, Version, Kind string
	Namespaced                               bool
	ShortNames, Categories, Verbs            []string
	StorageVersionHash                       string
}

// readJSON decodes a file.
func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// readGroups reads the groups that a server lists, in its order, the legacy
// group first, with the resources of each version.
func readGroups(data string) ([]Group, error) {
	var list struct{ Groups []apiGroup }
	if err := readJSON(filepath.Join(data, "discovery", "apis.json"), &list); err != nil {
		return nil, err
	}
	var columns map[string][]Column
	if err := readJSON(filepath.Join(data, "table-columns.json"), &columns); err != nil {
		return nil, err
	}
	var core apiGroup
	core.PreferredVersion.Version = "v1"
	core.Versions = []struct{ Version string }{{"v1"}}
	var out []Group
	for _, g := range append([]apiGroup{core}, list.Groups...) {
		group := Group{Name: g.Name, Preferred: g.PreferredVersion.Version}
		for _, v := range g.Versions {
			gv := groupVersionName(g.Name, v.Version)
			file := "apis__" + strings.ReplaceAll(gv, "/", "__") + ".json"
			if g.Name == "" {
				file = "api__v1.json"
			}
			var doc struct{ Resources []apiResource }
			if err := readJSON(filepath.Join(data, "discovery", file), &doc); err != nil {
				return nil, err
			}
			res, err := resources(gv, doc.Resources, columns)
			if err != nil {
				return nil, err
			}
			group.Versions = append(group.Versions,
				GroupVersion{Version: v.Version, Served: true, Resources: res})
		}
		out = append(out, group)
	}
	for key := range columns {
		return nil, fmt.Errorf("table-columns.json: %s is no resource", key)
	}
	return out, nil
}

// groupVersionName is the apiVersion string of a group and version.
func groupVersionName(group, version string) string {
	if group == "" {
		return version
	}
	return group + "/" + version
}

// resources sorts the entries of one document into resources and their
// subresources and takes the table columns, which it removes from the map.
func resources(gv string, list []apiResource, columns map[string][]Column) ([]Resource, error) {
	var out []Resource
	index := map[string]int{}
	for _, r := range list {
		if strings.Contains(r.Name, "/") {
			continue
		}
		if r.Group != "" || r.Version != "" {
			return nil, fmt.Errorf("%s %s: has a foreign kind", gv, r.Name)
		}
		key := gv + "/" + r.Name
		index[r.Name] = len(out)
		out = append(out, Resource{
			Name: r.Name, Singular: r.SingularName, Kind: r.Kind, Namespaced: r.Namespaced,
			ShortNames: r.ShortNames, Categories: r.Categories, Verbs: r.Verbs,
			StorageVersionHash: r.StorageVersionHash, Columns: columns[key],
		})
		delete(columns, key)
	}
	for _, r := range list {
		parent, sub, ok := strings.Cut(r.Name, "/")
		if !ok {
			continue
		}
		at, known := index[parent]
		if !known {
			// A subresource without a parent is listed as a resource.
			return nil, fmt.Errorf("%s: %s without %s", gv, r.Name, parent)
		}
		if r.Namespaced != out[at].Namespaced {
			return nil, fmt.Errorf("%s: %s differs in scope from %s", gv, r.Name, parent)
		}
		out[at].Subresources = append(out[at].Subresources, Subresource{
			Name: sub, Group: r.Group, Version: r.Version, Kind: r.Kind, Verbs: r.Verbs,
		})
	}
	return out, nil
}

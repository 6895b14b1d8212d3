package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"sort"
	"strings"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// sequence is writes to one object. Its schemas have a root type for each version, named like it, in
// which each field of the root has the version as a suffix.
type sequence struct {
	// Filters are excluded fields by version.
	Filters map[string]string
	Steps   []step
}

type step struct {
	// Schema replaces the schema from here on.
	Schema json.RawMessage
	// Versions replaces the versions that exist from here on.
	Versions []string
	Version  string
	Manager  string
	Object   json.RawMessage
	Apply    bool
	Force    bool
}

type owned struct {
	Version string `json:"version"`
	Applied bool   `json:"applied"`
	Fields  string `json:"fields"`
}

type result struct {
	Panic     string           `json:"panic,omitempty"`
	Invalid   bool             `json:"invalid,omitempty"`
	Error     bool             `json:"error,omitempty"`
	Conflicts []string         `json:"conflicts,omitempty"`
	Object    any              `json:"object,omitempty"`
	Same      bool             `json:"same,omitempty"`
	Managers  map[string]owned `json:"managers,omitempty"`
}

var errVersion = errors.New("no such version")

type converter struct {
	parser   *typed.Parser
	versions []string
}

func (c converter) has(version string) bool {
	for _, it := range c.versions {
		if it == version {
			return true
		}
	}
	return false
}

func (c converter) Convert(object *typed.TypedValue, version fieldpath.APIVersion) (*typed.TypedValue, error) {
	from, to := *object.TypeRef().NamedType, string(version)
	if from == to {
		return object, nil
	}
	if !c.has(to) {
		return nil, errVersion
	}
	value := object.AsValue().Unstructured()
	if members, ok := value.(map[string]any); ok {
		renamed := map[string]any{}
		for name, it := range members {
			renamed[strings.TrimSuffix(name, "_"+from)+"_"+to] = it
		}
		value = renamed
	}
	return c.parser.Type(to).FromUnstructured(value, typed.AllowDuplicates)
}

func (c converter) IsMissingVersionError(err error) bool {
	return errors.Is(err, errVersion)
}

func (s *sequence) run() (results []result) {
	defer func() {
		if reason := recover(); reason != nil {
			results = append(results, result{Panic: fmt.Sprint(reason)})
		}
	}()
	filters := map[fieldpath.APIVersion]fieldpath.Filter{}
	for version, text := range s.Filters {
		set := fieldpath.NewSet()
		if err := set.FromJSON(strings.NewReader(text)); err != nil {
			log.Fatal(err)
		}
		filters[fieldpath.APIVersion(version)] = fieldpath.NewExcludeSetFilter(set)
	}
	managers := fieldpath.ManagedFields{}
	var c converter
	var live any = map[string]any{}
	version := ""
	for _, step := range s.Steps {
		if step.Schema != nil {
			parser, err := typed.NewParser(typed.YAMLObject(step.Schema))
			if err != nil {
				log.Fatal(err)
			}
			c.parser = parser
		}
		if step.Versions != nil {
			c.versions = step.Versions
		}
		if version == "" {
			version = step.Version
		}
		updater := merge.Updater{Converter: c, IgnoreFilter: filters}
		out, object, left := step.run(c, &updater, live, version, copied(managers))
		results = append(results, out)
		if left != nil {
			live, version, managers = object, step.Version, left
		}
	}
	return results
}

func copied(managers fieldpath.ManagedFields) fieldpath.ManagedFields {
	out := fieldpath.ManagedFields{}
	for name, set := range managers {
		out[name] = set
	}
	return out
}

func (s *step) run(c converter, updater *merge.Updater, live any, version string, managers fieldpath.ManagedFields) (result, any, fieldpath.ManagedFields) {
	old, err := c.parser.Type(version).FromUnstructured(live, typed.AllowDuplicates)
	if err != nil {
		return result{Invalid: true}, nil, nil
	}
	old, err = c.Convert(old, fieldpath.APIVersion(s.Version))
	if err != nil {
		return result{Invalid: true}, nil, nil
	}
	var value any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(s.Object, &value); err != nil {
		log.Fatal(err)
	}
	config, err := c.parser.Type(s.Version).FromUnstructured(value)
	if err != nil {
		return result{Invalid: true}, nil, nil
	}
	var made *typed.TypedValue
	if s.Apply {
		made, managers, err = updater.Apply(old, config, fieldpath.APIVersion(s.Version), managers, s.Manager, s.Force)
	} else {
		made, err = old.Merge(config)
		if err == nil {
			made, managers, err = updater.Update(old, made, fieldpath.APIVersion(s.Version), managers, s.Manager)
		}
	}
	if conflicts, ok := err.(merge.Conflicts); ok {
		out := result{}
		for _, it := range conflicts {
			out.Conflicts = append(out.Conflicts, it.Manager+" "+it.Path.String())
		}
		sort.Strings(out.Conflicts)
		return out, nil, nil
	}
	if err != nil {
		return result{Error: true}, nil, nil
	}
	out := result{Managers: map[string]owned{}, Same: made == nil}
	if made == nil {
		made = old
	}
	for name, set := range managers {
		fields, err := set.Set().ToJSON()
		if err != nil {
			log.Fatal(err)
		}
		out.Managers[name] = owned{string(set.APIVersion()), set.Applied(), string(fields)}
	}
	out.Object = made.AsValue().Unstructured()
	return out, out.Object, managers
}

package main

import (
	"encoding/json"
	"reflect"
	"strings"
)

// markersOf returns the markers of a type.
func (w *walker) markersOf(t reflect.Type) markers {
	ts := w.sources[t.PkgPath()].types[t.Name()]
	if ts == nil {
		w.problems.addf("%s is not in the sources of its package", fullName(t))
		return markers{}
	}
	return ts.markers
}

// fieldMarkers returns the markers of a field. A type that is declared over
// another struct has the fields of that one.
func (w *walker) fieldMarkers(t reflect.Type, field string) markers {
	pkg, name := t.PkgPath(), t.Name()
	for {
		ts := w.sources[pkg].types[name]
		if ts != nil && ts.fields[field] != nil {
			return ts.fields[field]
		}
		if ts == nil || ts.baseName == "" {
			w.problems.addf("%s.%s is not in the sources", fullName(t), field)
			return markers{}
		}
		name = ts.baseName
		if ts.basePkg != "" {
			pkg = ts.basePkg
		}
		if err := w.load(pkg); err != nil {
			w.problems.addf("%s.%s: %v", fullName(t), field, err)
			return markers{}
		}
	}
}

// readMarkers fills the facts from comments and merge tags.
func (w *walker) readMarkers(f *Field, sf reflect.StructField, m markers, pkg string) {
	f.PatchStrategy = sf.Tag.Get("patchStrategy")
	f.PatchMergeKey = sf.Tag.Get("patchMergeKey")
	f.ListType = m.last("listType")
	f.ListMapKeys = m["listMapKey"]
	f.MapType = m.last("mapType")
	if f.MapType == "" && m.last("structType") != "" {
		f.MapType = m.last("structType")
	}
	f.Discriminator = m.has("unionDiscriminator")
	// The rule of upstream's OpenAPI generator: a marker decides; without one,
	// a field without omitempty is required.
	optional := m.has("optional") || !m.has("required") && f.Omit != ""
	f.Required = f.JSON != "" && !f.Inline && !optional
	if m.has("default") {
		f.Default = w.defaultValue(f, m.last("default"), pkg)
	}
}

// defaultValue reads a default marker: JSON, or ref(Constant).
func (w *walker) defaultValue(f *Field, text, pkg string) any {
	if ref, ok := strings.CutPrefix(text, "ref("); ok {
		c, found := w.sources[pkg].consts[strings.TrimSuffix(ref, ")")]
		if !found || c.pkg != "" {
			w.problems.addf("default %q of %s.%s: no such constant", text, pkg, f.Go)
		}
		return c.value
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		w.problems.addf("default %q of %s.%s: %v", text, pkg, f.Go, err)
	}
	return v
}

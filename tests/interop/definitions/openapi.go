package main

import (
	"strings"
	"time"
)

// compareDocuments compares parts of documents, whose causes are only the names of the fields that differ.
func compareDocuments(theirs, ours any) []found {
	d := &differ{}
	for _, it := range compareValues(theirs, ours) {
		verb, rest, _ := strings.Cut(it.cause, " ")
		words := strings.Split(rest, ".")
		d.add(found{verb + " " + words[len(words)-1], it.detail})
	}
	return d.all
}

// compareOpenAPI compares the document of a group version. The schemas of its own kinds must be equal; the descriptions of operations, of shared schemas,
// of lists and of the fields that each object has are each server's own.
func (s *section) compareOpenAPI(path string, kinds []*version) {
	it := request{Method: "GET", Path: "/openapi/v3/apis/" + path}
	theirs, ours := s.pair.both(it)
	for watch := newStopwatch(); watch.elapsed() < settleLimit && !(hasAll(theirs, kinds) && hasAll(ours, kinds)); {
		time.Sleep(pause)
		theirs, ours = s.pair.both(it)
	}
	left, _ := theirs.Body.(map[string]any)
	right, _ := ours.Body.(map[string]any)
	group, _, _ := strings.Cut(path, "/")
	compare := func(check, name string, l, r any) {
		s.report.compared(s.counts, check, path+" "+name, compareDocuments(l, r), func() any { return map[string]any{"theirs": l, "ours": r} })
	}
	leftSchemas, rightSchemas := at(left, "components", "schemas"), at(right, "components", "schemas")
	for _, name := range names(leftSchemas, rightSchemas) {
		l, r := leftSchemas[name], rightSchemas[name]
		if isOf(l, group) || isOf(r, group) {
			compare("openapi v3 schema", name, own(l), own(r))
		} else {
			compare("openapi v3 shared schema", name, undescribed(l), undescribed(r))
		}
	}
	for _, name := range names(at(left, "paths"), at(right, "paths")) {
		compare("openapi v3 path", name, undescribed(at(left, "paths")[name]), undescribed(at(right, "paths")[name]))
	}
}

// own returns a kind's schema without the descriptions that a server adds.
func own(structure any) any {
	object, isObject := structure.(map[string]any)
	if !isObject {
		return structure
	}
	if items := at(object, "properties", "items"); items != nil && at(object, "properties", "metadata") != nil {
		return undescribed(object)
	}
	return withoutHeads(object, true)
}

// withoutHeads removes the descriptions of apiVersion, kind and metadata of an object, and of embedded objects.
func withoutHeads(value any, isResource bool) any {
	switch value := value.(type) {
	case map[string]any:
		isResource = isResource || value["x-kubernetes-embedded-resource"] == true
		result := map[string]any{}
		for name, it := range value {
			result[name] = withoutHeads(it, false)
		}
		for _, name := range []string{"apiVersion", "kind", "metadata"} {
			if it := at(result, "properties", name); it != nil && isResource {
				delete(it, "description")
			}
		}
		return result
	case []any:
		result := []any{}
		for _, it := range value {
			result = append(result, withoutHeads(it, false))
		}
		return result
	}
	return value
}

// kindsOf returns the groups and kinds that a schema is for.
func kindsOf(structure any) (groups, kinds map[string]bool) {
	groups, kinds = map[string]bool{}, map[string]bool{}
	object, _ := structure.(map[string]any)
	list, _ := object["x-kubernetes-group-version-kind"].([]any)
	for _, it := range list {
		it, _ := it.(map[string]any)
		groups[text(it, "group")] = true
		kinds[text(it, "kind")] = true
	}
	return groups, kinds
}

// isOf reports whether a schema is of a kind of this group alone.
func isOf(structure any, group string) bool {
	groups, _ := kindsOf(structure)
	return len(groups) == 1 && groups[group]
}

// hasAll reports whether a document has the schemas of all these kinds.
func hasAll(it answer, kinds []*version) bool {
	document, _ := it.Body.(map[string]any)
	found := map[string]bool{}
	for _, structure := range at(document, "components", "schemas") {
		_, kinds := kindsOf(structure)
		for kind := range kinds {
			found[kind] = true
		}
	}
	for _, it := range kinds {
		if !found[it.definition.kind] {
			return false
		}
	}
	return true
}

// undescribed returns a value without descriptions.
func undescribed(value any) any {
	switch value := value.(type) {
	case map[string]any:
		result := map[string]any{}
		for name, it := range value {
			if _, isText := it.(string); isText && name == "description" {
				continue
			}
			result[name] = undescribed(it)
		}
		return result
	case []any:
		result := []any{}
		for _, it := range value {
			result = append(result, undescribed(it))
		}
		return result
	}
	return value
}

package main

import (
	"time"
)

// compareSwagger compares the schemas of all kinds in the OpenAPI v2 document, which is one for all groups.
func compareSwagger(pair *pair, sections []*section) {
	it := request{Method: "GET", Path: "/openapi/v2"}
	var wanted []*version
	for _, section := range sections {
		for _, definition := range section.project.definitions {
			wanted = append(wanted, definition.versions...)
		}
	}
	theirs, ours := pair.both(it)
	left, right := swagger(theirs), swagger(ours)
	for watch := newStopwatch(); watch.elapsed() < settleLimit && !(hasVersions(left, wanted) && hasVersions(right, wanted)); {
		time.Sleep(settleLimit / 10)
		theirs, ours = pair.both(it)
		left, right = swagger(theirs), swagger(ours)
	}
	for _, section := range sections {
		for _, definition := range section.project.definitions {
			for _, version := range definition.versions {
				l, r := left[version.String()], right[version.String()]
				result := compareDocuments(own(l), own(r))
				section.report.compared(section.counts, "openapi v2 schema", version.String(), result, func() any {
					return map[string]any{"theirs": l, "ours": r}
				})
			}
		}
	}
}

// swagger returns the schemas of kinds, named as by [version.String].
func swagger(it answer) map[string]any {
	document, _ := it.Body.(map[string]any)
	schemas := map[string]any{}
	for _, structure := range at(document, "definitions") {
		object, _ := structure.(map[string]any)
		list, _ := object["x-kubernetes-group-version-kind"].([]any)
		for _, it := range list {
			it, _ := it.(map[string]any)
			schemas[text(it, "kind")+"."+text(it, "version")+"."+text(it, "group")] = structure
		}
	}
	return schemas
}

func hasVersions(schemas map[string]any, wanted []*version) bool {
	for _, it := range wanted {
		if schemas[it.String()] == nil {
			return false
		}
	}
	return true
}

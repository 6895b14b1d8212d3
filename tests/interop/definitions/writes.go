package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

const (
	tableType = "application/json;as=Table;g=meta.k8s.io;v=v1"
	mergeType = "application/merge-patch+json"
	applyType = "application/apply-patch+yaml"
	// written stands for the resource version, which differs between the servers.
	written = "RESOURCE-VERSION"
)

// step is a request of a sequence that writes.
type step struct {
	check string
	what  string
	request
	// ofStatus reports whether the request changes a status that the server drops.
	ofStatus bool
}

// besideStatus names the difference that comes from a status that the server drops: a kube-apiserver forgets all owners if it does not fit its schema.
func besideStatus(result []found) []found {
	if len(result) == 1 && result[0].cause == "extra metadata.managedFields" {
		result[0].cause += " beside a dropped status"
	}
	return result
}

// isDropped reports whether a mutation changes a status that the server drops.
func (s *subject) isDropped(it mutation) bool {
	return s.version.hasStatus && len(it.path) > 0 && it.path[0] == "status"
}

// write creates the object, reads and changes it in all ways, and deletes it. The sequence ends when the codes of an answer differ: later differences
// would only follow from that.
func (s *subject) write() {
	path := s.version.collection() + "/" + s.name
	for _, it := range s.sequence(path) {
		theirs, ours := s.send(path, it.request)
		result := compareAnswers(theirs, ours, s.version.rules)
		if it.ofStatus {
			result = besideStatus(result)
		}
		s.report.compared(s.counts, it.check, fmt.Sprintf("%s %s %s", s.version, s.form, it.what), result, func() any {
			return map[string]any{"request": it.request, "theirs": theirs, "ours": ours}
		})
		if theirs.Code != ours.Code {
			s.pair.both(request{Method: "DELETE", Path: path})
			return
		}
	}
}

// send sends a request, with each server's resource version.
func (s *subject) send(path string, it request) (theirs, ours answer) {
	if !strings.Contains(it.Body, written) {
		return s.pair.both(it)
	}
	theirs, ours = s.pair.both(request{Method: "GET", Path: path})
	left, right := it, it
	left.Body = strings.ReplaceAll(it.Body, written, versionOf(theirs))
	right.Body = strings.ReplaceAll(it.Body, written, versionOf(ours))
	leftVersion, rightVersion := versionOf(theirs), versionOf(ours)
	theirs, ours = s.pair.theirs.send(left), s.pair.ours.send(right)
	hide(theirs, leftVersion)
	hide(ours, rightVersion)
	return theirs, ours
}

// hide replaces a resource version in the message of an error.
func hide(it answer, version string) {
	if status := asStatus(it.Body); status != nil && version != "" {
		status["message"] = strings.ReplaceAll(text(status, "message"), version, written)
	}
}

func versionOf(it answer) string {
	object, _ := it.Body.(map[string]any)
	return text(object, "metadata", "resourceVersion")
}

// sequence returns the requests.
func (s *subject) sequence(path string) []step {
	body := encode(s.object)
	get := func(accept, path string) request { return request{Method: "GET", Path: path, Accept: accept} }
	apply := func(body string) request {
		return request{Method: "PATCH", Path: path + "?fieldManager=definitions&force=true", Type: applyType, Body: body}
	}
	merge := func(query, body string) request {
		return request{Method: "PATCH", Path: path + query, Type: mergeType, Body: body}
	}
	steps := []step{
		{check: "create", what: "object", request: request{Method: "POST", Path: s.version.collection(), Body: body}},
		{check: "read", what: "object", request: get("", path)},
		{check: "read", what: "table", request: get(tableType, path)},
	}
	for _, other := range s.version.definition.versions {
		if other != s.version {
			steps = append(steps, step{check: "read", what: "as " + other.name, request: get("", other.collection()+"/"+s.name)})
		}
	}
	var next map[string]any
	if json.Unmarshal([]byte(body), &next) == nil {
		at(next, "metadata")["resourceVersion"] = written
	}
	for _, it := range mutations(s.random, next, s.version.schema, 4) {
		put := request{Method: "PUT", Path: path, Body: it.apply(next)}
		if s.isDropped(it) {
			// All that follows would differ.
			put.Path += "?dryRun=All"
		}
		steps = append(steps, step{"update", it.String(), put, s.isDropped(it)})
	}
	steps = append(steps,
		step{check: "patch", what: "merge", request: merge("", `{"metadata":{"labels":{"patched":"yes"}}}`)},
		step{check: "patch", what: "unknown fields", request: merge("?fieldValidation=Warn", `{"metadata":{"unknownField":1},"unknownField":{"a":1}}`)},
		step{check: "server-side apply", what: "object", request: apply(body)},
	)
	for _, it := range mutations(s.random, s.object, s.version.schema, 4) {
		steps = append(steps, step{check: "server-side apply", what: it.String(), request: apply(it.apply(s.object))})
	}
	if s.version.hasStatus {
		steps = append(steps,
			step{check: "status", what: "update", request: request{Method: "PUT", Path: path + "/status", Body: encode(next)}},
			step{check: "status", what: "patch", request: merge("/status", `{"status":{"unknownField":1}}`)})
	}
	if s.version.hasScale {
		steps = append(steps,
			step{check: "scale", what: "read", request: get("", path+"/scale")},
			step{check: "scale", what: "patch", request: merge("/scale", `{"spec":{"replicas":3}}`)})
	}
	return append(steps,
		step{check: "read", what: "object at the end", request: get("", path)},
		step{check: "read", what: "list", request: get("", s.version.collection()+"?limit=5")},
		step{check: "delete", what: "object", request: request{Method: http.MethodDelete, Path: path}})
}

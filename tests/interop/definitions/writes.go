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
}

// write creates the object, reads and changes it in all ways, and deletes it. The sequence ends when the codes of an answer differ: later differences
// would only follow from that.
func (s *subject) write() {
	path := s.version.collection() + "/" + s.name
	for _, it := range s.sequence(path) {
		theirs, ours := s.send(path, it.request)
		result := compareAnswers(theirs, ours, s.version.rules)
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
		{"create", "object", request{Method: "POST", Path: s.version.collection(), Body: body}},
		{"read", "object", get("", path)},
		{"read", "table", get(tableType, path)},
	}
	for _, other := range s.version.definition.versions {
		if other != s.version {
			steps = append(steps, step{"read", "as " + other.name, get("", other.collection()+"/"+s.name)})
		}
	}
	var next map[string]any
	if json.Unmarshal([]byte(body), &next) == nil {
		at(next, "metadata")["resourceVersion"] = written
	}
	for _, it := range mutations(s.random, next, s.version.schema, 4) {
		steps = append(steps, step{"update", it.String(), request{Method: "PUT", Path: path, Body: it.apply(next)}})
	}
	steps = append(steps,
		step{"patch", "merge", merge("", `{"metadata":{"labels":{"patched":"yes"}}}`)},
		step{"patch", "unknown fields", merge("?fieldValidation=Warn", `{"metadata":{"unknownField":1},"unknownField":{"a":1}}`)},
		step{"server-side apply", "object", apply(body)},
	)
	for _, it := range mutations(s.random, s.object, s.version.schema, 4) {
		steps = append(steps, step{"server-side apply", it.String(), apply(it.apply(s.object))})
	}
	if s.version.hasStatus {
		steps = append(steps,
			step{"status", "update", request{Method: "PUT", Path: path + "/status", Body: encode(next)}},
			step{"status", "patch", merge("/status", `{"status":{"unknownField":1}}`)})
	}
	if s.version.hasScale {
		steps = append(steps,
			step{"scale", "read", get("", path+"/scale")},
			step{"scale", "patch", merge("/scale", `{"spec":{"replicas":3}}`)})
	}
	return append(steps,
		step{"read", "object at the end", get("", path)},
		step{"read", "list", get("", s.version.collection()+"?limit=5")},
		step{"delete", "object", request{Method: http.MethodDelete, Path: path}})
}

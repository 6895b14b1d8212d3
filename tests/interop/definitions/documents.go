package main

import (
	"fmt"
	"sort"
	"strings"
	"time"
)

// publishLimit bounds how long documents that differ are read again.
const publishLimit = time.Second

// aggregated asks for the discovery document of all groups.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// documents compares discovery, the OpenAPI documents and "kubectl explain".
func (s *section) documents() error {
	versions := map[string][]*version{}
	groups := map[string]bool{}
	for _, definition := range s.project.definitions {
		groups[definition.group] = true
		for _, it := range definition.versions {
			path := definition.group + "/" + it.name
			versions[path] = append(versions[path], it)
		}
	}
	for _, group := range sorted(groups) {
		s.compareGet("discovery", request{Method: "GET", Path: "/apis/" + group})
	}
	for _, path := range sorted(versions) {
		s.compareGet("discovery", request{Method: "GET", Path: "/apis/" + path})
		kinds := versions[path]
		s.compareOpenAPI(path, kinds)
	}
	s.aggregatedDiscovery(groups)
	s.explain()
	return nil
}

func sorted[T any](of map[string]T) []string {
	var all []string
	for it := range of {
		all = append(all, it)
	}
	sort.Strings(all)
	return all
}

// compareGet compares documents, and asks for a short time again while they differ: they are published some time after the definitions.
func (s *section) compareGet(check string, it request) {
	theirs, ours := s.documentsOf(it)
	for watch := newStopwatch(); watch.elapsed() < publishLimit && compareAnswers(theirs, ours, nil) != nil; {
		time.Sleep(pause)
		theirs, ours = s.documentsOf(it)
	}
	s.report.compared(s.counts, check, it.Path, compareAnswers(theirs, ours, nil), func() any { return []any{it, theirs, ours} })
}

// documentsOf returns both documents, with sorted resources: a kube-apiserver lists those of definitions in the order of a map.
func (s *section) documentsOf(it request) (theirs, ours answer) {
	theirs, ours = s.pair.both(it)
	for _, it := range []answer{theirs, ours} {
		document, _ := it.Body.(map[string]any)
		sortByText(document["resources"])
	}
	return theirs, ours
}

// aggregatedDiscovery compares the project's groups in the document of all groups.
func (s *section) aggregatedDiscovery(groups map[string]bool) {
	get := request{Method: "GET", Path: "/apis", Accept: aggregated}
	theirs, ours := s.pair.both(get)
	left, right := groupsOf(theirs), groupsOf(ours)
	for _, group := range sorted(groups) {
		result := compareValues(left[group], right[group])
		s.report.compared(s.counts, "aggregated discovery", group, result, func() any { return []any{left[group], right[group]} })
	}
}

// groupsOf returns the groups of a discovery document by name.
func groupsOf(it answer) map[string]any {
	document, _ := it.Body.(map[string]any)
	list, _ := document["items"].([]any)
	groups := map[string]any{}
	for _, group := range list {
		group, _ := group.(map[string]any)
		delete(at(group, "metadata"), "creationTimestamp")
		groups[text(group, "metadata", "name")] = group
	}
	return groups
}

// explain compares kubectl's explanation of each kind.
func (s *section) explain() {
	s.each(func(definition *definition) {
		for _, it := range definition.versions {
			if !it.stored && s.options.limit > 0 {
				continue
			}
			arguments := []string{
				"explain", "--recursive", "--api-version=" + definition.group + "/" + it.name,
				definition.plural + "." + definition.group,
			}
			theirs, ours := s.pair.kubectls(arguments...)
			if theirs.Failed || ours.Failed {
				// Discovery may be behind.
				time.Sleep(publishLimit)
				theirs, ours = s.pair.kubectls(arguments...)
			}
			var result []found
			if theirs != ours {
				detail := firstLine(theirs.Text+theirs.Errors, ours.Text+ours.Errors)
				result = []found{{"text " + template(detail), detail}}
			}
			s.report.compared(s.counts, "explain", it.String(), result, func() any { return []any{arguments, theirs, ours} })
		}
	})
}

// firstLine describes the first line that differs.
func firstLine(theirs, ours string) string {
	left, right := strings.Split(theirs, "\n"), strings.Split(ours, "\n")
	for i := range left {
		if i >= len(right) || left[i] != right[i] {
			other := ""
			if i < len(right) {
				other = right[i]
			}
			return fmt.Sprintf("%q, not %q", left[i], other)
		}
	}
	return "more lines"
}

// each runs a function for each definition, several at the same time.
func (s *section) each(run func(*definition)) {
	queue := make(chan *definition)
	done := make(chan struct{})
	for range s.options.jobs {
		go func() {
			for it := range queue {
				run(it)
			}
			done <- struct{}{}
		}()
	}
	for _, it := range s.project.definitions {
		queue <- it
	}
	close(queue)
	for range s.options.jobs {
		<-done
	}
}

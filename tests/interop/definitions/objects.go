package main

import (
	"fmt"
	"hash/fnv"
	"math/rand"
	"net/http"
	"strings"
)

// repairsMax bounds how often a generated object is changed where a kube-apiserver refuses it.
const repairsMax = 15

// repeatsMax bounds how often a request is sent again to see whether a kube-apiserver's answer is always the same.
const repeatsMax = 4

// validations are the values of fieldValidation.
var validations = []string{"Strict", "Warn", "Ignore"}

// objects sends generated objects and their mutations to both.
func (s *section) objects() error {
	s.each(func(definition *definition) {
		for _, it := range definition.versions {
			for _, isFull := range []bool{false, true} {
				newSubject(s, it, isFull).run()
			}
		}
	})
	return nil
}

// subject is a generated object.
type subject struct {
	*section
	version *version
	form    string
	name    string
	random  *rand.Rand
	object  map[string]any
}

func newSubject(s *section, v *version, isFull bool) *subject {
	form := "minimal"
	if isFull {
		form = "full"
	}
	hash := fnv.New64a()
	fmt.Fprint(hash, v, form)
	random := rand.New(rand.NewSource(s.options.seed ^ int64(hash.Sum64())))
	name := "a-" + form
	generator := &generator{random: random, full: isFull}
	return &subject{section: s, version: v, form: form, name: name, random: random, object: generator.object(v, name)}
}

func (s *subject) run() {
	isAccepted := s.repair()
	s.report.add(func() {
		s.counts.Objects++
		if isAccepted {
			s.counts.Accepted++
		}
	})
	for _, validation := range validations {
		s.try("object", s.form+" "+validation, s.post(encode(s.object), validation), false)
	}
	for i, it := range mutations(s.random, s.object, s.version.schema, s.options.mutations) {
		validation := validations[0]
		if strings.HasPrefix(it.kind, "un") || strings.HasPrefix(it.kind, "dup") || i%4 == 3 {
			validation = validations[i%len(validations)]
		}
		code := s.try("mutation", fmt.Sprintf("%s %s %s", s.form, validation, it), s.post(it.apply(s.object), validation), s.isDropped(it))
		s.report.add(func() {
			s.counts.Mutations++
			if code != http.StatusCreated {
				s.counts.Refused++
			}
		})
	}
	if isAccepted {
		s.write()
	}
}

func (s *subject) post(body, validation string) request {
	return request{Method: "POST", Path: s.version.collection() + "?dryRun=All&fieldValidation=" + validation, Body: body}
}

// try sends a request to both, compares the answers, and returns the kube-apiserver's code. The request may change a status that the server drops.
func (s *subject) try(check, what string, it request, ofStatus bool) int {
	theirs, ours := s.pair.both(it)
	result := compareAnswers(theirs, ours, s.version.rules)
	for i := 0; i < repeatsMax && len(result) > 0 && strings.HasSuffix(result[0].cause, orderCause); i++ {
		// The order is that of a map if it is another one now.
		if again := s.pair.theirs.send(it); compareAnswers(theirs, again, s.version.rules) != nil {
			result = nil
		}
	}
	if ofStatus {
		result = besideStatus(result)
	}
	s.report.compared(s.counts, check, fmt.Sprintf("%s %s", s.version, what), result, func() any {
		return map[string]any{"request": it, "theirs": theirs, "ours": ours}
	})
	return theirs.Code
}

// repair changes what a kube-apiserver refuses, as often as that is allowed, and reports whether it accepts the object. It generates a refused value
// again in one round, and removes it with the field that it is in, if that is optional, in the next.
func (s *subject) repair() bool {
	for round := range repairsMax {
		theirs := s.pair.theirs.send(s.post(encode(s.object), "Strict"))
		if theirs.Code == http.StatusCreated {
			return true
		}
		body, _ := theirs.Body.(map[string]any)
		list, _ := at(body, "details")["causes"].([]any)
		var paths [][]any
		for _, it := range list {
			it, _ := it.(map[string]any)
			path := steps(text(it, "field"))
			if round%3 == 2 {
				path = s.optional(path)
			}
			if len(path) > 0 && path[0] != "<nil>" {
				paths = append(paths, path)
			}
		}
		deepestFirst(paths)
		for _, path := range paths {
			if round%3 == 2 {
				mutation{path: path, removes: true}.change(s.object, path)
			} else if structure := s.version.schema.follow(path); structure != nil && path[0] != "metadata" {
				mutation{path: path, value: s.another(structure)}.change(s.object, path)
			}
		}
	}
	return s.pair.theirs.send(s.post(encode(s.object), "Strict")).Code == http.StatusCreated
}

// another returns a value with some of the optional fields.
func (s *subject) another(structure schema) any {
	generator := &generator{random: s.random, full: true, nodes: nodesMax / 2}
	value := generator.value(structure, depthMax/2)
	if object, is := value.(map[string]any); is {
		required, _ := structure.required()
		for _, name := range sorted(object) {
			if !required[name] && s.random.Intn(2) == 0 {
				delete(object, name)
			}
		}
	}
	return value
}

// follow returns the schema at a path, or nil.
func (s schema) follow(path []any) schema {
	for _, it := range path {
		switch it := it.(type) {
		case int:
			s = s.sub("items")
		case string:
			s = s.property(it)
		}
		if s == nil {
			return nil
		}
	}
	return s
}

// optional returns the longest beginning of a path that ends at a field that may be removed, or nothing.
func (s *subject) optional(path []any) []any {
	last := 0
	structure := s.version.schema
	for i, it := range path {
		switch it := it.(type) {
		case int:
			structure = structure.sub("items")
		case string:
			required, _ := structure.required()
			if !required[it] && it != "metadata" && it != "kind" && it != "apiVersion" {
				last = i + 1
			}
			structure = structure.property(it)
		}
		if structure == nil {
			break
		}
	}
	return path[:last]
}

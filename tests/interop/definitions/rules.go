package main

import (
	"regexp"
	"strings"
)

// rules are the x-kubernetes-validations of a kind's schema.
type rules struct {
	kind     string
	messages []string
	// computed reports whether a rule computes its message.
	computed bool
}

// rulesOf returns the rules of a kind's schema, at any depth.
func rulesOf(kind string, structure map[string]any) *rules {
	r := &rules{kind: kind}
	r.collect(structure)
	return r
}

func (r *rules) collect(value any) {
	switch value := value.(type) {
	case map[string]any:
		if list, is := value["x-kubernetes-validations"].([]any); is {
			for _, it := range list {
				r.keep(it)
			}
		}
		for _, it := range value {
			r.collect(it)
		}
	case []any:
		for _, it := range value {
			r.collect(it)
		}
	}
}

func (r *rules) keep(rule any) {
	it, _ := rule.(map[string]any)
	if _, is := it["messageExpression"]; is {
		r.computed = true
	}
	if message := strings.TrimSpace(text(it, "message")); message != "" {
		r.messages = append(r.messages, message)
	}
}

// made reports whether a cause's message is of a rule, or about rules that were not evaluated.
func (r *rules) made(message string) bool {
	if r == nil {
		return false
	}
	if strings.Contains(message, "failed rule: ") || strings.Contains(message, "some validation rules were not checked") {
		return true
	}
	for _, it := range r.messages {
		if strings.HasSuffix(message, ": "+it) {
			return true
		}
	}
	return r.computed && strings.HasPrefix(message, "Invalid value: ") && !strings.Contains(message, " in body ")
}

// unnamed returns a message without the name of the kind.
func (r *rules) unnamed(message string) string {
	if r == nil {
		return message
	}
	return regexp.MustCompile(`\b`+regexp.QuoteMeta(r.kind)+`\b`).ReplaceAllString(message, "KIND")
}

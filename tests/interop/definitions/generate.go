package main

import (
	"math"
	"math/rand"
	"sort"
)

// schema is an OpenAPI schema of a definition.
type schema map[string]any

const (
	// nodesMax bounds an object; when it is reached, only required fields are generated.
	nodesMax = 2500
	depthMax = 14
	// attempts bounds how often a value is generated again to be distinct or to match.
	attempts = 20
)

// generator generates values that a schema accepts, as far as it states its conditions in a simple way.
type generator struct {
	random *rand.Rand
	// full reports whether optional fields are generated.
	full  bool
	nodes int
}

func (s schema) kind() string {
	kind, _ := s["type"].(string)
	return kind
}

func (s schema) has(name string) bool { return s[name] == true }

// sub returns a nested schema, or nil.
func (s schema) sub(path ...string) schema { return schema(at(s, path...)) }

// property returns the schema of a field, or nil if it is not specified.
func (s schema) property(name string) schema {
	if it := s.sub("properties", name); it != nil {
		return it
	}
	return s.sub("additionalProperties")
}

// number returns a bound.
func (s schema) number(name string) (float64, bool) {
	value, is := s[name].(float64)
	return value, is
}

// length returns a bound of a length, or a default.
func (s schema) length(name string, usual int) int {
	if value, is := s.number(name); is {
		return int(value)
	}
	return usual
}

func (s schema) strings(name string) []string {
	list, _ := s[name].([]any)
	var all []string
	for _, it := range list {
		if it, is := it.(string); is {
			all = append(all, it)
		}
	}
	return all
}

// branches returns the schemas of allOf, anyOf or oneOf.
func (s schema) branches(name string) []schema {
	list, _ := s[name].([]any)
	var all []schema
	for _, it := range list {
		if it, is := it.(map[string]any); is {
			all = append(all, schema(it))
		}
	}
	return all
}

// enum returns the allowed values, also those of allOf.
func (s schema) enum() []any {
	list, _ := s["enum"].([]any)
	for _, branch := range s.branches("allOf") {
		if list == nil {
			list = branch.enum()
		}
	}
	return list
}

// object returns an object of a kind.
func (g *generator) object(v *version, name string) map[string]any {
	value, _ := g.value(v.schema, 0).(map[string]any)
	if value == nil {
		value = map[string]any{}
	}
	value["apiVersion"] = v.definition.group + "/" + v.name
	value["kind"] = v.definition.kind
	metadata := map[string]any{"name": name}
	if g.full {
		metadata["labels"] = map[string]any{"app": "definitions"}
		metadata["annotations"] = map[string]any{"note": "generated"}
	}
	value["metadata"] = metadata
	return value
}

// value returns a value for a schema.
func (g *generator) value(s schema, depth int) any {
	g.nodes++
	if enum := s.enum(); len(enum) > 0 {
		return enum[g.random.Intn(len(enum))]
	}
	switch s.kind() {
	case "string":
		return g.text(s)
	case "integer":
		return g.integer(s)
	case "number":
		low, high := s.bounds()
		return low + (high-low)/2
	case "boolean":
		return g.random.Intn(2) == 0
	case "array":
		return g.array(s, depth)
	case "object":
		return g.fields(s, depth)
	}
	if s.has("x-kubernetes-int-or-string") {
		if g.random.Intn(2) == 0 || s["pattern"] == nil {
			return float64(1 + g.random.Intn(9))
		}
		return g.text(s)
	}
	return map[string]any{"any": []any{1.0, "b", nil}}
}

// bounds returns the inclusive bounds of a number.
func (s schema) bounds() (low, high float64) {
	low, isLow := s.number("minimum")
	high, isHigh := s.number("maximum")
	switch {
	case !isLow && !isHigh:
		low, high = 1, 100
	case !isLow:
		low = math.Min(0, high-1)
	case !isHigh:
		high = low + 100
	}
	if s.has("exclusiveMinimum") {
		low++
	}
	if s.has("exclusiveMaximum") {
		high--
	}
	return low, high
}

func (g *generator) integer(s schema) any {
	low, high := s.bounds()
	width := int64(math.Min(high-low, 1000))
	value := math.Ceil(low) + float64(g.random.Int63n(max(width, 0)+1))
	if multiple, is := s.number("multipleOf"); is && multiple != 0 {
		value = math.Ceil(value/multiple) * multiple
	}
	return value
}

func (g *generator) array(s schema, depth int) any {
	size := s.length("minItems", 0)
	if g.full && size == 0 && !g.isExhausted(depth) {
		size = 1
		if g.random.Intn(4) == 0 {
			size = 2
		}
	}
	size = min(size, s.length("maxItems", size), 50)
	items := []any{}
	seen := map[string]bool{}
	for range size {
		for range attempts {
			item := g.value(s.sub("items"), depth+1)
			if key := s.key(item); key == "" || !seen[key] {
				seen[key] = true
				items = append(items, item)
				break
			}
		}
	}
	return items
}

// key returns what must be distinct in a list, or nothing.
func (s schema) key(item any) string {
	switch s["x-kubernetes-list-type"] {
	case "set":
		return encoded(item)
	case "map":
		object, _ := item.(map[string]any)
		var values []any
		for _, name := range s.strings("x-kubernetes-list-map-keys") {
			values = append(values, object[name])
		}
		return encoded(values)
	}
	return ""
}

func (g *generator) isExhausted(depth int) bool { return depth > depthMax || g.nodes > nodesMax }

func (g *generator) fields(s schema, depth int) any {
	result := map[string]any{}
	required, dropped := s.required()
	properties := s.sub("properties")
	for _, name := range sorted(properties) {
		if depth == 0 && (name == "apiVersion" || name == "kind" || name == "metadata") {
			continue
		}
		isWanted := g.full && !g.isExhausted(depth) && !dropped[name]
		if required[name] || isWanted {
			result[name] = g.value(s.property(name), depth+1)
		}
	}
	if s.has("x-kubernetes-embedded-resource") {
		result["apiVersion"], result["kind"] = "v1", "ConfigMap"
		result["metadata"] = map[string]any{"name": "embedded"}
	}
	if rest := s.sub("additionalProperties"); rest != nil && (g.full || s.length("minProperties", 0) > 0) && !g.isExhausted(depth) {
		for i := range max(1, s.length("minProperties", 1)) {
			result["key"+string(rune('a'+i%26))] = g.value(rest, depth+1)
		}
	}
	if len(properties) == 0 && s.has("x-kubernetes-preserve-unknown-fields") && g.full {
		result["preserved"] = map[string]any{"number": 1.5, "list": []any{"a", nil}}
	}
	if limit := s.length("maxProperties", len(result)); len(result) > limit {
		all := sorted(result)
		sort.SliceStable(all, func(i, j int) bool { return required[all[i]] && !required[all[j]] })
		for _, name := range all[limit:] {
			delete(result, name)
		}
	}
	return result
}

// required returns the fields that an object must have, with those of the first branch of anyOf and oneOf, and those that it must not have because
// they belong to another branch.
func (s schema) required() (required, dropped map[string]bool) {
	required, dropped = map[string]bool{}, map[string]bool{}
	for _, name := range s.strings("required") {
		required[name] = true
	}
	for _, kind := range []string{"oneOf", "anyOf"} {
		branches := s.branches(kind)
		for i, branch := range branches {
			for _, name := range branch.strings("required") {
				if i == 0 {
					required[name] = true
				} else if kind == "oneOf" && !required[name] {
					dropped[name] = true
				}
			}
		}
		if len(branches) > 0 {
			for _, other := range append(branches[0].sub("not").branches("anyOf"), branches[0].sub("not")) {
				for _, name := range other.strings("required") {
					dropped[name] = !required[name]
				}
			}
		}
	}
	for _, name := range s.sub("not").strings("required") {
		dropped[name] = !required[name]
	}
	for _, branch := range s.branches("allOf") {
		more, less := branch.required()
		for name := range more {
			required[name] = true
		}
		for name, is := range less {
			dropped[name] = is && !required[name]
		}
	}
	return required, dropped
}

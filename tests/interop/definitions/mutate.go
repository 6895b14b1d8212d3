package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"sort"
	"strings"
)

const (
	// textMax and itemsMax bound values that are too long on purpose.
	textMax  = 300_000
	itemsMax = 5_000
	// duplicate is a placeholder for a field name that a JSON text has twice.
	duplicate = "__duplicate__"
)

// mutation is a change of an object at a path of names and indices.
type mutation struct {
	kind  string
	path  []any
	value any
	// removes reports whether the value is removed, not set.
	removes bool
}

func (m mutation) String() string {
	parts := []string{m.kind}
	for _, it := range m.path {
		parts = append(parts, fmt.Sprint(it))
	}
	return strings.Join(parts, " ")
}

// collector finds the possible mutations of an object.
type collector struct{ all []mutation }

func (c *collector) add(kind string, path []any, value any) {
	c.all = append(c.all, mutation{kind: kind, path: append([]any{}, path...), value: value})
}

func (c *collector) remove(kind string, path []any, name any) {
	c.all = append(c.all, mutation{kind: kind, path: append(append([]any{}, path...), name), removes: true})
}

// mutations returns up to a number of mutations, of as many kinds as there are.
func mutations(random *rand.Rand, object map[string]any, s schema, count int) []mutation {
	c := &collector{}
	c.walk(nil, object, s)
	c.metadata()
	kinds := map[string][]mutation{}
	for _, it := range c.all {
		kinds[it.kind] = append(kinds[it.kind], it)
	}
	order := sorted(kinds)
	random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for _, kind := range order {
		all := kinds[kind]
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	var chosen []mutation
	for round := 0; len(chosen) < min(count, len(c.all)); round++ {
		for _, kind := range order {
			if round < len(kinds[kind]) && len(chosen) < count {
				chosen = append(chosen, kinds[kind][round])
			}
		}
	}
	return chosen
}

// metadata adds mutations of fields that every object has.
func (c *collector) metadata() {
	meta := func(name string) []any { return []any{"metadata", name} }
	c.add("metadata: bad label", meta("labels"), map[string]any{"a b": "c"})
	c.add("metadata: label of another type", meta("labels"), map[string]any{"a": 1})
	c.add("metadata: bad name", meta("name"), "Not A Name")
	c.add("metadata: name of another type", meta("name"), 5)
	c.add("metadata: unknown field", meta("unknownField"), "a")
	c.add("metadata: bad finalizer", meta("finalizers"), []any{"a b"})
	c.add("metadata: bad owner", meta("ownerReferences"), []any{map[string]any{"kind": "A"}})
	c.add("metadata: another type", []any{"metadata"}, "text")
	c.add("unknown field at the top", []any{"unknownField"}, map[string]any{"a": 1})
	c.add("other kind", []any{"kind"}, "Other")
	c.add("other version", []any{"apiVersion"}, "example.com/v9")
	c.remove("no kind", nil, "kind")
}

// walk collects mutations of a value and of what it contains.
func (c *collector) walk(path []any, value any, s schema) {
	if s == nil {
		return
	}
	if len(path) > 0 {
		c.any(path, value, s)
	}
	switch value := value.(type) {
	case map[string]any:
		c.object(path, value, s)
	case []any:
		c.list(path, value, s)
	case string:
		c.text(path, s)
	case float64:
		c.number(path, s)
	}
}

// any collects mutations that every value has.
func (c *collector) any(path []any, value any, s schema) {
	others := map[string][]any{
		"string":  {42, true, map[string]any{}, []any{"a"}},
		"integer": {"5", 1.5, true, []any{}, 1e30},
		"number":  {"5", true},
		"boolean": {"true", 1, map[string]any{}},
		"array":   {map[string]any{}, "text", 1},
		"object":  {[]any{}, "text", 1, true},
	}
	for _, it := range others[s.kind()] {
		c.add("wrong type: "+s.kind(), path, it)
	}
	if s.has("x-kubernetes-int-or-string") {
		c.add("wrong type: int-or-string", path, true)
		c.add("wrong type: int-or-string", path, 1.5)
		c.add("int-or-string that does not match", path, "é%")
	}
	name := "null"
	if s.has("nullable") {
		name = "null where allowed"
	}
	if s["default"] != nil {
		name += " with default"
	}
	c.add(name, path, nil)
	if len(s.enum()) > 0 {
		c.add("not in enum", path, "NotInEnum")
		c.add("not in enum", path, "")
	}
	if s["default"] != nil {
		c.all = append(c.all, mutation{kind: "defaulted", path: append([]any{}, path...), removes: true})
	}
	if s["x-kubernetes-validations"] != nil {
		c.rules(path, value, s)
	}
}

// rules collects other values that the types allow, which rules may not.
func (c *collector) rules(path []any, value any, s schema) {
	for seed := range int64(3) {
		generator := &generator{random: rand.New(rand.NewSource(seed)), full: seed > 0, nodes: nodesMax / 2}
		c.add("rules: another value", path, generator.value(s, depthMax/2))
	}
	object, _ := value.(map[string]any)
	for _, name := range sorted(s.sub("properties")) {
		if _, is := object[name]; is {
			c.remove("rules: without a field", path, name)
		} else if object != nil {
			generator := &generator{random: rand.New(rand.NewSource(1))}
			c.add("rules: with another field", append(append([]any{}, path...), name), generator.value(s.property(name), depthMax/2))
		}
	}
}

func (c *collector) text(path []any, s schema) {
	if low := s.length("minLength", 0); low > 0 {
		c.add("too short", path, strings.Repeat("a", low-1))
	}
	if high := s.length("maxLength", textMax); high < textMax {
		c.add("too long", path, strings.Repeat("a", high+1))
		c.add("too long", path, strings.Repeat("é", high/2+1))
	}
	if len(s.patterns()) > 0 {
		for _, it := range []string{"\u0001 é!", "", "A_B?", " a"} {
			if !matchesAll(it, s.patterns()) {
				c.add("pattern", path, it)
			}
		}
	}
	if format, _ := s["format"].(string); format != "" {
		if known, is := formats[format]; is {
			c.add("format "+format, path, known[1])
			c.add("format "+format, path, "")
		} else {
			c.add("unknown format", path, "anything")
		}
	}
}

func (c *collector) number(path []any, s schema) {
	if low, is := s.number("minimum"); is {
		c.add("below the minimum", path, low-1)
		c.add("at the minimum", path, low)
	}
	if high, is := s.number("maximum"); is {
		c.add("above the maximum", path, high+1)
		c.add("at the maximum", path, high)
	}
	if multiple, is := s.number("multipleOf"); is {
		c.add("not a multiple", path, multiple+1)
	}
	switch s["format"] {
	case "int32":
		c.add("above int32", path, float64(1<<31))
	case "int64":
		c.add("above int64", path, 1e19)
	}
}

func (c *collector) list(path []any, value []any, s schema) {
	if low := s.length("minItems", 0); low > 0 {
		c.add("too few items", path, append([]any{}, value[:min(low-1, len(value))]...))
	}
	if high := s.length("maxItems", itemsMax); high < itemsMax && len(value) > 0 {
		items := []any{}
		for range high + 1 {
			items = append(items, value[0])
		}
		c.add("too many items", path, items)
	}
	if len(value) > 0 {
		name := "repeated item"
		if kind, is := s["x-kubernetes-list-type"].(string); is {
			name += " of a " + kind
		}
		c.add(name, path, append(append([]any{}, value...), value[0]))
		c.add("null item", path, append(append([]any{}, value...), nil))
	}
	for i, it := range value {
		for _, key := range s.strings("x-kubernetes-list-map-keys") {
			c.remove("no list key", append(append([]any{}, path...), i), key)
		}
		c.walk(append(append([]any{}, path...), i), it, s.sub("items"))
	}
}

func (c *collector) object(path []any, value map[string]any, s schema) {
	field := func(name string) []any { return append(append([]any{}, path...), name) }
	for _, name := range s.strings("required") {
		c.remove("required field", path, name)
	}
	isOpen := s.has("x-kubernetes-preserve-unknown-fields") || s["additionalProperties"] != nil
	switch {
	case len(path) == 0:
	case isOpen:
		c.add("unspecified field", field("unknownField"), map[string]any{"a": 1})
	default:
		c.add("unknown field", field("unknownField"), map[string]any{"a": 1})
	}
	if low := s.length("minProperties", 0); low > 0 {
		c.add("too few fields", path, map[string]any{})
	}
	if high := s.length("maxProperties", itemsMax); high < itemsMax {
		more := map[string]any{}
		generator := &generator{random: rand.New(rand.NewSource(1))}
		for i := range high + 1 {
			// Of the right type: errors of several fields have the order of a map.
			more[fmt.Sprintf("key-%d", i)] = generator.value(s.sub("additionalProperties"), depthMax)
		}
		c.add("too many fields", path, more)
	}
	if s.has("x-kubernetes-embedded-resource") {
		c.remove("embedded resource without kind", path, "kind")
		c.add("embedded resource with a bad name", append(field("metadata"), "name"), "Not A Name")
		c.add("embedded resource with unknown metadata", append(field("metadata"), "unknownField"), "a")
	}
	// The names of the other branches.
	for _, kind := range []string{"oneOf", "anyOf"} {
		for _, branch := range s.branches(kind) {
			for _, name := range branch.strings("required") {
				if _, is := value[name]; is {
					c.remove(kind+": without a field", path, name)
				} else if it := s.property(name); it != nil {
					c.add(kind+": with another field", field(name), (&generator{random: rand.New(rand.NewSource(1))}).value(it, 0))
				}
			}
		}
	}
	for i, name := range sorted(value) {
		if len(path) == 0 && (name == "apiVersion" || name == "kind" || name == "metadata") {
			continue
		}
		if i == 0 && len(path) > 0 {
			c.add("duplicate field", field(duplicate+name), value[name])
		}
		c.walk(field(name), value[name], s.property(name))
	}
}

// apply returns the changed object as JSON.
func (m mutation) apply(object map[string]any) string {
	var copied any
	if json.Unmarshal([]byte(encode(object)), &copied) != nil {
		return ""
	}
	body := encode(m.change(copied, m.path))
	// The text has the field a second time.
	return strings.ReplaceAll(body, duplicate, "")
}

func (m mutation) change(value any, path []any) any {
	if len(path) == 0 {
		return m.value
	}
	switch value := value.(type) {
	case map[string]any:
		name, _ := path[0].(string)
		if len(path) == 1 && m.removes {
			delete(value, name)
			return value
		}
		value[name] = m.change(value[name], path[1:])
		return value
	case []any:
		i, _ := path[0].(int)
		if i < len(value) {
			value[i] = m.change(value[i], path[1:])
		}
		return value
	case nil:
		if name, is := path[0].(string); is && !m.removes {
			return map[string]any{name: m.change(nil, path[1:])}
		}
	}
	return value
}

func encode(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}

// steps splits the path of a cause's field, as in `spec.items[0].name`, into names and indices.
func steps(field string) []any {
	var path []any
	field = strings.ReplaceAll(field, "[", ".[")
	for _, part := range strings.Split(field, ".") {
		var i int
		if _, err := fmt.Sscanf(part, "[%d]", &i); err == nil {
			path = append(path, i)
		} else if part = strings.Trim(part, "[]\""); part != "" {
			path = append(path, part)
		}
	}
	return path
}

// deepestFirst sorts paths so that removing one does not move another.
func deepestFirst(paths [][]any) {
	sort.SliceStable(paths, func(i, j int) bool { return fmt.Sprint(paths[i]...) > fmt.Sprint(paths[j]...) })
}

package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// writer makes JSON with one fact a line: entries of the outer levels are
// indented, a field or a message header is on one line.
type writer struct {
	buf   bytes.Buffer
	depth int
	first bool
}

// compact encodes a value on one line without escaping HTML characters.
func compact(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // only plain data is passed here
	}
	return strings.TrimSpace(b.String())
}

// item begins a line in the current object or list.
func (w *writer) item(text string) {
	if !w.first {
		w.buf.WriteByte(',')
	}
	if w.buf.Len() > 0 {
		w.buf.WriteByte('\n')
	}
	w.buf.WriteString(strings.Repeat(" ", w.depth))
	w.buf.WriteString(text)
	w.first = false
}

// open begins an object or a list.
func (w *writer) open(text string) {
	w.item(text)
	w.depth++
	w.first = true
}

// close ends an object or a list.
func (w *writer) close(bracket string) {
	w.depth--
	if !w.first {
		w.buf.WriteByte('\n')
		w.buf.WriteString(strings.Repeat(" ", w.depth))
	}
	w.buf.WriteString(bracket)
	w.first = false
}

// list writes a list with one element a line, or nothing when it is empty.
func list[T any](w *writer, key string, elements []T) {
	if len(elements) == 0 {
		return
	}
	w.open(compact(key) + ":[")
	for _, e := range elements {
		w.item(compact(e))
	}
	w.close("]")
}

// headed writes an object with its plain keys on the first line.
func (w *writer) headed(key string, head any, body func()) {
	text := strings.TrimSuffix(compact(head), "}")
	if key != "" {
		text = compact(key) + ":" + text
	}
	w.open(text)
	w.first = false
	body()
	w.close("}")
}

// render writes the whole schema.
func (s *Schema) render() []byte {
	w := &writer{first: true}
	w.open("{")
	w.item(`"version":` + compact(s.Version))
	w.item(`"modules":` + compact(s.Modules))
	w.item(`"commonKinds":` + compact(s.CommonKinds))
	w.open(`"groups":[`)
	for _, g := range s.Groups {
		head := struct {
			Name      string `json:"name"`
			Preferred string `json:"preferred"`
		}{g.Name, g.Preferred}
		w.headed("", head, func() {
			w.open(`"versions":[`)
			for _, v := range g.Versions {
				v.render(w)
			}
			w.close("]")
		})
	}
	w.close("]")
	w.open(`"types":{`)
	for _, n := range slices.Sorted(maps.Keys(s.Types)) {
		w.item(compact(n) + ":" + compact(s.Types[n]))
	}
	w.close("}")
	w.open(`"messages":{`)
	for _, n := range slices.Sorted(maps.Keys(s.Messages)) {
		m := s.Messages[n]
		w.headed(n, m, func() { list(w, "fields", m.Fields) })
	}
	w.close("}")
	w.close("}")
	w.buf.WriteByte('\n')
	return w.buf.Bytes()
}

// render writes one group version.
func (v GroupVersion) render(w *writer) {
	head := struct {
		Version string `json:"version"`
		Served  bool   `json:"served"`
	}{v.Version, v.Served}
	w.headed("", head, func() {
		if len(v.Resources) > 0 {
			w.open(`"resources":[`)
			for _, r := range v.Resources {
				w.headed("", r, func() {
					list(w, "subresources", r.Subresources)
					list(w, "columns", r.Columns)
				})
			}
			w.close("]")
		}
		list(w, "kinds", v.Kinds)
	})
}

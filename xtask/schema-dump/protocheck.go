package main

import (
	"reflect"
	"slices"
	"strings"
)

// checkProto compares the struct tags of every message with generated.proto
// and with the output of the generated encoder, and fills Always.
func (w *walker) checkProto() {
	for name, m := range w.messages {
		t := w.goTypes[name]
		if m.Proto == "" {
			m.dropProto()
			continue
		}
		lines := w.protos[t.PkgPath()].messages[t.Name()]
		if !opaque[m.Special] && m.Form == "struct" {
			w.compareLines(name, m, lines)
		}
		w.probe(name, m, t)
	}
}

// dropProto removes the numbers of a message that has no protobuf form.
func (m *Message) dropProto() {
	for _, f := range m.Fields {
		f.Num, f.Wire, f.Proto = 0, "", ""
	}
}

// compareLines checks that tags and generated.proto name the same fields.
func (w *walker) compareLines(name string, m *Message, lines []protoField) {
	byNum := map[int]protoField{}
	for _, l := range lines {
		byNum[l.num] = l
	}
	for _, f := range m.Fields {
		if f.Num == 0 {
			continue
		}
		l, ok := byNum[f.Num]
		if !ok {
			w.problems.addf("%s.%s: number %d is not in generated.proto", name, f.Go, f.Num)
			continue
		}
		delete(byNum, f.Num)
		w.compareLine(name, f, l)
	}
	for _, l := range byNum {
		w.problems.addf("%s: generated.proto has %s = %d", name, l.name, l.num)
	}
}

// compareLine checks name, label and type of one field and takes its wire type.
func (w *walker) compareLine(name string, f *Field, l protoField) {
	tagName := f.Proto
	if tagName == "" {
		tagName = f.JSON
	}
	if tagName == "" && f.Inline {
		f.Proto, tagName = l.name, l.name
	}
	f.Wire = l.wire()
	if tagName != l.name {
		w.problems.addf("%s.%s: named %s in the tag, %s in generated.proto", name, f.Go, tagName, l.name)
	}
	base, label := strings.TrimPrefix(f.Type, "*"), "optional"
	if rest, ok := strings.CutPrefix(base, "[]"); ok {
		base, label = strings.TrimPrefix(rest, "*"), "repeated"
	} else if rest, ok := strings.CutPrefix(base, "map[string]"); ok {
		base, label = rest, "map"
	}
	if label != l.label || label == "map" && l.key != "string" {
		w.problems.addf("%s.%s: %s in Go, %s in generated.proto", name, f.Go, f.Type, l.label)
	}
	if scalar, ok := protoTypes[l.typ]; ok {
		switch {
		case scalar == base:
		case base == "int":
			f.ProtoType = scalar
		default:
			w.problems.addf("%s.%s: %s in Go, %s in generated.proto", name, f.Go, f.Type, l.typ)
		}
	} else if m := w.messages[base]; m == nil || m.Proto != l.typ {
		w.problems.addf("%s.%s: %s in Go, %s in generated.proto", name, f.Go, f.Type, l.typ)
	}
}

// probe runs the generated encoder: on the zero value, which shows the fields
// that are always written, and on a value with one field set, for each field.
func (w *walker) probe(name string, m *Message, t reflect.Type) {
	zero, err := encode(reflect.New(t))
	if err != nil {
		w.problems.addf("%s: %v", name, err)
		return
	}
	if opaque[m.Special] || m.Form == "list" {
		w.probeOpaque(name, m, t)
		return
	}
	for _, f := range m.Fields {
		if f.Num == 0 {
			continue
		}
		tag := wireTag{f.Num, f.Wire}
		f.Always = slices.Contains(zero, tag)
		if f.Always != f.writtenWhenZero(w) {
			w.problems.addf("%s.%s: written when zero: %t", name, f.Go, f.Always)
		}
		v := reflect.New(t)
		fill(v.Elem().FieldByName(f.Go), 1)
		got, err := encode(v)
		if err != nil || !slices.Contains(got, tag) {
			w.problems.addf("%s.%s: %v not among the written %v (%v)", name, f.Go, tag, got, err)
		}
		if !slices.IsSortedFunc(got, func(a, b wireTag) int { return a.num - b.num }) {
			w.problems.addf("%s: fields are not in number order: %v", name, got)
		}
		if f.Type == "bytes" {
			v.Elem().FieldByName(f.Go).Set(reflect.ValueOf([]byte{}))
			if got, _ := encode(v); !slices.Contains(got, tag) {
				w.problems.addf("%s.%s: empty but present bytes are not written", name, f.Go)
			}
		}
	}
}

// probeOpaque checks a filled special type or list against its fields.
func (w *walker) probeOpaque(name string, m *Message, t reflect.Type) {
	v := reflect.New(t)
	fill(v.Elem(), 1)
	got, err := encode(v)
	for _, f := range m.Fields {
		if err != nil || !slices.Contains(got, wireTag{f.Num, f.Wire}) {
			w.problems.addf("%s: %s = %d not among the written %v (%v)", name, f.Proto, f.Num, got, err)
		}
	}
}

// writtenWhenZero is the rule: scalars and structs held by value are written
// even when they are zero; pointers, lists, maps and bytes are not.
func (f *Field) writtenWhenZero(w *walker) bool {
	if strings.HasPrefix(f.Type, "*") || strings.HasPrefix(f.Type, "[]") ||
		strings.HasPrefix(f.Type, "map[") || f.Type == "bytes" {
		return false
	}
	m := w.messages[f.Type]
	return m == nil || m.Form != "list"
}

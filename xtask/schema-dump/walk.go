package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// walker visits the Go types that are reachable from the registered kinds.
type walker struct {
	mods     []module
	problems *problems
	sources  map[string]*source    // by Go package
	protos   map[string]*protoFile // by Go package; nil where there is none
	types    map[string]*NamedType
	messages map[string]*Message
	goTypes  map[string]reflect.Type // of the messages
}

// protoMarshaler is implemented by the generated protobuf code.
type protoMarshaler interface{ Marshal() ([]byte, error) }

// specials names the types whose JSON is not that of their Go fields.
var specials = map[string]string{
	"io.k8s.apimachinery.pkg.apis.meta.v1.Time":       "time",
	"io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime":  "microTime",
	"io.k8s.apimachinery.pkg.apis.meta.v1.Duration":   "duration",
	"io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1":   "fieldsV1",
	"io.k8s.apimachinery.pkg.api.resource.Quantity":   "quantity",
	"io.k8s.apimachinery.pkg.util.intstr.IntOrString": "intOrString",
	"io.k8s.apimachinery.pkg.runtime.RawExtension":    "rawExtension",
	"io.k8s.apimachinery.pkg.runtime.Unknown":         "unknown",
}

// crdSpecials are the special types of both versions of apiextensions.
var crdSpecials = map[string]string{
	"JSON":                         "json",
	"JSONSchemaPropsOrArray":       "jsonSchemaPropsOrArray",
	"JSONSchemaPropsOrBool":        "jsonSchemaPropsOrBool",
	"JSONSchemaPropsOrStringArray": "jsonSchemaPropsOrStringArray",
}

// opaque are the special types whose Go fields say nothing of the wire; their
// fields are taken from generated.proto.
var opaque = map[string]bool{
	"time": true, "microTime": true, "duration": true, "quantity": true, "fieldsV1": true,
}

// special is the special name of a type, or "".
func special(t reflect.Type) string {
	if strings.Contains(t.PkgPath(), "/pkg/apis/apiextensions/") {
		return crdSpecials[t.Name()]
	}
	return specials[fullName(t)]
}

// load reads the Go sources and generated.proto of a package once.
func (w *walker) load(pkg string) error {
	if w.sources[pkg] != nil {
		return nil
	}
	dir, err := packageDir(w.mods, pkg)
	if err != nil {
		return err
	}
	if w.sources[pkg], err = parseSource(dir); err != nil {
		return err
	}
	path := filepath.Join(dir, "generated.proto")
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	w.protos[pkg], err = parseProto(path)
	return err
}

// visit adds a message type and everything below it.
func (w *walker) visit(t reflect.Type) error {
	name := fullName(t)
	if w.messages[name] != nil {
		return nil
	}
	if err := w.load(t.PkgPath()); err != nil {
		return err
	}
	if other := modelNameMismatch(t); other != "" {
		w.problems.addf("%s calls itself %s", name, other)
	}
	m := &Message{Go: t.PkgPath() + "." + t.Name(), Form: "struct", Special: special(t)}
	w.messages[name], w.goTypes[name] = m, t
	if p := w.protos[t.PkgPath()]; p != nil && p.messages[t.Name()] != nil {
		m.Proto = p.pkg + "." + t.Name()
	}
	_, custom := reflect.New(t).Interface().(json.Marshaler)
	if custom != (m.Special != "") {
		w.problems.addf("%s: custom JSON %t, special %q", name, custom, m.Special)
	}
	marks := w.markersOf(t)
	m.Union = marks.has("union")
	if marks.last("structType") == "atomic" || marks.last("mapType") == "atomic" {
		m.MapType = "atomic"
	}
	switch {
	case opaque[m.Special]:
		m.Fields = protoOnlyFields(w.protos[t.PkgPath()].messages[t.Name()])
		return nil
	case t.Kind() == reflect.Slice:
		return w.visitList(t, m)
	case t.Kind() != reflect.Struct:
		return fmt.Errorf("%s is a %s", name, t.Kind())
	}
	for i := range t.NumField() {
		if err := w.visitField(t, t.Field(i), m); err != nil {
			return fmt.Errorf("%s.%s: %w", name, t.Field(i).Name, err)
		}
	}
	return nil
}

// visitList handles a named list that is a message of its own in protobuf.
func (w *walker) visitList(t reflect.Type, m *Message) error {
	m.Form = "list"
	f, err := w.fieldType(t.Elem())
	if err != nil {
		return err
	}
	m.Item = f.Type
	m.Fields = protoOnlyFields(w.protos[t.PkgPath()].messages[t.Name()])
	if len(m.Fields) != 1 || m.Fields[0].Type != "[]"+m.Item || m.Fields[0].Num != 1 {
		w.problems.addf("%s is not a list of %s in protobuf", m.Go, m.Item)
	}
	return nil
}

// protoOnlyFields turns the lines of generated.proto into fields.
func protoOnlyFields(lines []protoField) []*Field {
	var out []*Field
	for _, l := range lines {
		f := &Field{Type: protoTypes[l.typ], Num: l.num, Wire: l.wire(), Proto: l.name}
		if l.label == "repeated" {
			f.Type = "[]" + f.Type
		}
		out = append(out, f)
	}
	return out
}

// protoTypes maps protobuf scalars to the names used in the output.
var protoTypes = map[string]string{
	"string": "string", "bytes": "bytes", "bool": "bool", "int32": "int32", "int64": "int64",
	"uint32": "uint32", "uint64": "uint64", "double": "float64",
}

// visitField adds one struct field.
func (w *walker) visitField(owner reflect.Type, sf reflect.StructField, m *Message) error {
	if !sf.IsExported() {
		w.problems.addf("%s.%s is not exported", m.Go, sf.Name)
		return nil
	}
	if sf.Type.Kind() == reflect.Interface {
		if m.Special != "rawExtension" && m.Special != "unknown" {
			w.problems.addf("%s.%s is an interface", m.Go, sf.Name)
		}
		return nil
	}
	f, err := w.fieldType(sf.Type)
	if err != nil {
		return err
	}
	f.Go = sf.Name
	readJSONTag(f, sf)
	if err := readProtoTag(f, sf.Tag.Get("protobuf")); err != nil {
		return err
	}
	if sf.Anonymous && !f.Inline && f.JSON == "" {
		w.problems.addf("%s.%s is embedded without inline", m.Go, sf.Name)
	}
	if f.JSON == "" && f.Num == 0 && !f.Inline {
		return nil // not part of any encoding
	}
	w.readMarkers(f, sf, w.fieldMarkers(owner, sf.Name), owner.PkgPath())
	m.Fields = append(m.Fields, f)
	return nil
}

// readJSONTag fills the JSON name and what is left out.
func readJSONTag(f *Field, sf reflect.StructField) {
	name, opts, _ := strings.Cut(sf.Tag.Get("json"), ",")
	for _, o := range strings.Split(opts, ",") {
		switch o {
		case "omitempty":
			f.Omit = "empty"
		case "omitzero":
			f.Omit = strings.TrimPrefix(f.Omit+"+zero", "+")
		case "inline":
			f.Inline = true
		}
	}
	if name != "-" {
		f.JSON = name
	}
}

// readProtoTag fills number and protobuf name.
func readProtoTag(f *Field, tag string) error {
	if tag == "" || tag == "-" {
		return nil
	}
	parts := strings.Split(tag, ",")
	if len(parts) < 3 {
		return fmt.Errorf("protobuf tag %q", tag)
	}
	num, err := strconv.Atoi(parts[1])
	if err != nil {
		return fmt.Errorf("protobuf tag %q: %w", tag, err)
	}
	// The wire type in the tag is often wrong and nothing reads it; the true one
	// is filled in from generated.proto.
	f.Num = num
	for _, p := range parts[3:] {
		if n, ok := strings.CutPrefix(p, "name="); ok && n != f.JSON {
			f.Proto = n
		}
	}
	return nil
}

package main

import (
	"fmt"
	"reflect"
)

// fieldType describes a Go type as a string: `*` pointer, `[]` list,
// `map[string]` map, then a scalar or the full name of a message. Message types
// met on the way are visited.
func (w *walker) fieldType(t reflect.Type) (*Field, error) {
	f := &Field{}
	prefix := ""
	for {
		if isMessage(t) {
			f.Type = prefix + fullName(t)
			return f, w.visit(t)
		}
		switch t.Kind() {
		case reflect.Pointer:
			prefix += "*"
			t = t.Elem()
		case reflect.Slice:
			if t.Elem().Kind() == reflect.Uint8 {
				f.Type = prefix + "bytes"
				return f, nil
			}
			prefix += "[]"
			t = t.Elem()
		case reflect.Map:
			if t.Key().Kind() != reflect.String {
				return nil, fmt.Errorf("map key %s", t.Key())
			}
			key, err := w.namedScalar(t.Key(), "string")
			if err != nil {
				return nil, err
			}
			f.Key = key
			prefix += "map[string]"
			t = t.Elem()
		case reflect.Interface:
			f.Type = prefix + "any"
			return f, nil
		default:
			scalar := t.Kind().String()
			if !scalars[scalar] {
				return nil, fmt.Errorf("unknown type %s", t)
			}
			named, err := w.namedScalar(t, scalar)
			f.Type, f.Named = prefix+scalar, named
			return f, err
		}
	}
}

// scalars are the scalar type names of the output.
var scalars = map[string]bool{
	"string": true, "bool": true, "int": true, "int32": true, "int64": true,
	"uint32": true, "float64": true,
}

// isMessage reports whether a type is a message: every named struct, and a named
// list that has protobuf code of its own.
func isMessage(t reflect.Type) bool {
	if t.PkgPath() == "" {
		return false
	}
	if t.Kind() == reflect.Struct {
		return true
	}
	_, ok := reflect.New(t).Interface().(protoMarshaler)
	return t.Kind() == reflect.Slice && ok
}

// namedScalar records a scalar type that has a name of its own and returns its
// full name, or "" for the plain scalar.
func (w *walker) namedScalar(t reflect.Type, scalar string) (string, error) {
	if t.PkgPath() == "" {
		return "", nil
	}
	if err := w.load(t.PkgPath()); err != nil {
		return "", err
	}
	name := fullName(t)
	if w.types[name] == nil {
		marks := w.markersOf(t)
		if err := w.resolve(w.sources[t.PkgPath()], t.Name()); err != nil {
			return "", err
		}
		w.types[name] = &NamedType{
			Go:     t.PkgPath() + "." + t.Name(),
			Type:   scalar,
			Enum:   marks.has("enum") || marks.has("k8s:enum"),
			Values: w.sources[t.PkgPath()].values(t.Name()),
		}
	}
	return name, nil
}

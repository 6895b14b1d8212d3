package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestProtoFieldsKeepLabelTypeAndNumber(t *testing.T) {
	dir := write(t, "generated.proto", `syntax = "proto2";
package k8s.io.api.x.v1;
/* a
 block */
message A {
  // message B {
  map<string, .k8s.io.other.Q> limits = 3;
  repeated B items = 1;
  optional double ratio = 2;
}
`)
	f, err := parseProto(filepath.Join(dir, "generated.proto"))
	if err != nil {
		t.Fatal(err)
	}
	want := []protoField{
		{"map", "string", "k8s.io.other.Q", "limits", 3},
		{"repeated", "", "k8s.io.api.x.v1.B", "items", 1},
		{"optional", "", "double", "ratio", 2},
	}
	if got := f.messages["A"]; !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	if got := want[2].wire(); got != "fixed64" {
		t.Errorf("wire of a double is %s", got)
	}
}

func TestUnknownProtoLineIsRefused(t *testing.T) {
	dir := write(t, "generated.proto", "package p;\nmessage A {\n  oneof x {\n}\n")
	if _, err := parseProto(filepath.Join(dir, "generated.proto")); err == nil {
		t.Error("a oneof was read")
	}
}

func TestMarkersAboveAnEmptyLineBelongToTheType(t *testing.T) {
	dir := write(t, "types.go", `package v1

// +genclient:nonNamespaced

// A is documented.
// +union
type A struct {
	// +listType=map
	// +listMapKey=a
	// +listMapKey=b
	Items []string
}

type Phase string

const (
	On  Phase = "On"
	Off       = Phase("Of" + "f")
	Two       = "2"
)
`)
	s, err := parseSource(dir)
	if err != nil {
		t.Fatal(err)
	}
	a := s.types["A"]
	if !a.markers.has("union") || !a.markers.has("genclient:nonNamespaced") {
		t.Errorf("markers of the type: %v", a.markers)
	}
	if got := a.fields["Items"]["listMapKey"]; !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("map keys: %v", got)
	}
	if got := s.values("Phase"); !slices.Equal(got, []string{"On", "Off"}) {
		t.Errorf("values: %v", got)
	}
}

func TestConstantsOfOtherPackagesAreValuesToo(t *testing.T) {
	dir := write(t, "types.go", `package a

import v1 "k8s.io/api/core/v1"

type Sort string

const (
	IPv4 = Sort(v1.IPv4Protocol)
	FQDN = Sort("FQDN")
	None = Sort(v1.NoSuchThing)
)
`)
	s, err := parseSource(dir)
	if err != nil {
		t.Fatal(err)
	}
	core := &source{consts: map[string]constant{"IPv4Protocol": {typ: "IPFamily", value: "IPv4"}}}
	w := &walker{sources: map[string]*source{"k8s.io/api/core/v1": core}}
	if err := w.resolve(s, "Sort"); err != nil {
		t.Fatal(err)
	}
	if got := s.values("Sort"); !slices.Equal(got, []string{"IPv4", "FQDN"}) {
		t.Errorf("values: %v", got)
	}
}

func TestModelNameReversesTheHost(t *testing.T) {
	if got := modelName("k8s.io/api/core/v1", "Pod"); got != "io.k8s.api.core.v1.Pod" {
		t.Errorf("%s", got)
	}
}

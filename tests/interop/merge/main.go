// merge answers, for each line of JSON on standard input, what structured-merge-diff makes of two
// values of a schema and of a field set, or what its updater makes of a sequence of writes. The tests
// `upstream` of kubist-field-manager ask it.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

type question struct {
	Sequence *sequence
	Schema   json.RawMessage
	Type     string
	Old      json.RawMessage
	New      json.RawMessage
	Set      string
}

type answer struct {
	Panic    string            `json:"panic,omitempty"`
	OldError string            `json:"oldError,omitempty"`
	NewError string            `json:"newError,omitempty"`
	SetError bool              `json:"setError,omitempty"`
	Sets     map[string]string `json:"sets,omitempty"`
	Merged   any               `json:"merged,omitempty"`
	Removed  any               `json:"removed,omitempty"`
	Kept     any               `json:"kept,omitempty"`
	KeptKeys any               `json:"keptKeys,omitempty"`
	Errors   map[string]string `json:"errors,omitempty"`
}

func (a *answer) set(name string, set *fieldpath.Set, err error) {
	if err != nil {
		a.Errors[name] = err.Error()
		return
	}
	text, err := set.ToJSON()
	if err != nil {
		panic(err)
	}
	a.Sets[name] = string(text)
}

// answered answers one question. Upstream's code panics on some values that do not fit their types.
func answered(parser *typed.Parser, asked question) (out answer) {
	defer func() {
		if reason := recover(); reason != nil {
			out = answer{Panic: fmt.Sprint(reason)}
		}
	}()
	out = answer{Sets: map[string]string{}, Errors: map[string]string{}}
	set := fieldpath.NewSet()
	if err := set.FromJSON(bytes.NewReader([]byte(asked.Set))); err != nil {
		out.SetError = true
		set = fieldpath.NewSet()
	}
	out.set("set", set, nil)
	var oldValue, newValue any
	for _, it := range []struct {
		raw []byte
		to  *any
	}{{asked.Old, &oldValue}, {asked.New, &newValue}} {
		if err := kjson.UnmarshalCaseSensitivePreserveInts(it.raw, it.to); err != nil {
			log.Fatal(err)
		}
	}
	kind := parser.Type(asked.Type)
	live, err := kind.FromUnstructured(oldValue, typed.AllowDuplicates)
	if err != nil {
		out.OldError = err.Error()
	}
	config, err := kind.FromUnstructured(newValue)
	if err != nil {
		out.NewError = err.Error()
	}
	if out.OldError != "" || out.NewError != "" {
		return out
	}
	fields, err := live.ToFieldSet()
	out.set("fields", fields, err)
	if err == nil {
		out.set("union", fields.Union(set), nil)
		out.set("intersection", fields.Intersection(set), nil)
		out.set("difference", fields.Difference(set), nil)
		out.set("recursive", fields.RecursiveDifference(set), nil)
		out.set("named", fields.EnsureNamedFieldsAreMembers(live.Schema(), live.TypeRef()), nil)
	}
	comparison, err := live.Compare(config)
	if err != nil {
		out.Errors["compare"] = err.Error()
	} else {
		out.set("removed", comparison.Removed, nil)
		out.set("modified", comparison.Modified, nil)
		out.set("added", comparison.Added, nil)
	}
	merged, err := live.Merge(config)
	if err != nil {
		out.Errors["merge"] = err.Error()
	} else if merged.AsValue() != nil {
		out.Merged = merged.AsValue().Unstructured()
	}
	out.Removed = live.RemoveItems(set).AsValue().Unstructured()
	out.Kept = live.ExtractItems(set).AsValue().Unstructured()
	out.KeptKeys = live.ExtractItems(set.Leaves(), typed.WithAppendKeyFields()).AsValue().Unstructured()
	return out
}

func main() {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	answers := bufio.NewWriter(os.Stdout)
	defer answers.Flush()
	write := json.NewEncoder(answers)
	var parser *typed.Parser
	var schema []byte
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked question
		if err := json.Unmarshal(line, &asked); err != nil {
			log.Fatal(err)
		}
		if asked.Sequence != nil {
			if err := write.Encode(asked.Sequence.run()); err != nil {
				log.Fatal(err)
			}
			continue
		}
		if !bytes.Equal(schema, asked.Schema) {
			parser, err = typed.NewParser(typed.YAMLObject(asked.Schema))
			if err != nil {
				log.Fatal(err)
			}
			schema = bytes.Clone(asked.Schema)
		}
		if err := write.Encode(answered(parser, asked)); err != nil {
			log.Fatal(err)
		}
	}
}

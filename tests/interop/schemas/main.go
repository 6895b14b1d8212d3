// schemas answers, for each line of JSON on standard input, what apiextensions-apiserver makes of the
// schema of a definition, and of an old and a new object. The tests `upstream` of kubist-schema ask it.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"sort"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

type question struct {
	// The schema of a definition, and the one that it had before, if it had one.
	Schema    json.RawMessage
	OldSchema json.RawMessage
	// Whether status is a subresource.
	Status bool
	Old    json.RawMessage
	New    json.RawMessage
}

type answer struct {
	Panic      string   `json:"panic,omitempty"`
	Convert    string   `json:"convert,omitempty"`
	Structural []string `json:"structural,omitempty"`
	Definition []string `json:"definition,omitempty"`
	Update     []string `json:"update,omitempty"`

	// What each operation makes of the new object.
	Pruned    any      `json:"pruned,omitempty"`
	Unknown   []string `json:"unknown,omitempty"`
	Nulls     any      `json:"nulls,omitempty"`
	Defaulted any      `json:"defaulted,omitempty"`
	Coerced   *coerced `json:"coerced,omitempty"`
	Dropped   *coerced `json:"dropped,omitempty"`

	Errors   []string `json:"errors,omitempty"`
	Changed  []string `json:"changed,omitempty"`
	Embedded []string `json:"embedded,omitempty"`
	Lists    []string `json:"lists,omitempty"`
	// The errors of what all operations together make of the new object, and of its rules: alone, and
	// with the old object, and those that pass then.
	Final        []string `json:"final,omitempty"`
	Rules        []string `json:"rules,omitempty"`
	ChangedRules []string `json:"changedRules,omitempty"`
	Passed       []string `json:"passed,omitempty"`
}

type coerced struct {
	// One of these is the error: upstream returns the first one that it finds, in random order.
	Errors  []string `json:"errors,omitempty"`
	Object  any      `json:"object,omitempty"`
	Unknown []string `json:"unknown,omitempty"`
}

func sorted(errors field.ErrorList) []string {
	var out []string
	for _, err := range errors {
		out = append(out, err.Error())
	}
	sort.Strings(out)
	return out
}

func decoded(raw []byte) map[string]any {
	var value map[string]any
	if err := utiljson.Unmarshal(raw, &value); err != nil {
		log.Fatal(err)
	}
	return value
}

func internal(raw []byte) *apiextensions.JSONSchemaProps {
	var props apiextensionsv1.JSONSchemaProps
	if err := utiljson.Unmarshal(raw, &props); err != nil {
		log.Fatalf("%s: %v", raw, err)
	}
	out := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&props, out, nil); err != nil {
		log.Fatal(err)
	}
	return out
}

func coerce(object map[string]any, s *schema.Structural, drop bool) *coerced {
	errors := map[string]bool{}
	var out coerced
	for range 8 {
		value := runtime.DeepCopyJSON(object)
		err, unknown := objectmeta.CoerceWithOptions(nil, value, s, false, objectmeta.CoerceOptions{
			DropInvalidFields:       drop,
			ReturnUnknownFieldPaths: true,
		})
		if err != nil {
			errors[err.Error()] = true
			continue
		}
		out.Object, out.Unknown = value, unknown
	}
	for err := range errors {
		out.Errors = append(out.Errors, err)
	}
	sort.Strings(out.Errors)
	return &out
}

func answered(asked question) (out answer) {
	defer func() {
		if reason := recover(); reason != nil {
			out = answer{Panic: fmt.Sprint(reason)}
		}
	}()
	props := internal(asked.Schema)
	out.Definition = definition(props, nil, asked.Status)
	if len(asked.OldSchema) > 0 {
		out.Update = definition(internal(asked.Schema), internal(asked.OldSchema), asked.Status)
	}
	s, err := schema.NewStructural(internal(asked.Schema))
	if err != nil {
		out.Convert = err.Error()
		return out
	}
	out.Structural = sorted(schema.ValidateStructural(field.NewPath("s"), s))
	if len(out.Structural) > 0 {
		return out
	}
	s = s.DeepCopy()
	if err := defaulting.PruneDefaults(s); err != nil {
		return answer{Panic: err.Error()}
	}
	operations(asked, s, &out)
	validator, _, err := validation.NewSchemaValidator(internal(asked.Schema))
	if err != nil {
		return answer{Panic: err.Error()}
	}
	fresh := func() map[string]any { return decoded(asked.New) }
	out.Errors = sorted(validation.ValidateCustomResource(nil, fresh(), validator))
	old := decoded(asked.Old)
	out.Changed = sorted(validation.ValidateCustomResourceUpdate(nil, fresh(), old, validator, validation.WithRatcheting(nil)))
	out.Embedded = sorted(objectmeta.Validate(nil, fresh(), s, false))
	out.Lists = sorted(listtype.ValidateListSetsAndMaps(nil, s, fresh()))
	final := fresh()
	pruning.Prune(final, s, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(final, s)
	if err := objectmeta.Coerce(nil, final, s, false, true); err == nil {
		defaulting.Default(final, s)
		errors := validation.ValidateCustomResource(nil, final, validator)
		out.Final = sorted(errors)
		errors = append(errors, listtype.ValidateListSetsAndMaps(nil, s, final)...)
		out.Rules, out.ChangedRules, out.Passed = rules(s, final, old, errors)
		// Which of several wrong values is found first is random.
		if len(validation.ValidateCustomResource(nil, old, validator)) > 0 {
			out.ChangedRules, out.Passed = nil, nil
		}
	}
	return out
}

func operations(asked question, s *schema.Structural, out *answer) {
	pruned := decoded(asked.New)
	out.Unknown = pruning.PruneWithOptions(pruned, s, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	out.Pruned = pruned
	nulls := decoded(asked.New)
	defaulting.PruneNonNullableNullsWithoutDefaults(nulls, s)
	out.Nulls = nulls
	defaulted := decoded(asked.New)
	defaulting.Default(defaulted, s)
	out.Defaulted = defaulted
	out.Coerced = coerce(decoded(asked.New), s, false)
	out.Dropped = coerce(decoded(asked.New), s, true)
}

func main() {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	answers := bufio.NewWriter(os.Stdout)
	defer answers.Flush()
	decoder := json.NewDecoder(lines)
	encoder := json.NewEncoder(answers)
	for decoder.More() {
		var asked question
		if err := decoder.Decode(&asked); err != nil {
			log.Fatal(err)
		}
		if err := encoder.Encode(answered(asked)); err != nil {
			log.Fatal(err)
		}
		if lines.Buffered() == 0 {
			answers.Flush()
		}
	}
}

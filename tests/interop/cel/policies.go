package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	celgo "github.com/google/cel-go/cel"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// compiler is that of admission policies.
var compiler = plugincel.NewCompiler(environment.MustBaseEnvSet(version.MajorMinor(1, 36)))

// accessor is an expression that may have any type.
type accessor string

func (a accessor) GetExpression() string      { return string(a) }
func (a accessor) ReturnTypes() []*celgo.Type { return []*celgo.Type{celgo.AnyType} }

// ofPolicy answers a question about an expression of an admission policy with parameters.
func (q *question) ofPolicy() (out answer) {
	defer func() {
		if reason := recover(); reason != nil {
			out = answer{Panic: fmt.Sprint(reason)}
		}
	}()
	bindings := map[string]any{}
	for name, raw := range q.Policy {
		var value any
		if err := utiljson.Unmarshal(raw, &value); err != nil {
			return answer{Panic: err.Error()}
		}
		bindings[name] = value
	}
	options := plugincel.OptionalVariableDeclarations{HasParams: true}
	compiled := compiler.CompileCELExpression(accessor(q.Expression), options, environment.StoredExpressions)
	if compiled.Error != nil {
		out.CompileError = strings.TrimPrefix(compiled.Error.Detail, "compilation failed: ")
		return out
	}
	out.Type = celgo.FormatCELType(compiled.OutputType)
	// Maps are visited in random order, so an evaluation may have several outcomes.
	seen := map[string]bool{}
	for range 20 {
		var one outcome
		value, details, err := compiled.Program.ContextEval(context.Background(), bindings)
		if err != nil {
			one.Error = err.Error()
		} else {
			one.Value = encode(value)
		}
		if details != nil && details.ActualCost() != nil {
			one.Cost = details.ActualCost()
		}
		if key := text(one); !seen[key] {
			seen[key] = true
			out.Outcomes = append(out.Outcomes, one)
		}
	}
	return out
}

// policy has the variables of an expression of an admission policy.
type policy map[string]json.RawMessage

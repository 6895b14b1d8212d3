package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

// decode decodes a question; integers stay integers.
func decode(line []byte) (*question, error) {
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		return nil, err
	}
	var values struct{ Self, OldSelf json.RawMessage }
	if err := json.Unmarshal(line, &values); err != nil {
		return nil, err
	}
	for raw, to := range map[*json.RawMessage]*any{&values.Self: &asked.Self, &values.OldSelf: &asked.OldSelf} {
		if len(*raw) > 0 {
			if err := utiljson.Unmarshal(*raw, to); err != nil {
				return nil, err
			}
		}
	}
	return &asked, nil
}

// sizes estimates sizes from the type of `self`, as custom resources do: the first element of a path
// is skipped, whatever it is.
type sizes struct{ root *apiservercel.DeclType }

func (s sizes) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	if len(element.Path()) == 0 || s.root == nil {
		return nil
	}
	current := s.root
	for _, name := range element.Path()[1:] {
		switch name {
		case "@items", "@values":
			current = current.ElemType
		case "@keys":
			current = current.KeyType
		default:
			field, ok := current.Fields[name]
			if !ok {
				return nil
			}
			current = field.Type
		}
		if current == nil {
			return nil
		}
	}
	return &checker.SizeEstimate{Min: 0, Max: uint64(current.MaxElements)}
}

func (s sizes) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}

func schemaOf(raw json.RawMessage) (*structural.Structural, error) {
	var v1 apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal(raw, &v1); err != nil {
		return nil, err
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &internal, nil); err != nil {
		return nil, err
	}
	return structural.NewStructural(&internal)
}

// answered answers a question; the bindings replace its values.
func (q *question) answered(given map[string]any) (out answer) {
	defer func() {
		if reason := recover(); reason != nil {
			out = answer{Panic: fmt.Sprint(reason)}
		}
	}()
	minor := q.Minor
	if minor == 0 {
		minor = 36
	}
	set := environment.MustBaseEnvSet(version.MajorMinor(1, minor))
	options := environment.VersionedOptions{IntroducedVersion: version.MajorMinor(1, 0)}
	if q.Container != "" {
		options.EnvOptions = append(options.EnvOptions, cel.Container(q.Container))
	}
	bindings := map[string]any{}
	for name, text := range q.Types {
		kind, err := parseType(text)
		if err != nil {
			return answer{Panic: err.Error()}
		}
		options.EnvOptions = append(options.EnvOptions, cel.Variable(name, kind))
	}
	for name, it := range q.Values {
		value, err := decodeValue(it)
		if err != nil {
			return answer{Panic: err.Error()}
		}
		bindings[name] = value
	}
	for name, it := range given {
		bindings[name] = it
	}
	var root *apiservercel.DeclType
	if len(q.Schema) > 0 {
		schema, err := schemaOf(q.Schema)
		if err != nil {
			return answer{Panic: err.Error()}
		}
		root = model.SchemaDeclType(schema, q.Root)
		if root == nil {
			return answer{Panic: "the schema has no declared type"}
		}
		root = root.MaybeAssignTypeName("selfType")
		if q.Root {
			schema = model.WithTypeAndObjectMeta(schema)
		}
		options.DeclTypes = append(options.DeclTypes, root)
		options.EnvOptions = append(options.EnvOptions,
			cel.Variable("self", root.CelType()), cel.Variable("oldSelf", root.CelType()))
		bindings["self"] = schemacel.UnstructuredToVal(q.Self, schema)
		bindings["oldSelf"] = schemacel.UnstructuredToVal(q.OldSelf, schema)
	}
	set, err := set.Extend(options)
	if err != nil {
		return answer{Panic: err.Error()}
	}
	return q.run(set.NewExpressionsEnv(), root, bindings)
}

func (q *question) run(env *cel.Env, root *apiservercel.DeclType, bindings map[string]any) (out answer) {
	start := time.Now()
	ast, issues := env.Parse(q.Expression)
	if issues.Err() == nil && !q.Unchecked {
		ast, issues = env.Compile(q.Expression)
	}
	if issues.Err() != nil {
		out.CompileError = issues.String()
		return out
	}
	estimator := &library.CostEstimator{SizeEstimator: sizes{root}}
	if !q.Unchecked {
		out.Type = cel.FormatCELType(ast.OutputType())
		cost, err := env.EstimateCost(ast, estimator)
		if err != nil {
			out.ProgramError = err.Error()
			return out
		}
		out.Estimate = &[2]string{strconv.FormatUint(cost.Min, 10), strconv.FormatUint(cost.Max, 10)}
	}
	if q.CheckOnly {
		return out
	}
	limit := q.Limit
	if limit == 0 {
		limit = celconfig.PerCallLimit
	}
	program, err := env.Program(ast, cel.CostLimit(limit), cel.CostTracking(estimator),
		cel.InterruptCheckFrequency(celconfig.CheckFrequency))
	if err != nil {
		out.ProgramError = err.Error()
		return out
	}
	out.CompileNanoseconds = time.Since(start).Nanoseconds()
	// Maps are visited in random order, so an evaluation may have several outcomes.
	seen := map[string]bool{}
	count := 1
	if strings.Contains(q.Expression, "{") || len(q.Schema) > 0 {
		count = 100
	}
	for i := 0; i < count; i++ {
		var one outcome
		value, details, err := program.ContextEval(context.Background(), bindings)
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
	if q.Repeat > 0 {
		best := int64(math.MaxInt64)
		for batch := 0; batch < 5; batch++ {
			start := time.Now()
			for i := 0; i < q.Repeat; i++ {
				_, _, _ = program.ContextEval(context.Background(), bindings)
			}
			best = min(best, time.Since(start).Nanoseconds()/int64(q.Repeat))
		}
		out.Nanoseconds = best
	}
	return out
}

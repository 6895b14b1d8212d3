package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"cel.dev/expr"
	_ "cel.dev/expr/conformance/proto2" // its messages are in the cases
	_ "cel.dev/expr/conformance/proto3"
	"cel.dev/expr/conformance/test"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"google.golang.org/protobuf/encoding/prototext"
)

// conformanceCase is a case of the specification, as a question with Kubernetes' answer.
type conformanceCase struct {
	File     string   `json:"file"`
	Section  string   `json:"section"`
	Name     string   `json:"name"`
	Question question `json:"question"`
	// Expected is what the specification expects: a value, or "error", or "unknown".
	Expected any    `json:"expected"`
	Answer   answer `json:"answer"`
}

// excluded are the files about what Kubernetes' environment does not have: protobuf messages and
// their enums and wrappers, and extensions that it does not load.
var excluded = map[string]bool{
	"proto2": true, "proto2_ext": true, "proto3": true, "enums": true, "wrappers": true, "unknowns": true,
	"dynamic": true, "bindings_ext": true, "block_ext": true, "encoders_ext": true, "math_ext": true,
}

func conformance(folder string, to *json.Encoder) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.textproto"))
	if err != nil {
		return err
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".textproto")
		if excluded[name] {
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var file test.SimpleTestFile
		if err := prototext.Unmarshal(content, &file); err != nil {
			return err
		}
		for _, section := range file.Section {
			for _, it := range section.Test {
				if strings.Contains(prototext.Format(it), "TestAllTypes") || strings.Contains(it.Expr, "google.protobuf") ||
					strings.Contains(it.Container, "conformance") {
					continue
				}
				if err := to.Encode(converted(name, section.Name, it)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func converted(file, section string, it *test.SimpleTest) (out conformanceCase) {
	out = conformanceCase{File: file, Section: section, Name: it.Name}
	q := &out.Question
	*q = question{
		Expression: it.Expr, Container: it.Container, Unchecked: it.DisableCheck, CheckOnly: it.CheckOnly,
		Types: map[string]string{}, Values: map[string]any{},
	}
	for _, declaration := range it.TypeEnv {
		if ident := declaration.GetIdent(); ident != nil {
			kind, err := celType(ident.Type)
			if err != nil {
				out.Answer.Panic = err.Error()
				return out
			}
			q.Types[declaration.Name] = cel.FormatCELType(kind)
		} else {
			out.Answer.Panic = "declares a function"
			return out
		}
	}
	for name, bound := range it.Bindings {
		value, err := cel.ProtoAsValue(types.DefaultTypeAdapter, bound.GetValue())
		if err != nil {
			out.Answer.Panic = err.Error()
			return out
		}
		q.Values[name] = encode(value)
	}
	switch expected := it.ResultMatcher.(type) {
	case *test.SimpleTest_EvalError, *test.SimpleTest_AnyEvalErrors:
		out.Expected = "error"
	case *test.SimpleTest_Unknown, *test.SimpleTest_AnyUnknowns:
		out.Expected = "unknown"
	case *test.SimpleTest_Value:
		out.Expected = expectedValue(expected.Value)
	case *test.SimpleTest_TypedResult:
		out.Expected = expectedValue(expected.TypedResult.GetResult())
	default:
		out.Expected = map[string]any{"bool": true}
	}
	out.Answer = q.answered(nil)
	return out
}

func expectedValue(value *expr.Value) any {
	if value == nil {
		return nil
	}
	decoded, err := cel.ProtoAsValue(types.DefaultTypeAdapter, value)
	if err != nil {
		return "error: " + err.Error()
	}
	return encode(decoded)
}

func celType(it *expr.Type) (*cel.Type, error) {
	return types.ProtoAsType(it)
}

package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// encode encodes a value with its type: {"int": "5"}.
func encode(value ref.Val) any {
	switch it := value.(type) {
	case types.Null:
		return map[string]any{"null": true}
	case types.Bool:
		return map[string]any{"bool": bool(it)}
	case types.Int:
		return map[string]any{"int": strconv.FormatInt(int64(it), 10)}
	case types.Uint:
		return map[string]any{"uint": strconv.FormatUint(uint64(it), 10)}
	case types.Double:
		return map[string]any{"double": strconv.FormatFloat(float64(it), 'e', -1, 64)}
	case types.String:
		return map[string]any{"string": string(it)}
	case types.Bytes:
		return map[string]any{"bytes": base64.StdEncoding.EncodeToString(it)}
	case types.Timestamp:
		return map[string]any{"timestamp": it.Time.UTC().Format(time.RFC3339Nano)}
	case types.Duration:
		return map[string]any{"duration": strconv.FormatInt(int64(it.Duration), 10)}
	case *types.Type:
		return map[string]any{"type": it.TypeName()}
	case *types.Optional:
		if !it.HasValue() {
			return map[string]any{"optional": nil}
		}
		return map[string]any{"optional": encode(it.GetValue())}
	case traits.Mapper:
		entries := []any{}
		for keys := it.Iterator(); keys.HasNext() == types.True; {
			key := keys.Next()
			entries = append(entries, []any{encode(key), encode(it.Get(key))})
		}
		sort.Slice(entries, func(i, j int) bool { return text(entries[i].([]any)[0]) < text(entries[j].([]any)[0]) })
		return map[string]any{"map": entries}
	case traits.Lister:
		items := []any{}
		for values := it.Iterator(); values.HasNext() == types.True; {
			items = append(items, encode(values.Next()))
		}
		return map[string]any{"list": items}
	case *types.Err:
		return map[string]any{"error": it.String()}
	default:
		return map[string]any{"opaque": value.Type().TypeName()}
	}
}

func text(value any) string {
	out, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// decodeValue reverses encode.
func decodeValue(value any) (ref.Val, error) {
	tagged, ok := value.(map[string]any)
	if !ok || len(tagged) != 1 {
		return nil, fmt.Errorf("not a value: %v", value)
	}
	for tag, it := range tagged {
		switch tag {
		case "null":
			return types.NullValue, nil
		case "bool":
			return types.Bool(it.(bool)), nil
		case "int":
			n, err := strconv.ParseInt(it.(string), 10, 64)
			return types.Int(n), err
		case "uint":
			n, err := strconv.ParseUint(it.(string), 10, 64)
			return types.Uint(n), err
		case "double":
			n, err := strconv.ParseFloat(it.(string), 64)
			return types.Double(n), err
		case "string":
			return types.String(it.(string)), nil
		case "bytes":
			raw, err := base64.StdEncoding.DecodeString(it.(string))
			return types.Bytes(raw), err
		case "timestamp":
			at, err := time.Parse(time.RFC3339Nano, it.(string))
			return types.Timestamp{Time: at}, err
		case "duration":
			n, err := strconv.ParseInt(it.(string), 10, 64)
			return types.Duration{Duration: time.Duration(n)}, err
		case "type":
			return typeNamed(it.(string)), nil
		case "list":
			items := []ref.Val{}
			for _, item := range it.([]any) {
				decoded, err := decodeValue(item)
				if err != nil {
					return nil, err
				}
				items = append(items, decoded)
			}
			return types.DefaultTypeAdapter.NativeToValue(items), nil
		case "map":
			entries := map[ref.Val]ref.Val{}
			for _, entry := range it.([]any) {
				pair := entry.([]any)
				key, err := decodeValue(pair[0])
				if err != nil {
					return nil, err
				}
				if entries[key], err = decodeValue(pair[1]); err != nil {
					return nil, err
				}
			}
			return types.DefaultTypeAdapter.NativeToValue(entries), nil
		case "optional":
			if it == nil {
				return types.OptionalNone, nil
			}
			inner, err := decodeValue(it)
			if err != nil {
				return nil, err
			}
			return types.OptionalOf(inner), nil
		}
	}
	return nil, fmt.Errorf("not a value: %v", value)
}

func typeNamed(name string) ref.Val {
	if found, err := parseType(name); err == nil {
		return found
	}
	return types.NewObjectType(name)
}

// parseType parses a type as CEL formats it.
func parseType(text string) (*cel.Type, error) {
	switch text {
	case "bool":
		return cel.BoolType, nil
	case "int":
		return cel.IntType, nil
	case "uint":
		return cel.UintType, nil
	case "double":
		return cel.DoubleType, nil
	case "string":
		return cel.StringType, nil
	case "bytes":
		return cel.BytesType, nil
	case "null", "null_type":
		return cel.NullType, nil
	case "dyn":
		return cel.DynType, nil
	case "any", "google.protobuf.Any":
		return cel.AnyType, nil
	case "timestamp", "google.protobuf.Timestamp":
		return cel.TimestampType, nil
	case "duration", "google.protobuf.Duration":
		return cel.DurationType, nil
	case "type":
		return types.TypeType, nil
	}
	open := strings.IndexByte(text, '(')
	if open < 0 || !strings.HasSuffix(text, ")") {
		return nil, fmt.Errorf("unknown type %q", text)
	}
	parameters := []*cel.Type{}
	depth, from := 0, open+1
	for at := open; at < len(text); at++ {
		switch text[at] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if (depth == 1 && text[at] == ',') || (depth == 0 && at == len(text)-1) {
			parameter, err := parseType(strings.TrimSpace(text[from:at]))
			if err != nil {
				return nil, err
			}
			parameters = append(parameters, parameter)
			from = at + 1
		}
	}
	switch name := text[:open]; {
	case name == "list" && len(parameters) == 1:
		return cel.ListType(parameters[0]), nil
	case name == "map" && len(parameters) == 2:
		return cel.MapType(parameters[0], parameters[1]), nil
	case name == "optional_type" && len(parameters) == 1:
		return cel.OptionalType(parameters[0]), nil
	case name == "wrapper" && len(parameters) == 1:
		return cel.NullableType(parameters[0]), nil
	case name == "type" && len(parameters) == 1:
		return types.NewTypeTypeWithParam(parameters[0]), nil
	}
	return nil, fmt.Errorf("unknown type %q", text)
}

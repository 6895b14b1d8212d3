package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// ruleCases are the rules of one schema, with objects.
type ruleCases struct {
	Schema json.RawMessage `json:"schema"`
	Root   bool            `json:"root,omitempty"`
	Cases  []ruleCase      `json:"cases"`
}

type ruleCase struct {
	Question question `json:"question"`
	Answer   answer   `json:"answer"`
}

// objectsOfRule is the number of objects for each rule.
const objectsOfRule = 6

// rules prints the rules of the definitions in files, each with random objects and answers.
func rules(paths []string, repeat int, to *json.Encoder) error {
	random := rand.New(rand.NewSource(1))
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		decoder := yaml.NewYAMLOrJSONDecoder(file, 1<<20)
		for {
			var definition apiextensionsv1.CustomResourceDefinition
			if err := decoder.Decode(&definition); err != nil {
				break
			}
			for _, version := range definition.Spec.Versions {
				if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
					continue
				}
				if err := walk(version.Schema.OpenAPIV3Schema, true, random, repeat, to); err != nil {
					return err
				}
			}
		}
		file.Close()
	}
	return nil
}

func walk(schema *apiextensionsv1.JSONSchemaProps, root bool, random *rand.Rand, repeat int, to *json.Encoder) error {
	if len(schema.XValidations) > 0 {
		raw, err := json.Marshal(schema)
		if err != nil {
			return err
		}
		cases := ruleCases{Schema: raw, Root: root}
		for _, rule := range schema.XValidations {
			if rule.OptionalOldSelf != nil && *rule.OptionalOldSelf {
				continue
			}
			expressions := []string{rule.Rule}
			if rule.MessageExpression != "" {
				expressions = append(expressions, rule.MessageExpression)
			}
			for _, expression := range expressions {
				for i := 0; i < objectsOfRule; i++ {
					q := question{Expression: expression, Schema: raw, Root: root, Repeat: repeat}
					q.Self, q.OldSelf = generated(schema, random), generated(schema, random)
					it := ruleCase{Question: q, Answer: q.answered(nil)}
					it.Question.Schema = nil
					cases.Cases = append(cases.Cases, it)
				}
			}
		}
		if err := to.Encode(cases); err != nil {
			return err
		}
	}
	names := []string{}
	for name := range schema.Properties {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		property := schema.Properties[name]
		if err := walk(&property, property.XEmbeddedResource, random, repeat, to); err != nil {
			return err
		}
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		if err := walk(schema.Items.Schema, schema.Items.Schema.XEmbeddedResource, random, repeat, to); err != nil {
			return err
		}
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		return walk(schema.AdditionalProperties.Schema, false, random, repeat, to)
	}
	return nil
}

// generated generates a value that mostly fits a schema.
func generated(schema *apiextensionsv1.JSONSchemaProps, random *rand.Rand) any {
	if len(schema.Enum) > 0 {
		var value any
		if json.Unmarshal(schema.Enum[random.Intn(len(schema.Enum))].Raw, &value) == nil {
			return value
		}
	}
	if schema.XIntOrString {
		return []any{int64(random.Intn(100)), "50%", "http"}[random.Intn(3)]
	}
	switch schema.Type {
	case "object":
		value := map[string]any{}
		names := []string{}
		for name := range schema.Properties {
			names = append(names, name)
		}
		sort.Strings(names)
		required := strings.Join(schema.Required, " ") + " "
		for _, name := range names {
			if random.Intn(3) > 0 || strings.Contains(required, name+" ") {
				property := schema.Properties[name]
				if it := generated(&property, random); it != nil {
					value[name] = it
				}
			}
		}
		if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil && random.Intn(4) > 0 {
			value[fmt.Sprintf("key%d", random.Intn(3))] = generated(schema.AdditionalProperties.Schema, random)
		}
		return value
	case "array":
		items := []any{}
		for count := random.Intn(4); count > 0; count-- {
			if it := generated(schema.Items.Schema, random); it != nil {
				items = append(items, it)
			}
		}
		return items
	case "string":
		switch schema.Format {
		case "date-time":
			return "2024-05-06T07:08:09Z"
		case "duration":
			return "1h30m"
		case "byte":
			return "YWJj"
		case "date":
			return "2024-05-06"
		}
		return []string{"", "a", "example.com", "/path", "Exact", "HTTPRoute", "gateway.networking.k8s.io", "*.example.com", "10.0.0.1", "été"}[random.Intn(10)]
	case "integer":
		return int64(random.Intn(500) - 10)
	case "number":
		return float64(random.Intn(100)) / 4
	case "boolean":
		return random.Intn(2) == 0
	}
	return nil
}

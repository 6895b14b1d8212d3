package main

import (
	"context"
	"regexp"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// selfType is the name of the type of self, which upstream makes up.
var selfType = regexp.MustCompile(`selfType[0-9]+`)

// normal returns errors without what upstream makes up.
func normal(errors []string) []string {
	for i := range errors {
		errors[i] = selfType.ReplaceAllString(errors[i], "selfType")
	}
	return errors
}

// rules returns the errors of the rules of an object: as a new one, and as a change of an old one. It
// returns nothing if other errors block rules.
func rules(s *schema.Structural, object, old map[string]any, errors field.ErrorList) ([]string, []string) {
	validator := cel.NewValidator(s, true, celconfig.PerCallLimit)
	if validator == nil {
		return nil, nil
	}
	for _, err := range errors {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return []string{"blocked"}, nil
		}
	}
	ctx := context.Background()
	created, _ := validator.Validate(ctx, nil, s, object, nil, celconfig.RuntimeCELCostBudget)
	correlated := common.NewCorrelatedObject(object, old, &model.Structural{Structural: s})
	changed, _ := validator.Validate(ctx, nil, s, object, old, celconfig.RuntimeCELCostBudget, cel.WithRatcheting(correlated))
	return normal(sorted(created)), normal(sorted(changed))
}

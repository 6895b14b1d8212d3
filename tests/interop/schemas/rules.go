package main

import (
	"context"
	"regexp"
	"sort"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/warning"
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

// recorder collects warnings.
type recorder struct{ texts []string }

func (r *recorder) AddWarning(_, text string) {
	r.texts = append(r.texts, text)
}

// rules returns the errors of the rules of an object: as a new one, as a change of an old one, and
// the warnings of those that pass then. It returns nothing if other errors block rules.
func rules(s *schema.Structural, object, old map[string]any, errors field.ErrorList) (created, changed, passed []string) {
	validator := cel.NewValidator(s, true, celconfig.PerCallLimit)
	if validator == nil {
		return nil, nil, nil
	}
	for _, err := range errors {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return []string{"blocked"}, nil, nil
		}
	}
	ctx := context.Background()
	ofNew, _ := validator.Validate(ctx, nil, s, object, nil, celconfig.RuntimeCELCostBudget)
	correlated := common.NewCorrelatedObject(object, old, &model.Structural{Structural: s})
	warnings := &recorder{}
	ctx = warning.WithWarningRecorder(ctx, warnings)
	ofChange, _ := validator.Validate(ctx, nil, s, object, old, celconfig.RuntimeCELCostBudget, cel.WithRatcheting(correlated))
	sort.Strings(warnings.texts)
	return normal(sorted(ofNew)), normal(sorted(ofChange)), normal(warnings.texts)
}

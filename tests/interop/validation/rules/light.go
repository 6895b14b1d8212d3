package rules

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/core/validation"
)

// light is a strategy that replaces one of upstream's whose package needs controllers or clients
// for its warnings: hundreds of packages to build for results that are not compared.
type light[T any] struct {
	runtime.ObjectTyper
	names.NameGenerator
	prepare        func(new T)
	validate       func(new T) field.ErrorList
	validateUpdate func(new, old T) field.ErrorList
}

var endpointsStrategy = newLight(
	func(*core.Endpoints) {},
	validation.ValidateEndpointsCreate,
	validation.ValidateEndpointsUpdate,
)

var serviceAccountStrategy = newLight(
	func(account *core.ServiceAccount) {
		for i := range account.Secrets {
			account.Secrets[i] = core.ObjectReference{Name: account.Secrets[i].Name}
		}
	},
	validation.ValidateServiceAccount,
	validation.ValidateServiceAccountUpdate,
)

func newLight[T any](
	prepare func(T),
	validate func(T) field.ErrorList,
	validateUpdate func(T, T) field.ErrorList,
) rest.RESTCreateUpdateStrategy {
	return light[T]{
		legacyscheme.Scheme, names.SimpleNameGenerator, prepare, validate, validateUpdate,
	}
}

func (light[T]) NamespaceScoped() bool          { return true }
func (light[T]) AllowCreateOnUpdate() bool      { return false }
func (light[T]) AllowUnconditionalUpdate() bool { return true }
func (light[T]) Canonicalize(runtime.Object)    {}

func (it light[T]) PrepareForCreate(_ context.Context, object runtime.Object) {
	it.prepare(object.(T))
}

func (it light[T]) PrepareForUpdate(_ context.Context, object, _ runtime.Object) {
	it.prepare(object.(T))
}

func (it light[T]) Validate(_ context.Context, object runtime.Object) field.ErrorList {
	return it.validate(object.(T))
}

func (it light[T]) ValidateUpdate(_ context.Context, object, old runtime.Object) field.ErrorList {
	return it.validateUpdate(object.(T), old.(T))
}

func (light[T]) WarningsOnCreate(context.Context, runtime.Object) []string { return nil }
func (light[T]) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

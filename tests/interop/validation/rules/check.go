// Package rules runs objects through upstream's defaults, preparation and validation.
package rules

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// Request is an object to check.
type Request struct {
	// Resource is the plural, under which the strategy is found together with the group.
	Resource string `json:"resource"`
	// Object is the new object, with apiVersion and kind.
	Object json.RawMessage `json:"object"`
	// Old is the stored object, on update.
	Old json.RawMessage `json:"old,omitempty"`
	// Subresource is "status" for an update of that alone.
	Subresource string `json:"subresource,omitempty"`
}

// Answer is the result.
type Answer struct {
	// Defaulted is the object with its defaults, in the version that it came in.
	Defaulted json.RawMessage `json:"defaulted,omitempty"`
	// Prepared is the object as stored, if it is valid.
	Prepared json.RawMessage `json:"prepared,omitempty"`
	// Causes are the validation errors.
	Causes []Cause `json:"causes,omitempty"`
	// Fault is why it was not validated: the reason of a Status, or "Decode".
	Fault string `json:"fault,omitempty"`
	// Message explains the fault.
	Message string `json:"message,omitempty"`
}

// Cause is a validation error.
type Cause struct {
	Field   string `json:"field"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

var (
	errUnknown = errors.New("there is no strategy for it")
	errOld     = errors.New("the old object is not understood")
)

// Check answers a request. A panic in upstream's code is a fault.
func Check(it *Request) (answer Answer) {
	defer func() {
		if panicked := recover(); panicked != nil {
			answer.Fault, answer.Message = "Panic", fmt.Sprint(panicked)
		}
	}()
	object, kind, err := decode(it.Object)
	if err != nil {
		return Answer{Fault: "Decode", Message: err.Error()}
	}
	version := kind.GroupVersion()
	if answer.Defaulted, err = encode(object, version); err != nil {
		return Answer{Fault: "Encode", Message: err.Error()}
	}
	if err = apply(it, object, version); err != nil {
		return answer.refused(err)
	}
	if answer.Prepared, err = stored(object, version); err != nil {
		return Answer{Fault: "Encode", Message: err.Error()}
	}
	return answer
}

func apply(
	it *Request,
	object runtime.Object,
	version schema.GroupVersion,
) error {
	metadata, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	verb := "create"
	if it.Old != nil {
		verb = "update"
	}
	resource := schema.GroupResource{Group: version.Group, Resource: it.Resource}
	ctx := request.WithNamespace(context.Background(), metadata.GetNamespace())
	ctx = request.WithRequestInfo(ctx, &request.RequestInfo{
		IsResourceRequest: true,
		Verb:              verb,
		APIPrefix:         "api",
		APIGroup:          version.Group,
		APIVersion:        version.Version,
		Namespace:         metadata.GetNamespace(),
		Resource:          it.Resource,
		Subresource:       it.Subresource,
		Name:              metadata.GetName(),
	})
	strategy, ok := strategies[resource]
	if !ok {
		return errUnknown
	}
	if it.Old == nil {
		rest.FillObjectMetaSystemFields(metadata)
		return rest.BeforeCreate(strategy, ctx, object)
	}
	old, _, err := decode(it.Old)
	if err != nil {
		return fmt.Errorf("%w: %w", errOld, err)
	}
	if it.Subresource == "" {
		return rest.BeforeUpdate(strategy, ctx, object, old)
	}
	ofStatus, ok := statusStrategies[resource]
	if !ok {
		return errUnknown
	}
	return rest.BeforeUpdate(ofStatus, ctx, object, old)
}

// decode returns an object of the internal version, with defaults.
func decode(body []byte) (runtime.Object, *schema.GroupVersionKind, error) {
	return legacyscheme.Codecs.UniversalDecoder().Decode(body, nil, nil)
}

func encode(object runtime.Object, version schema.GroupVersion) (json.RawMessage, error) {
	return runtime.Encode(legacyscheme.Codecs.LegacyCodec(version), object)
}

// stored returns an object as it is read again, which adds defaults, too.
func stored(object runtime.Object, version schema.GroupVersion) (json.RawMessage, error) {
	body, err := encode(object, version)
	if err != nil {
		return nil, err
	}
	if object, _, err = decode(body); err != nil {
		return nil, err
	}
	return encode(object, version)
}

func (it Answer) refused(err error) Answer {
	if errors.Is(err, errUnknown) {
		it.Fault, it.Message = "Unknown", err.Error()
		return it
	}
	if errors.Is(err, errOld) {
		it.Fault, it.Message = "Decode", err.Error()
		return it
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		it.Fault, it.Message = "Error", err.Error()
		return it
	}
	refusal := status.Status()
	if !apierrors.IsInvalid(err) || refusal.Details == nil {
		it.Fault, it.Message = string(refusal.Reason), refusal.Message
		return it
	}
	for _, cause := range refusal.Details.Causes {
		it.Causes = append(it.Causes, Cause{
			Field:   cause.Field,
			Reason:  string(cause.Type),
			Message: cause.Message,
		})
	}
	return it
}

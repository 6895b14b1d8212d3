// Package suites imports the packages of KEDA whose tests `cargo xtask interop --long` builds and
// runs, so that go.mod has the dependencies of these tests:
//
//	go test -c -o PATH github.com/kedacore/keda/v2/apis/keda/v1alpha1
package suites

import (
	_ "github.com/kedacore/keda/v2/apis/eventing/v1alpha1"
	_ "github.com/kedacore/keda/v2/apis/keda/v1alpha1"
)

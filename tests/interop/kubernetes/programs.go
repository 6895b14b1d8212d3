// Package programs imports the package of Kubernetes' end-to-end tests, so that go.mod has their
// dependencies. `cargo xtask interop --long` builds:
//
//	go build -o PATH k8s.io/kubernetes/cmd/kube-controller-manager
//	go build -o PATH k8s.io/kubernetes/cmd/kube-scheduler
//	go test -c -o PATH k8s.io/kubernetes/test/e2e
//
// `go.mod` of k8s.io/kubernetes takes the staging modules from its own folders, which a dependency's
// go.mod cannot; each is named here.
package programs

import _ "k8s.io/kubernetes/test/e2e"

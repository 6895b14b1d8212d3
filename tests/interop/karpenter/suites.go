// Package suites imports the packages of Karpenter whose tests `cargo xtask interop --long` builds and
// runs, so that go.mod has the dependencies of these tests:
//
//	go test -c -o PATH sigs.k8s.io/karpenter/pkg/apis/v1
package suites

import (
	_ "sigs.k8s.io/karpenter/pkg/apis/v1"
	_ "sigs.k8s.io/karpenter/pkg/apis/v1alpha1"
	_ "sigs.k8s.io/karpenter/pkg/controllers/metrics/pod"
	_ "sigs.k8s.io/karpenter/pkg/controllers/node/health"
	_ "sigs.k8s.io/karpenter/pkg/controllers/node/termination/terminator"
	_ "sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/disruption"
	_ "sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/expiration"
	_ "sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/garbagecollection"
	_ "sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/podevents"
	_ "sigs.k8s.io/karpenter/pkg/controllers/nodepool/counter"
	_ "sigs.k8s.io/karpenter/pkg/controllers/nodepool/hash"
	_ "sigs.k8s.io/karpenter/pkg/controllers/nodepool/readiness"
	_ "sigs.k8s.io/karpenter/pkg/controllers/nodepool/registrationhealth"
	_ "sigs.k8s.io/karpenter/pkg/controllers/nodepool/validation"
	_ "sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	_ "sigs.k8s.io/karpenter/pkg/controllers/static/deprovisioning"
	_ "sigs.k8s.io/karpenter/pkg/controllers/static/provisioning"
	_ "sigs.k8s.io/karpenter/pkg/state/cost"
	_ "sigs.k8s.io/karpenter/pkg/utils/pdb"
)

package suites

import (
	_ "sigs.k8s.io/cluster-api/bootstrap/kubeadm/reconcilers/kubeadmconfig"
	_ "sigs.k8s.io/cluster-api/controllers/clustercache"
	_ "sigs.k8s.io/cluster-api/controllers/crdmigrator"
	_ "sigs.k8s.io/cluster-api/controlplane/kubeadm/pkg"
	_ "sigs.k8s.io/cluster-api/controlplane/kubeadm/reconcilers/kubeadmcontrolplane"
	_ "sigs.k8s.io/cluster-api/core/reconcilers/cluster"
	_ "sigs.k8s.io/cluster-api/core/reconcilers/clusterclass"
	_ "sigs.k8s.io/cluster-api/core/reconcilers/clusterresourceset"
	_ "sigs.k8s.io/cluster-api/core/reconcilers/extensionconfig"
	_ "sigs.k8s.io/cluster-api/core/reconcilers/machine"
	_ "sigs.k8s.io/cluster-api/core/reconcilers/machinedeployment"
	_ "sigs.k8s.io/cluster-api/core/reconcilers/machinehealthcheck"
	_ "sigs.k8s.io/cluster-api/core/reconcilers/machinepool"
	_ "sigs.k8s.io/cluster-api/core/reconcilers/machineset"
	_ "sigs.k8s.io/cluster-api/core/reconcilers/topology/cluster/structuredmerge"
	_ "sigs.k8s.io/cluster-api/core/reconcilers/topology/cluster"
	_ "sigs.k8s.io/cluster-api/core/webhooks/admission/test"
	_ "sigs.k8s.io/cluster-api/util/controller"
	_ "sigs.k8s.io/cluster-api/util/deprecated/v1beta1/patch"
	_ "sigs.k8s.io/cluster-api/util/patch/test"
)

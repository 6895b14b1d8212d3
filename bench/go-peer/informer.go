package main

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const nodeIndex = "spec.nodeName"

// lists counts lists, streaming or not, so that a missing relist is detected.
type lists struct {
	inner http.RoundTripper
	count *atomic.Int64
}

func (l lists) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	watch := query.Get("watch") == "true" || query.Get("watch") == "1"
	first := query.Get("sendInitialEvents") == "true"
	response, err := l.inner.RoundTrip(request)
	if err == nil && response.StatusCode == http.StatusOK && (!watch || first) {
		l.count.Add(1)
	}
	return response, err
}

// marks is a handler that waits for Pods of certain names.
type marks struct {
	names map[string]chan struct{}
	calls atomic.Int64
}

func (m *marks) OnAdd(added any, _ bool) {
	m.calls.Add(1)
	if found, ok := m.names[added.(*corev1.Pod).Name]; ok {
		close(found)
	}
}

func (m *marks) OnUpdate(_, _ any) { m.calls.Add(1) }

func (m *marks) OnDelete(any) { m.calls.Add(1) }

// informer follows all Pods with two indexes and one handler: until it is synced, until a marker
// appears, and until a relist finds another marker.
func informer(arguments []string) error {
	set := flags("informer")
	kubeconfig := set.String("kubeconfig", "", "file with the server's address and credentials")
	content := set.String("content", "protobuf", "protobuf or json")
	strip := set.Bool("strip", false, "drop managed fields as objects arrive")
	marker := set.String("marker", "", "name of the Pod that ends the updates")
	relist := set.String("relist-marker", "", "name of the Pod that only a new list shows")
	if err := set.Parse(arguments); err != nil {
		return err
	}
	count := &atomic.Int64{}
	config, err := configFor(*kubeconfig, *content, count)
	if err != nil {
		return err
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	var options []informers.SharedInformerOption
	if *strip {
		options = append(options, informers.WithTransform(stripManagedFields))
	}
	factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, options...)
	pods := factory.Core().V1().Pods().Informer()
	byNode := cache.Indexers{nodeIndex: nodeOf}
	if err := pods.AddIndexers(byNode); err != nil {
		return err
	}
	handler := &marks{names: map[string]chan struct{}{
		*marker: make(chan struct{}),
		*relist: make(chan struct{}),
	}}
	registration, err := pods.AddEventHandler(handler)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	heap, before := liveHeap(), now()
	go pods.Run(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), pods.HasSynced, registration.HasSynced) {
		return fmt.Errorf("the informer did not sync")
	}
	store := pods.GetStore()
	synced := phase("sync", len(store.ListKeys()), before, now())
	held := liveHeap()
	synced["heap_bytes"] = int64(held) - int64(heap)
	if err := emit(synced); err != nil {
		return err
	}
	return follow(handler, store, count, *marker, *relist)
}

func follow(handler *marks, store cache.Store, count *atomic.Int64, marker, relist string) error {
	listed, before := count.Load(), now()
	<-handler.names[marker]
	updates := phase("updates", len(store.ListKeys()), before, now())
	updates["lists"] = count.Load() - listed
	settle()
	if err := resetPeak(); err != nil {
		return err
	}
	listed, before = count.Load(), now()
	if err := emit(updates); err != nil {
		return err
	}
	<-handler.names[relist]
	settle()
	last := phase("relist", len(store.ListKeys()), before, now())
	last["lists"] = count.Load() - listed
	return emit(last)
}

func nodeOf(object any) ([]string, error) {
	return []string{object.(*corev1.Pod).Spec.NodeName}, nil
}

func stripManagedFields(object any) (any, error) {
	if pod, ok := object.(*corev1.Pod); ok {
		pod.ManagedFields = nil
	}
	return object, nil
}

func configFor(kubeconfig, content string, count *atomic.Int64) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	if err := setContent(config, content); err != nil {
		return nil, err
	}
	config.QPS = -1
	config.Wrap(func(inner http.RoundTripper) http.RoundTripper { return lists{inner, count} })
	return config, nil
}

func setContent(config *rest.Config, content string) error {
	switch content {
	case "protobuf":
		config.ContentType = "application/vnd.kubernetes.protobuf"
		config.AcceptContentTypes = config.ContentType
	case "json":
		config.ContentType = "application/json"
		config.AcceptContentTypes = config.ContentType
	default:
		return fmt.Errorf("content is protobuf or json, not %q", content)
	}
	return nil
}

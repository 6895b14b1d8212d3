package main

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// Objects in the events.
const followed = 1000

// plain is a client that cannot stream a list.
type plain struct{}

func (plain) IsWatchListSemanticsUnSupported() bool { return true }

// listener counts the calls of one handler, and ends with the last event.
type listener struct {
	calls atomic.Int64
	last  string
	done  chan struct{}
}

func (l *listener) OnAdd(any, bool) { l.calls.Add(1) }

func (l *listener) OnUpdate(_, updated any) {
	l.calls.Add(1)
	if updated.(*corev1.Pod).ResourceVersion == l.last {
		close(l.done)
	}
}

func (l *listener) OnDelete(any) { l.calls.Add(1) }

// fanout measures one informer with several handlers, on events from within the process.
func fanout(arguments []string) error {
	set := flags("fanout")
	handlers := set.Int("handlers", 1, "number of handlers")
	events := set.Int("events", 100_000, "number of events")
	if err := set.Parse(arguments); err != nil {
		return err
	}
	pods := make([]corev1.Pod, followed)
	for i := range pods {
		pods[i].Namespace = "default"
		pods[i].Name = fmt.Sprintf("pod-%04d", i)
		pods[i].ResourceVersion = strconv.Itoa(i + 1)
	}
	source := watch.NewFakeWithChanSize(128, false)
	list := &cache.ListWatch{
		ListFunc: func(metav1.ListOptions) (runtime.Object, error) {
			version := metav1.ListMeta{ResourceVersion: strconv.Itoa(followed)}
			return &corev1.PodList{ListMeta: version, Items: pods}, nil
		},
		WatchFunc: func(metav1.ListOptions) (watch.Interface, error) { return source, nil },
	}
	informer := cache.NewSharedIndexInformer(
		cache.ToListWatcherWithWatchListSemantics(list, plain{}), &corev1.Pod{}, 0,
		cache.Indexers{})
	last := strconv.Itoa(followed + *events)
	listeners := make([]*listener, *handlers)
	synced := []cache.InformerSynced{informer.HasSynced}
	for i := range listeners {
		listeners[i] = &listener{last: last, done: make(chan struct{})}
		registration, err := informer.AddEventHandler(listeners[i])
		if err != nil {
			return err
		}
		synced = append(synced, registration.HasSynced)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go informer.Run(ctx.Done())
	cache.WaitForCacheSync(ctx.Done(), synced...)
	updated := make([]*corev1.Pod, *events)
	for event := range updated {
		pod := pods[event%followed]
		pod.ResourceVersion = strconv.Itoa(followed + event + 1)
		updated[event] = &pod
	}
	before := now()
	for _, pod := range updated {
		source.Modify(pod)
	}
	calls := int64(0)
	for _, it := range listeners {
		<-it.done
		calls += it.calls.Load() - followed
	}
	after := now()
	return emit(map[string]any{
		"handlers":     *handlers,
		"events":       *events,
		"delivered":    calls,
		"wall_seconds": after.at.Sub(before.at).Seconds(),
		"cpu_seconds":  after.cpu - before.cpu,
	})
}

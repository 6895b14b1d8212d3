package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	extensions "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// applyMarker is the object that ends a recording.
const applyMarker = "marker"

// appLabel and appIndex are of the second index, where objects have no node.
const (
	appLabel = "app.kubernetes.io/name"
	appIndex = "app"
)

// notFound is the answer to anything but the first streaming watch list.
const notFound = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",` +
	`"message":"only a streaming watch list is here","reason":"NotFound","code":404}`

// replay is an in-process server: a recorded watch, with a gate before its updates.
type replay struct {
	chunks      [][]byte
	contentType string
	// first is the number of chunks of the initial state.
	first int
	// single holds each update back until the previous one was handled.
	single   bool
	requests atomic.Int64
	isOpen   atomic.Bool
	opened   chan struct{}
	handled  chan struct{}
}

// readReplay reads chunks, each preceded by its length as a big-endian uint32.
func readReplay(path string, updates int, single bool) (*replay, error) {
	data, err := readOffHeap(path)
	if err != nil {
		return nil, err
	}
	r := &replay{
		single:  single,
		opened:  make(chan struct{}),
		handled: make(chan struct{}, 1),
	}
	for len(data) > 4 {
		end := 4 + int(binary.BigEndian.Uint32(data))
		if end > len(data) {
			return nil, io.ErrUnexpectedEOF
		}
		r.chunks = append(r.chunks, data[4:end:end])
		data = data[end:]
	}
	r.first = len(r.chunks) - updates - 1
	if r.first < 1 {
		return nil, fmt.Errorf("there are fewer chunks than updates")
	}
	r.contentType = "application/vnd.kubernetes.protobuf;stream=watch"
	if r.chunks[0][0] == '{' {
		r.contentType = "application/json"
	}
	return r, nil
}

// readOffHeap reads a file into memory that the garbage collector does not count: a much larger
// live heap would let it run less often.
func readOffHeap(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	facts, err := file.Stat()
	if err != nil {
		return nil, err
	}
	memory, err := syscall.Mmap(-1, 0, int(facts.Size()),
		syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	_, err = io.ReadFull(file, memory)
	return memory, err
}

func (r *replay) RoundTrip(request *http.Request) (*http.Response, error) {
	earlier := r.requests.Add(1) - 1
	query := request.URL.Query()
	watch := query.Get("watch") == "true" || query.Get("watch") == "1"
	response := &http.Response{
		StatusCode: http.StatusNotFound,
		Proto:      "HTTP/2.0",
		ProtoMajor: 2,
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body:       io.NopCloser(strings.NewReader(notFound)),
		Request:    request,
	}
	if earlier == 0 && watch && query.Get("sendInitialEvents") == "true" {
		response.StatusCode = http.StatusOK
		response.Header.Set("Content-Type", r.contentType)
		response.Body = &replayBody{replay: r, closed: make(chan struct{})}
		response.ContentLength = -1
	}
	return response, nil
}

// open releases the updates.
func (r *replay) open() {
	r.isOpen.Store(true)
	close(r.opened)
}

func (r *replay) handle() {
	if r.single && r.isOpen.Load() {
		r.handled <- struct{}{}
	}
}

// replayBody returns one chunk after another, and never ends.
type replayBody struct {
	replay *replay
	next   int
	rest   []byte
	closed chan struct{}
	once   sync.Once
}

func (b *replayBody) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		if !b.wait() {
			return 0, io.EOF
		}
		b.rest = b.replay.chunks[b.next]
		b.next++
	}
	count := copy(p, b.rest)
	b.rest = b.rest[count:]
	return count, nil
}

// wait waits until the next chunk is available; it returns false once the body is closed.
func (b *replayBody) wait() bool {
	var gate chan struct{}
	switch {
	case b.next < b.replay.first:
		return true
	case b.next == len(b.replay.chunks):
		// Nothing opens it.
	case b.next == b.replay.first:
		gate = b.replay.opened
	case b.replay.single:
		gate = b.replay.handled
	default:
		return true
	}
	select {
	case <-gate:
		return true
	case <-b.closed:
		return false
	}
}

func (b *replayBody) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

// listening is the only handler.
type listening struct {
	replay *replay
	heard  atomic.Int64
	ended  chan struct{}
}

func (l *listening) OnAdd(added any, _ bool) {
	l.heard.Add(1)
	if object, err := meta.Accessor(added); err == nil && object.GetName() == applyMarker {
		close(l.ended)
	}
	l.replay.handle()
}

func (l *listening) OnUpdate(_, _ any) {
	l.heard.Add(1)
	l.replay.handle()
}

func (l *listening) OnDelete(any) { l.heard.Add(1) }

// informerOf returns an informer of the objects of a workload, with its second index.
func informerOf(workload string, config *rest.Config) (cache.SharedIndexInformer, error) {
	if workload == "definitions" {
		clients, err := clientset.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		factory := extensions.NewSharedInformerFactory(clients, 0)
		informer := factory.Apiextensions().V1().CustomResourceDefinitions().Informer()
		return informer, informer.AddIndexers(cache.Indexers{appIndex: appOf})
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	core := informers.NewSharedInformerFactory(clients, 0).Core().V1()
	switch workload {
	case "pods":
		informer := core.Pods().Informer()
		return informer, informer.AddIndexers(cache.Indexers{nodeIndex: nodeOf})
	case "config-maps":
		informer := core.ConfigMaps().Informer()
		return informer, informer.AddIndexers(cache.Indexers{appIndex: appOf})
	}
	return nil, fmt.Errorf("a workload is pods, config-maps or definitions, not %q", workload)
}

func appOf(object any) ([]string, error) {
	of, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	return []string{of.GetLabels()[appLabel]}, nil
}

// apply measures the client and informer, with two indexes and one handler, on a recorded watch:
// the cost of the initial state, and of an event from the bytes of the body to the handler.
func apply(arguments []string) error {
	set := flags("apply")
	path := set.String("body", "", "file with the chunks")
	updates := set.Int("updates", 0, "how many of the chunks are updates")
	way := set.String("way", "as-they-come", "as-they-come or one-at-a-time")
	content := set.String("content", "protobuf", "protobuf or json")
	workload := set.String("workload", "pods", "pods, config-maps or definitions")
	if err := set.Parse(arguments); err != nil {
		return err
	}
	server, err := readReplay(*path, *updates, *way == "one-at-a-time")
	if err != nil {
		return err
	}
	config := &rest.Config{Host: "http://in-process", Transport: server, QPS: -1}
	if err := setContent(config, *content); err != nil {
		return err
	}
	objects, err := informerOf(*workload, config)
	if err != nil {
		return err
	}
	handler := &listening{replay: server, ended: make(chan struct{})}
	registration, err := objects.AddEventHandler(handler)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	started := now()
	go objects.Run(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), objects.HasSynced, registration.HasSynced) {
		return fmt.Errorf("the informer did not sync")
	}
	store := objects.GetStore()
	if err := emit(phase("sync", len(store.ListKeys()), started, now())); err != nil {
		return err
	}
	return measureApply(server, handler, store)
}

func measureApply(server *replay, handler *listening, store cache.Store) error {
	// Every run begins at the same point of the collector's cycle.
	liveHeap()
	settle()
	told, cycles, before := handler.heard.Load(), collections(), now()
	server.open()
	<-handler.ended
	line := phase("updates", len(store.ListKeys()), before, now())
	line["heard"] = handler.heard.Load() - told - 1
	line["requests"] = server.requests.Load()
	line["collections"] = collections() - cycles
	return emit(line)
}

func collections() uint32 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.NumGC
}

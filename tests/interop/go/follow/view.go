package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// view has every observed event in its order, and the state at the end.
type view struct {
	state func(ctx context.Context) (map[string]held, error)
	ended chan struct{}

	mu       sync.Mutex
	history  [][3]string
	failed   error
	lists    int
	syncedAt string
	listed   int
}

// held is the compared form of an object.
type held struct {
	UID     string            `json:"uid"`
	Version string            `json:"version"`
	Labels  map[string]string `json:"labels"`
	Data    map[string]string `json:"data"`
}

func heldOf(object *corev1.ConfigMap) held {
	one := held{
		UID: string(object.UID), Version: object.ResourceVersion,
		Labels: object.Labels, Data: object.Data,
	}
	if one.Labels == nil {
		one.Labels = map[string]string{}
	}
	if one.Data == nil {
		one.Data = map[string]string{}
	}
	return one
}

func newView() *view { return &view{ended: make(chan struct{})} }

func (v *view) note(kind, name, version string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.history = append(v.history, [3]string{kind, name, version})
	if name == end && kind == "set" {
		select {
		case <-v.ended:
		default:
			close(v.ended)
		}
	}
}

func (v *view) set(object *corev1.ConfigMap) { v.note("set", object.Name, object.ResourceVersion) }

func (v *view) delete(object *corev1.ConfigMap) {
	v.note("delete", object.Name, object.ResourceVersion)
}

func (v *view) fail(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.failed = err
}

// OnAdd and the other methods implement an informer's handler.
func (v *view) OnAdd(added any, _ bool) { v.set(added.(*corev1.ConfigMap)) }

func (v *view) OnUpdate(_, updated any) { v.set(updated.(*corev1.ConfigMap)) }

func (v *view) OnDelete(deleted any) {
	if unknown, ok := deleted.(cache.DeletedFinalStateUnknown); ok {
		last := unknown.Obj.(*corev1.ConfigMap)
		v.note("gone", last.Name, last.ResourceVersion)
		return
	}
	v.delete(deleted.(*corev1.ConfigMap))
}

// sync records the version up to which events were delivered by a list; later events come one by
// one.
func (v *view) sync(version string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.syncedAt, v.listed = version, v.lists
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// countLists counts requests for the whole state, streaming ones too.
func (v *view) countLists(inner http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		query := request.URL.Query()
		isWatch := query.Get("watch") == "true" || query.Get("watch") == "1"
		isList := !isWatch || query.Get("sendInitialEvents") == "true"
		if isList && strings.HasSuffix(request.URL.Path, "/configmaps") {
			v.mu.Lock()
			v.lists++
			v.mu.Unlock()
		}
		return inner.RoundTrip(request)
	})
}

// writeTo waits for the end, and writes everything to a file.
func (v *view) writeTo(ctx context.Context, path string) error {
	select {
	case <-v.ended:
	case <-time.After(limit):
		v.mu.Lock()
		defer v.mu.Unlock()
		return fmt.Errorf("%s: the end was not seen in %s, only %d events: %v",
			path, limit, len(v.history), v.failed)
	}
	state, err := v.state(ctx)
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return encode(path, map[string]any{
		"synced_at": v.syncedAt, "relists": v.lists - v.listed, "history": v.history,
		"state": state,
	})
}

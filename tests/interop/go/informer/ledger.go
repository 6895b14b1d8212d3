package main

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// ledger is the informer's handler. It keeps the state that the events add up to, and records every
// event that does not follow from the previous ones.
type ledger struct {
	mu      sync.Mutex
	objects map[string]object
	events  map[string]int
	faults  []string
}

func newLedger() *ledger {
	return &ledger{objects: map[string]object{}, events: map[string]int{}}
}

func (l *ledger) OnAdd(added any, _ bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events["add"]++
	current := added.(object)
	if _, exists := l.objects[current.GetName()]; exists {
		l.fault("add of %s, which exists", current.GetName())
	}
	l.objects[current.GetName()] = current
}

func (l *ledger) OnUpdate(_, updated any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events["update"]++
	current := updated.(object)
	before, exists := l.objects[current.GetName()]
	if !exists {
		l.fault("update of %s, which does not exist", current.GetName())
	} else if before.GetResourceVersion() == current.GetResourceVersion() {
		l.fault("update of %s to the same version %s",
			current.GetName(), current.GetResourceVersion())
	}
	l.objects[current.GetName()] = current
}

func (l *ledger) OnDelete(deleted any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events["delete"]++
	if unknown, ok := deleted.(cache.DeletedFinalStateUnknown); ok {
		l.events["final state unknown"]++
		deleted = unknown.Obj
	}
	name := deleted.(object).GetName()
	if _, exists := l.objects[name]; !exists {
		l.fault("delete of %s, which does not exist", name)
	}
	delete(l.objects, name)
}

// fault is called with the lock held.
func (l *ledger) fault(format string, arguments ...any) {
	l.faults = append(l.faults, fmt.Sprintf(format, arguments...))
}

func (l *ledger) counts() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.events)
}

func (l *ledger) snapshot() (map[string]object, []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.objects), l.faults
}

// untilEqual waits until the informer's store and its handler agree with the live list.
func untilEqual(live []object, store cache.Store, ledger *ledger) error {
	deadline := time.Now().Add(syncLimit)
	for {
		cached := map[string]object{}
		for _, item := range store.List() {
			cached[item.(object).GetName()] = item.(object)
		}
		handled, faults := ledger.snapshot()
		if len(faults) > 0 {
			return fmt.Errorf("%d events out of order, first: %s", len(faults), faults[0])
		}
		err := difference("cache", live, cached)
		if err == nil {
			err = difference("handler", live, handled)
		}
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// difference returns the first object in which a view differs from the live list.
func difference(view string, live []object, seen map[string]object) error {
	for _, expected := range live {
		name := expected.GetName()
		got, exists := seen[name]
		switch {
		case !exists:
			return fmt.Errorf("the %s lacks %s", view, name)
		case got.GetResourceVersion() != expected.GetResourceVersion():
			return fmt.Errorf("the %s has %s at version %s, the server at %s",
				view, name, got.GetResourceVersion(), expected.GetResourceVersion())
		case !equality.Semantic.DeepEqual(untyped(expected), untyped(got)):
			return fmt.Errorf("the %s has other contents of %s: %+v, the server %+v",
				view, name, got, expected)
		}
	}
	if len(seen) != len(live) {
		return fmt.Errorf("the %s has %d objects, the server %d", view, len(seen), len(live))
	}
	return nil
}

// untyped returns a copy without kind and version, which lists omit and watches may contain.
func untyped(value object) runtime.Object {
	copied := value.(runtime.Object).DeepCopyObject()
	copied.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return copied
}

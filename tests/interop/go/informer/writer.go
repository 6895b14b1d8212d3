package main

import (
	"context"
	"fmt"
	"math/rand"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// The names are few, so that a deleted object often returns under its old name.
	names = 300
	// The number of retries after a conflict, each with a fresh read.
	attemptsMax = 5
)

// writer makes random writes and remembers the last response for each object.
type writer struct {
	target    target
	random    *rand.Rand
	last      map[string]object
	done      map[string]int
	conflicts int
	n         int
}

func newWriter(target target, seed int64) *writer {
	return &writer{
		target: target,
		random: rand.New(rand.NewSource(seed)),
		last:   map[string]object{},
		done:   map[string]int{},
	}
}

// write makes this many writes, one after another.
func (w *writer) write(ctx context.Context, count int) error {
	for range count {
		w.n++
		name := fmt.Sprintf("object-%03d", w.random.Intn(names))
		verb, err := w.one(ctx, name)
		if err != nil {
			return fmt.Errorf("write %d, %s %s: %w", w.n, verb, name, err)
		}
		w.done[verb]++
	}
	return nil
}

func (w *writer) one(ctx context.Context, name string) (string, error) {
	draw := w.random.Intn(100)
	last, exists := w.last[name]
	switch {
	case !exists:
		created, err := w.target.create(ctx, name, w.n)
		return "create", w.remember(name, created, err)
	case draw < 40:
		return "update", w.retry(ctx, name, last, w.target.update)
	case draw < 55:
		return "status", w.retry(ctx, name, last, w.target.status)
	case draw < 75:
		kind, body := w.patch()
		patched, err := w.target.patch(ctx, name, kind, body)
		return "patch", w.remember(name, patched, err)
	default:
		if err := w.target.remove(ctx, name); err != nil {
			return "delete", err
		}
		delete(w.last, name)
		return "delete", nil
	}
}

// patch uses the three patch types in turn.
func (w *writer) patch() (types.PatchType, []byte) {
	switch w.n % 3 {
	case 0:
		body := fmt.Sprintf(`[{"op":"add","path":"/metadata/labels/write","value":"%d"}]`, w.n)
		return types.JSONPatchType, []byte(body)
	case 1:
		body := fmt.Sprintf(`{"metadata":{"labels":{"write":null,"patched":"%d"}}}`, w.n)
		return types.MergePatchType, []byte(body)
	default:
		body := fmt.Sprintf(`{"metadata":{"annotations":{"example.com/write":"%d"}}}`, w.n)
		return types.StrategicMergePatchType, []byte(body)
	}
}

type change func(ctx context.Context, last object, n int) (object, error)

// retry repeats a change with a fresh read after a conflict: there may be other writers.
func (w *writer) retry(ctx context.Context, name string, last object, change change) error {
	for attempt := 1; ; attempt++ {
		changed, err := change(ctx, last, w.n)
		if !apierrors.IsConflict(err) || attempt == attemptsMax {
			return w.remember(name, changed, err)
		}
		w.conflicts++
		if last, err = w.target.get(ctx, name); err != nil {
			return err
		}
	}
}

func (w *writer) remember(name string, answer object, err error) error {
	if err != nil {
		return err
	}
	if before, exists := w.last[name]; exists && before.GetUID() != answer.GetUID() {
		return fmt.Errorf("uid changed from %s to %s", before.GetUID(), answer.GetUID())
	}
	w.last[name] = answer
	return nil
}

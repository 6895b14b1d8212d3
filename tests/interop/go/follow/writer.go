package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// names are few, so that a deleted object often returns under its old name.
const names = 60

// writer makes random writes. It is the only writer, so there are no conflicts.
type writer struct {
	objects corev1client.ConfigMapInterface
	random  *rand.Rand
	pause   time.Duration
	last    map[string]*corev1.ConfigMap
	n       int
}

func newWriter(clients kubernetes.Interface, o options) *writer {
	return &writer{
		objects: clients.CoreV1().ConfigMaps(o.namespace),
		random:  rand.New(rand.NewPCG(o.seed, 0)),
		pause:   o.pause,
		last:    map[string]*corev1.ConfigMap{},
	}
}

func (w *writer) write(ctx context.Context, count int) error {
	for range count {
		w.n++
		name := fmt.Sprintf("object-%02d", w.random.IntN(names))
		if err := w.one(ctx, name); err != nil {
			return fmt.Errorf("write %d, of %s: %w", w.n, name, err)
		}
		time.Sleep(w.pause)
	}
	return nil
}

func (w *writer) one(ctx context.Context, name string) error {
	last, exists := w.last[name]
	var err error
	switch {
	case !exists:
		last, err = w.objects.Create(ctx, w.object(name), metav1.CreateOptions{})
	case w.random.IntN(100) < 70:
		changed := w.object(name)
		changed.ResourceVersion = last.ResourceVersion
		last, err = w.objects.Update(ctx, changed, metav1.UpdateOptions{})
	default:
		delete(w.last, name)
		return w.objects.Delete(ctx, name, metav1.DeleteOptions{})
	}
	if err == nil {
		w.last[name] = last
	}
	return err
}

func (w *writer) object(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{"write": fmt.Sprint(w.n % 7)},
		},
		Data: map[string]string{"write": fmt.Sprint(w.n)},
	}
}

// end writes the object at which followers stop.
func (w *writer) end(ctx context.Context) error {
	_, err := w.objects.Create(ctx, w.object(end), metav1.CreateOptions{})
	return err
}

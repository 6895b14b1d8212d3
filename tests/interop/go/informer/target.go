package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// object is what both kinds have in common.
type object = metav1.Object

// target is one kind of object in one namespace.
type target interface {
	informer() cache.SharedIndexInformer
	list(ctx context.Context) ([]object, error)
	get(ctx context.Context, name string) (object, error)
	create(ctx context.Context, name string, n int) (object, error)
	update(ctx context.Context, last object, n int) (object, error)
	status(ctx context.Context, last object, n int) (object, error)
	patch(ctx context.Context, name string, kind types.PatchType, body []byte) (object, error)
	remove(ctx context.Context, name string) error
}

func targetFor(clients kubernetes.Interface, resource, namespace string) (target, error) {
	factory := informers.NewSharedInformerFactoryWithOptions(
		clients, 0, informers.WithNamespace(namespace))
	switch resource {
	case "pods":
		return &pods{clients, factory, namespace}, nil
	case "configmaps":
		return &configMaps{clients, factory, namespace}, nil
	default:
		return nil, fmt.Errorf("resource is pods or configmaps, not %q", resource)
	}
}

type pods struct {
	clients   kubernetes.Interface
	factory   informers.SharedInformerFactory
	namespace string
}

func (t *pods) informer() cache.SharedIndexInformer { return t.factory.Core().V1().Pods().Informer() }

func (t *pods) list(ctx context.Context) ([]object, error) {
	list, err := t.clients.CoreV1().Pods(t.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return pointers(list.Items), nil
}

func (t *pods) get(ctx context.Context, name string) (object, error) {
	return t.clients.CoreV1().Pods(t.namespace).Get(ctx, name, metav1.GetOptions{})
}

func (t *pods) create(ctx context.Context, name string, n int) (object, error) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels(n)},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name:  "main",
			Image: fmt.Sprintf("registry.example.com/app:v%d", n),
			Env:   []corev1.EnvVar{{Name: "WRITE", Value: fmt.Sprint(n)}},
			Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
		}}},
	}
	return t.clients.CoreV1().Pods(t.namespace).Create(ctx, pod, metav1.CreateOptions{})
}

func (t *pods) update(ctx context.Context, last object, n int) (object, error) {
	pod := last.(*corev1.Pod).DeepCopy()
	pod.Labels = labels(n)
	pod.Spec.Containers[0].Image = fmt.Sprintf("registry.example.com/app:v%d", n)
	return t.clients.CoreV1().Pods(t.namespace).Update(ctx, pod, metav1.UpdateOptions{})
}

func (t *pods) status(ctx context.Context, last object, n int) (object, error) {
	pod := last.(*corev1.Pod).DeepCopy()
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Message = fmt.Sprintf("write %d", n)
	pod.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()},
	}
	return t.clients.CoreV1().Pods(t.namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
}

func (t *pods) patch(
	ctx context.Context, name string, kind types.PatchType, body []byte,
) (object, error) {
	return t.clients.CoreV1().Pods(t.namespace).
		Patch(ctx, name, kind, body, metav1.PatchOptions{})
}

func (t *pods) remove(ctx context.Context, name string) error {
	atOnce := int64(0)
	return t.clients.CoreV1().Pods(t.namespace).
		Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &atOnce})
}

type configMaps struct {
	clients   kubernetes.Interface
	factory   informers.SharedInformerFactory
	namespace string
}

func (t *configMaps) informer() cache.SharedIndexInformer {
	return t.factory.Core().V1().ConfigMaps().Informer()
}

func (t *configMaps) list(ctx context.Context) ([]object, error) {
	list, err := t.clients.CoreV1().ConfigMaps(t.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return pointers(list.Items), nil
}

func (t *configMaps) get(ctx context.Context, name string) (object, error) {
	return t.clients.CoreV1().ConfigMaps(t.namespace).Get(ctx, name, metav1.GetOptions{})
}

func (t *configMaps) create(ctx context.Context, name string, n int) (object, error) {
	configMap := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels(n)},
		Data:       map[string]string{"write": fmt.Sprint(n)},
		BinaryData: map[string][]byte{"bytes": {0, 255, byte(n)}},
	}
	return t.clients.CoreV1().ConfigMaps(t.namespace).
		Create(ctx, configMap, metav1.CreateOptions{})
}

func (t *configMaps) update(ctx context.Context, last object, n int) (object, error) {
	configMap := last.(*corev1.ConfigMap).DeepCopy()
	configMap.Labels = labels(n)
	configMap.Data = map[string]string{"write": fmt.Sprint(n), "text": "line one\nline two\n"}
	return t.clients.CoreV1().ConfigMaps(t.namespace).
		Update(ctx, configMap, metav1.UpdateOptions{})
}

// status updates a ConfigMap, too, which has no status.
func (t *configMaps) status(ctx context.Context, last object, n int) (object, error) {
	return t.update(ctx, last, n)
}

func (t *configMaps) patch(
	ctx context.Context, name string, kind types.PatchType, body []byte,
) (object, error) {
	return t.clients.CoreV1().ConfigMaps(t.namespace).
		Patch(ctx, name, kind, body, metav1.PatchOptions{})
}

func (t *configMaps) remove(ctx context.Context, name string) error {
	return t.clients.CoreV1().ConfigMaps(t.namespace).Delete(ctx, name, metav1.DeleteOptions{})
}

func labels(n int) map[string]string {
	return map[string]string{"app": fmt.Sprintf("app-%d", n%7), "write": fmt.Sprint(n)}
}

// pointers turns the items of a list into objects.
func pointers[T any, P interface {
	*T
	object
}](items []T) []object {
	objects := make([]object, 0, len(items))
	for i := range items {
		objects = append(objects, P(&items[i]))
	}
	return objects
}
